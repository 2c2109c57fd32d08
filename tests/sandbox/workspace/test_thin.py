"""Old checkpoints go, those that are needed stay."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand

from daimon.abi.errors import BadInput, NotFound
from daimon.sandbox.workspace.store import Store
from daimon.sandbox.workspace.thin import KEPT, Mark, outgrown, thinned
from daimon.testing.clock import ManualClock

NOW = datetime(2026, 6, 1, 12, 30, tzinfo=UTC)


def marks(*ages: timedelta) -> list[Mark]:
    return [Mark(f"c{number}", NOW - age) for number, age in enumerate(ages)]


def test_all_of_the_last_day_stay() -> None:
    assert thinned(marks(*(timedelta(minutes=minute) for minute in range(0, 1440, 7))), NOW) == frozenset()


def test_of_each_hour_of_the_last_week_the_last_one_stays() -> None:
    found = thinned(marks(*(timedelta(days=2, minutes=minute) for minute in (0, 10, 25, 31, 45))), NOW)
    assert found == {"c1", "c2", "c4"}


def daily(days: int) -> list[Mark]:
    """Somebody works each day."""
    return [Mark(f"d{day}", NOW - timedelta(days=day, hours=12), is_needed=True) for day in range(days)]


def test_of_each_day_the_last_one_stays_and_after_ninety_none() -> None:
    ages = (timedelta(days=day, hours=hour) for day in (20, 21, 88, 92) for hour in (0, 1))
    found = thinned([mark for mark in daily(95) if mark.id not in ("d19", "d20", "d21", "d87", "d88")] + marks(*ages), NOW)
    assert found == {"c1", "c3", "c5", "c6", "c7"}


def test_what_is_needed_stays_and_fills_its_slot() -> None:
    needed = Mark("n", NOW - timedelta(days=200), is_needed=True)
    also = Mark("m", NOW - timedelta(days=20), is_needed=True)
    assert thinned([needed, also, *daily(18), *marks(timedelta(days=20, hours=1))], NOW) == {"c0"}


def test_a_clock_that_jumps_by_months_makes_nothing_old() -> None:
    days = marks(*(timedelta(days=day, hours=1) for day in range(60)))
    assert thinned(days, NOW) == frozenset()
    later = NOW + timedelta(days=3_000)
    assert thinned(days, later) == frozenset()
    assert thinned([*days, Mark("new", later)], later) == frozenset()


def test_a_clock_that_goes_back_makes_nothing_old() -> None:
    days = marks(*(timedelta(days=day, hours=1) for day in range(60)))
    assert thinned(days, NOW - timedelta(days=3_000)) == frozenset()


def sized(count: int, needed: tuple[int, ...] = ()) -> list[Mark]:
    """The oldest first, each of ten bytes."""
    return [Mark(f"c{number}", NOW + timedelta(minutes=number), number in needed, 10) for number in range(count)]


def test_for_want_of_room_the_oldest_go_until_it_fits() -> None:
    assert outgrown([sized(40)], 25) == {"c0", "c1", "c2"}
    assert outgrown([sized(40, needed=(0, 2))], 25) == {"c1", "c3", "c4"}
    assert outgrown([sized(40)], 0) == frozenset()


def test_for_want_of_room_the_newest_never_go() -> None:
    assert outgrown([sized(KEPT + 2)], 1_000) == {"c0", "c1"}
    assert outgrown([sized(KEPT)], 1_000) == frozenset()


async def test_thinning_removes_layers_and_leaves_the_rest_as_it_is(store: Store, hand: Hand, base: Path, clock: ManualClock) -> None:
    states = [hand.seen()]
    ids = [(await store.checkpoints(hand.workspace))[0].id]
    for number in range(6):
        hand.write(f"file{number}", str(number))
        if number == 2:
            hand.delete("src")
        ids.append((await store.checkpoint(hand.workspace, str(number))).id)
        states.append(hand.seen())
    fork = Hand(store, (await store.fork(hand.workspace, at=ids[2])).id, base)
    await store.settle()
    clock.jump(200 * 86_400)
    await store.thin()
    left = {each.id for each in await store.checkpoints(hand.workspace)}
    assert left == {ids[2], ids[5], ids[6]}
    assert hand.seen() == states[6]
    assert fork.seen() == states[2]
    with pytest.raises(NotFound):
        await store.restore(hand.workspace, ids[1])
    await store.undo(hand.workspace)
    assert hand.seen() == states[5]
    await store.undo(hand.workspace)
    assert hand.seen() == states[2]
    with pytest.raises(BadInput):
        await store.undo(hand.workspace)


async def test_layers_of_what_was_thinned_are_gone_from_the_disk(store: Store, hand: Hand, clock: ManualClock) -> None:
    start = (await store.checkpoints(hand.workspace))[0].id
    for number in range(4):
        hand.write("file", str(number))
        await store.checkpoint(hand.workspace, str(number))
        await store.restore(hand.workspace, start)
    await store.settle()
    assert len(hand.names()) == 5
    clock.jump(200 * 86_400)
    await store.thin()
    assert len(hand.names()) <= 3
    assert "file" not in hand.seen()
    assert (await store.checkpoints(hand.workspace))[-1].id == start
