"""What is in focus when a window is cut: it stays with its call, and never costs more than there is room."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from daimon.abi.context import Entry
from daimon.abi.ids import TurnId
from daimon.abi.label import owned
from daimon.abi.message import Role, said
from daimon.context import policy
from daimon.context.policy import Cut, Line
from daimon.testing.clock import START


def made(n: int, sort: str, tokens: int, about: str = "") -> Entry:
    message = said(Role.USER, "x", owned("test"))
    sizes = (tokens, min(tokens, 60), min(tokens, 20))
    return Entry(f"t1:{n}", sort, TurnId("t1"), START, message, message, message, sizes, starts=sort != "result", subject=about)  # type: ignore[arg-type]


def line(rounds: list[tuple[int, bool]]) -> Line:
    """What was asked, then rounds of a reply and two results, of which the first may be about the engine."""
    entries = [made(0, "said", 10)]
    for n, (tokens, is_about) in enumerate(rounds):
        about = "read engine" if is_about else f"read thing {n}"
        entries += [made(3 * n + 1, "reply", 20), made(3 * n + 2, "result", tokens, about), made(3 * n + 3, "result", tokens, f"other {n}")]
    return Line(entries, 0, ("engine",))


SIZES = {"whole": 0, "brief": 1, "bare": 2, "clipped": 2}


def least(entry: Entry, most: int) -> int:
    return min(entry.tokens[0], most)


def forms(seen: Line, cut: Cut) -> list[policy.Form | None]:
    return policy.placed(seen, cut, policy.pinned(seen, cut.at, cut.room, cut.begin))


def test_a_result_in_focus_outlasts_its_round_with_the_call_and_all_its_results() -> None:
    seen = line([(300, True), *((300, False) for _ in range(60))])
    cut = policy.cut(seen, 4_000, Cut(), least)
    assert cut.begin > 4
    assert forms(seen, cut)[:5] == ["whole", "bare", "whole", "bare", None]


def test_without_a_focus_the_round_goes() -> None:
    seen = replace(line([(300, True), *((300, False) for _ in range(60))]), focus=())
    assert forms(seen, policy.cut(seen, 4_000, Cut(), least))[:5] == ["whole", None, None, None, None]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 2_000), st.booleans()), min_size=1, max_size=40), st.integers(1_000, 8_000))
def test_a_focus_never_costs_more_than_there_is_room_and_tears_no_call_from_its_results(rounds: list[tuple[int, bool]], room: int) -> None:
    seen = line(rounds)
    cut = policy.cut(seen, room, Cut(), least)
    placed = forms(seen, cut)
    sizes = [entry.tokens[SIZES[form]] for entry, form in zip(seen.entries, placed, strict=True) if form is not None]
    assert cut.clip or sum(sizes) <= room
    for first in range(1, len(placed), 3):
        assert len({form is None for form in placed[first : first + 3]}) == 1
