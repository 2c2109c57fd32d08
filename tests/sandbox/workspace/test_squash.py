"""Many layers become few, and nobody sees it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, Recorder

from daimon.sandbox.workspace import squash
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock


async def test_layers_are_squashed_in_the_background_and_old_checkpoints_keep_theirs(store: Store, hand: Hand) -> None:
    made = []
    for number in range(squash.AT + 1):
        hand.write(f"d{number % 5}/f{number % 7}", str(number))
        if number % 9 == 8:
            hand.delete(f"d{number % 5}")
        if number == 20:
            hand.delete("src")
        made.append(((await store.checkpoint(hand.workspace, str(number))).id, hand.seen()))
    await store.settle()
    hand.write("last", "x")
    tree = hand.seen()
    await store.checkpoint(hand.workspace, "last")
    assert len(store.stack_of(hand.workspace).frozen) <= 3
    assert hand.seen() == tree
    assert await store.diff(hand.workspace, made[-1][0]) != ()
    for id, old in made[:: len(made) // 8]:
        await store.restore(hand.workspace, id)
        assert hand.seen() == old


async def test_a_layer_that_somebody_may_still_write_into_is_not_squashed(store: Store, hand: Hand) -> None:
    rows = {}
    for name, is_sealed in (("l3", True), ("l2", False), ("l1", True), ("l0", True)):
        rows[name] = squash.Layer(name, "f1", is_sealed)
    assert squash.sealed_end(("l3", "l2", "l1", "l0"), rows) == ("l1", "l0")


async def test_the_owners_edit_underneath_is_noticed_through_a_squashed_layer(store: Store, hand: Hand, base: Path) -> None:
    for number in range(3):
        hand.write("readme", str(number))
        await store.checkpoint(hand.workspace, str(number))
    house = store._house
    house.squash(house.room(hand.workspace).family, store.stack_of(hand.workspace).frozen)
    hand.write("more", "x")
    await store.checkpoint(hand.workspace, "more")
    (base / "readme").write_text("yours")
    assert await store.underneath(hand.workspace) == ("readme",)
    assert [conflict.path for conflict in (await store.apply(hand.workspace)).conflicts] == ["readme"]


MOST = 8


@pytest.fixture
async def narrow(tmp_path: Path) -> AsyncIterator[Store]:
    """A store whose grounds take few layers."""
    made = await Store.open(tmp_path / "narrow", ManualClock(), most_layers=MOST)
    yield made
    await made.close()


async def test_a_ground_never_gets_more_layers_than_it_takes(narrow: Store, base: Path) -> None:
    hand = Hand(narrow, (await narrow.new(str(base))).id, base)
    fork = Hand(narrow, (await narrow.fork(hand.workspace)).id, base)
    fork.write("forked", "x")
    fork.delete("src/deep")
    tree = fork.seen()
    for number in range(MOST):
        hand.write(f"f{number % 3}", str(number))
        hand.write("src/deep/more", str(number))
        await narrow.apply(hand.workspace)
    assert len(narrow.stack_of(fork.workspace).frozen) >= MOST
    assert fork.seen() == tree
    await narrow.checkpoint(fork.workspace, "one")
    assert len(narrow.stack_of(fork.workspace).frozen) == 2
    assert fork.seen() == tree


async def test_layers_that_were_never_sealed_are_copied_when_there_are_too_many(narrow: Store, base: Path) -> None:
    hand = Hand(narrow, (await narrow.new(str(base))).id, base)
    ground = Recorder(is_sealed=False)
    assert await narrow.opened(hand.workspace, ground.put) is ground
    for number in range(3 * MOST):
        hand.write(f"f{number % 3}", str(number))
        await narrow.checkpoint(hand.workspace, str(number))
    assert max(len(stack.frozen) for stack in ground.stacks) < MOST
    assert {path: text for path, text in hand.seen().items() if path.startswith("f")} == {"f0": "21", "f1": "22", "f2": "23"}
    await narrow.detach(hand.workspace)
    assert all(layer.sealed for layer in narrow._house.index.layers("f1").values() if layer.name != narrow.stack_of(hand.workspace).live)
