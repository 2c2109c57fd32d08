"""Reserves: kept whatever the size of the window."""

from hypothesis import given
from hypothesis import strategies as st

from daimon.context.budget import LEAST_ROOM, TokenBudget

sizes = st.integers(0, 20_000)


@given(st.integers(LEAST_ROOM, 2_000_000), sizes, sizes)
def test_what_is_fixed_and_the_room_and_the_output_fit_into_the_window(window: int, system: int, tools: int) -> None:
    budget = TokenBudget(window)
    room = budget.room(system, tools)
    assert room >= LEAST_ROOM
    if room > LEAST_ROOM:
        assert room + system + tools + budget.kept_free <= window


def test_the_reserves_are_two_eight_and_four_thousand() -> None:
    budget = TokenBudget(128_000)
    assert budget.room(0, 0) == 128_000 - 2_000 - 8_000 - 4_000
    assert budget.room(1_500, 6_000) == budget.room(0, 0), "a longer page does not move the cut"
    assert budget.room(3_000, 9_000) == 128_000 - 3_000 - 9_000 - 4_000


def test_in_a_small_window_the_reserves_shrink_with_it() -> None:
    assert TokenBudget(4_000).room(0, 0) == 4_000 - 500 - 500 - 1_000


@given(st.integers(LEAST_ROOM, 2_000_000), st.integers(0, 60))
def test_every_refusal_makes_it_smaller_and_there_is_always_something_left(window: int, times: int) -> None:
    budget = TokenBudget(window, 10, 20, 30)
    shrunk = budget.shrunk(times)
    assert LEAST_ROOM <= shrunk.window <= window
    assert shrunk.shrunk(1).window <= shrunk.window
    assert (shrunk.system, shrunk.tools, shrunk.output) == (10, 20, 30)
