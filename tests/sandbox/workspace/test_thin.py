"""Old checkpoints go, those that are needed stay."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand

from daimon.abi.errors import BadInput, NotFound
from daimon.sandbox.workspace.store import Store
from daimon.sandbox.workspace.thin import Mark, thinned
from daimon.testing.clock import ManualClock

NOW = datetime(2026, 6, 1, 12, 30, tzinfo=UTC)


def marks(*ages: timedelta) -> list[Mark]:
    return [Mark(f"c{number}", NOW - age) for number, age in enumerate(ages)]


def test_all_of_the_last_day_stay() -> None:
    assert thinned(marks(*(timedelta(minutes=minute) for minute in range(0, 1440, 7))), NOW) == frozenset()


def test_of_each_hour_of_the_last_week_the_last_one_stays() -> None:
    found = thinned(marks(*(timedelta(days=2, minutes=minute) for minute in (0, 10, 25, 31, 45))), NOW)
    assert found == {"c1", "c2", "c4"}


def test_of_each_day_the_last_one_stays_and_after_ninety_none() -> None:
    found = thinned(marks(*(timedelta(days=day, hours=hour) for day in (20, 21, 89, 91) for hour in (0, 1))), NOW)
    assert found == {"c1", "c3", "c5", "c6", "c7"}


def test_what_is_needed_stays_and_fills_its_slot() -> None:
    needed = Mark("n", NOW - timedelta(days=200), is_needed=True)
    also = Mark("m", NOW - timedelta(days=20), is_needed=True)
    assert thinned([needed, also, *marks(timedelta(days=20, hours=1))], NOW) == {"c0"}


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
