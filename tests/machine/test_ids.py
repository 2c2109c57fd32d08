"""Fresh names: they never repeat and sort by age."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.testing.clock import ManualClock
from daimon.testing.ids import SeededRandom


class Ones:
    """The worst that chance can do."""

    def bytes(self, n: int) -> bytes:
        return b"\xff" * n

    def uniform(self) -> float:
        return 1.0


def test_an_id_is_its_prefix_and_twenty_six_characters() -> None:
    made = SortableIds(ManualClock(), SeededRandom()).new("t")
    assert len(made) == 1 + 26
    assert made.startswith("t")
    assert made.isalnum()
    assert made == made.lower()


def test_ids_of_one_moment_sort_in_the_order_in_which_they_were_made() -> None:
    ids = SortableIds(ManualClock(), SeededRandom())
    made = [ids.new("e") for _ in range(1_000)]
    assert made == sorted(set(made))


def test_ids_sort_even_if_chance_is_exhausted() -> None:
    clock = ManualClock()
    ids = SortableIds(clock, Ones())
    made = [ids.new("e") for _ in range(10)]
    clock.jump(0.001)
    made += [ids.new("e") for _ in range(10)]
    assert made == sorted(set(made))


@given(st.lists(st.floats(min_value=-1e6, max_value=1e6), max_size=20))
def test_ids_sort_however_the_clock_jumps(jumps: list[float]) -> None:
    clock = ManualClock()
    ids = SortableIds(clock, SeededRandom())
    made = [ids.new("e")]
    for seconds in jumps:
        clock.jump(seconds)
        made.append(ids.new("e"))
    assert all(earlier < later for earlier, later in pairwise(made))


def test_a_clock_before_the_epoch_does_no_harm() -> None:
    ids = SortableIds(ManualClock(datetime(1960, 1, 1, tzinfo=UTC)), SeededRandom())
    made = [ids.new("e") for _ in range(3)]
    assert made == sorted(set(made))


def test_a_later_process_makes_ids_that_sort_after_those_of_an_earlier_one() -> None:
    clock = ManualClock()
    earlier = SortableIds(clock, Ones()).new("e")
    clock.jump(1)
    assert SortableIds(clock, SeededRandom()).new("e") > earlier


def test_threads_never_get_the_same_id() -> None:
    ids = SortableIds(SystemClock(), SystemRandom())
    with ThreadPoolExecutor(8) as threads:
        runs = list(threads.map(lambda _: [ids.new("e") for _ in range(500)], range(8)))
    assert len({id_ for run in runs for id_ in run}) == 8 * 500
    assert all(run == sorted(run) for run in runs)
