"""An edit of the owner's is not overwritten by an apply, whenever it was made; and what is no edit is no conflict."""

import os
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand

from daimon.sandbox.workspace.draft import YOURS
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock


@pytest.fixture
def base(tmp_path: Path) -> Path:
    place = tmp_path / "base"
    place.mkdir()
    (place / "a").write_text("one\n")
    (place / "b").write_text("one\n")
    return place


async def begun(tmp_path: Path, base: Path) -> tuple[Store, Hand]:
    """A call has written `a`, has ended, and no checkpoint came after it."""
    store = await Store.open(tmp_path / "store", ManualClock())
    hand = Hand(store, (await store.new(str(base))).id, base)
    hand.write("a", "agent\n")
    await store.live_changes(hand.workspace)
    return store, hand


async def test_an_edit_after_the_call_is_a_conflict_also_after_a_restart(tmp_path: Path, base: Path) -> None:
    store, hand = await begun(tmp_path, base)
    (base / "a").write_text("mine\n")
    await store.close()
    store = await Store.open(tmp_path / "store", ManualClock())
    done = await store.apply(hand.workspace)
    assert [(each.path, each.why) for each in done.conflicts] == [("a", YOURS)]
    assert (base / "a").read_text() == "mine\n"
    await store.close()


async def test_a_conflict_is_not_forgotten_when_another_path_is_applied(tmp_path: Path, base: Path) -> None:
    store, hand = await begun(tmp_path, base)
    hand.write("new", "new\n")
    (base / "a").write_text("mine\n")
    assert (await store.apply(hand.workspace)).conflicts
    assert not (await store.apply(hand.workspace, ("new",))).conflicts
    again = await store.apply(hand.workspace)
    assert [each.path for each in again.conflicts] == ["a"]
    assert (base / "a").read_text() == "mine\n"
    await store.close()


@pytest.mark.parametrize("with_checkpoint", [False, True])
async def test_what_was_only_touched_or_changed_back_is_no_conflict(tmp_path: Path, base: Path, with_checkpoint: bool) -> None:
    store, hand = await begun(tmp_path, base)
    if with_checkpoint:
        await store.checkpoint(hand.workspace, "work")
        await store.settle()
    os.utime(base / "a", ns=(1, 1))
    (base / "a").unlink()
    (base / "a").write_text("one\n")
    done = await store.apply(hand.workspace)
    assert (done.conflicts, (base / "a").read_text()) == ((), "agent\n")
    await store.close()


async def test_what_a_layer_found_is_known_of_a_large_tree_without_reading_it(tmp_path: Path, base: Path) -> None:
    with (base / "large").open("wb") as file:
        file.truncate(1 << 30)
    store, hand = await begun(tmp_path, base)
    hand.write("large", "small")
    await store.live_changes(hand.workspace)
    os.utime(base / "large", ns=(1, 1))
    assert [each.path for each in (await store.apply(hand.workspace)).conflicts] == ["large"]
    await store.close()
