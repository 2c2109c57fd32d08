"""Random work in random workspaces, against a model that copies whole trees."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule
from tests.sandbox.workspace.hand import Hand, Tree, shown
from tests.sandbox.workspace.holders import Holder

from daimon.abi.errors import BadInput
from daimon.abi.workspace import CheckpointId
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock

NAMES = st.sampled_from(["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "x\ny"])
WORDS = st.sampled_from(["one\n", "two\n", "1\n2\n3\n4\n", "1\n2\n3\nfour\n", "one\n2\n3\n4\n", ""])


def without(tree: Tree, path: str) -> Tree:
    return {each: value for each, value in tree.items() if each != path and not each.startswith(f"{path}/")}


def with_way(tree: Tree, path: str) -> Tree:
    parts = path.split("/")
    for number in range(1, len(parts)):
        way = "/".join(parts[:number])
        if tree.get(way) != "/":
            tree = without(tree, way) | {way: "/"}
    return tree


class Workspaces(RuleBasedStateMachine):
    hands = Bundle("hands")
    points = Bundle("points")

    @initialize(target=hands)
    def begin(self) -> Hand:
        self.top = Path(tempfile.mkdtemp(prefix="model-"))
        self.base = self.top / "base"
        (self.base / "d/e").mkdir(parents=True)
        for name in ("a", "d/a", "d/e/a"):
            (self.base / name).write_text("1\n2\n3\n4\n")
        self.loop = asyncio.new_event_loop()
        self.store: Store = self.run(Store.open(self.top / "store", ManualClock()))
        self.states: dict[str, Tree] = {}
        self.all: list[Hand] = []
        self.kept: dict[CheckpointId, Tree] = {}
        self.base_tree = shown([self.base])
        return self._hand(self.run(self.store.new(str(self.base))).id, self.base_tree)

    def _hand(self, id: Any, tree: Tree) -> Hand:
        self.states[id] = dict(tree)
        self.all.append(made := Hand(self.store, id, self.base))
        return made

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 60))

    @rule(hand=hands, path=NAMES, word=WORDS)
    def write(self, hand: Hand, path: str, word: str) -> None:
        tree = self.states[hand.workspace]
        if tree.get(path) == "/" or any(tree.get(way, "/") != "/" for way in _ways(path)):
            return
        hand.write(path, word)
        self.states[hand.workspace] = with_way(tree, path) | {path: word}

    @rule(hand=hands, path=NAMES)
    def delete(self, hand: Hand, path: str) -> None:
        if path in self.states[hand.workspace]:
            hand.delete(path)
            self.states[hand.workspace] = without(self.states[hand.workspace], path)

    @rule(hand=hands, path=NAMES)
    def make_directory(self, hand: Hand, path: str) -> None:
        tree = self.states[hand.workspace]
        if path in tree or any(tree.get(way, "/") != "/" for way in _ways(path)):
            return
        hand.put_directory(path)
        self.states[hand.workspace] = with_way(tree, path) | {path: "/"}

    @rule(hand=hands, old=NAMES, new=NAMES)
    def rename(self, hand: Hand, old: str, new: str) -> None:
        content = self.states[hand.workspace].get(old, "/")
        if content != "/" and old != new and new not in self.states[hand.workspace]:
            self.delete(hand, old)
            self.write(hand, new, content)

    @rule(hand=hands)
    def hold(self, hand: Hand) -> None:
        """A program that works there, until the tree goes from under it."""
        self.store.attach(hand.workspace, Holder())

    @rule(hand=hands)
    def let_go(self, hand: Hand) -> None:
        self.run(self.store.detach(hand.workspace))

    @rule(target=points, hand=hands)
    def checkpoint(self, hand: Hand) -> CheckpointId:
        made = self.run(self.store.checkpoint(hand.workspace, "model"))
        self.kept[made.id] = self.states[hand.workspace]
        return made.id

    @rule(hand=hands, to=points)
    def restore(self, hand: Hand, to: CheckpointId) -> None:
        before = self.states[hand.workspace]
        done = self.run(self.store.restore(hand.workspace, to))
        self.kept[done.before] = before
        self.states[hand.workspace] = self.kept[to]
        assert {change.path for change in done.changes} == _different(before, self.kept[to])

    @rule(target=hands, hand=hands)
    def fork(self, hand: Hand) -> Any:
        if len(self.states) > 3:
            return multiple()
        made = self.run(self.store.fork(hand.workspace))
        return self._hand(made.id, self.states[hand.workspace])

    @rule(fork=hands, into=hands)
    def merge(self, fork: Hand, into: Hand) -> None:
        if fork.workspace == into.workspace:
            return
        before = self.states[into.workspace]
        done = self.run(self.store.merge(fork.workspace, into.workspace))
        self.kept[done.before] = before
        if done.conflicts:
            assert done.before == done.after
            return
        after = into.seen()
        theirs = self.states[fork.workspace]
        assert {change.path for change in done.changes} == _different(before, after)
        assert all(path in before or path in theirs for path in after)
        self.states[into.workspace] = after

    @rule(hand=hands)
    def undo(self, hand: Hand) -> None:
        before = self.states[hand.workspace]
        base = shown([self.base])
        try:
            done = self.run(self.store.undo(hand.workspace))
        except BadInput:
            return
        assert hand.seen() == self.states[hand.workspace] or not done.conflicts
        if shown([self.base]) != base:
            self.base_tree = shown([self.base])
        self.kept[done.before] = before
        if done.after in self.kept:
            assert hand.seen() == self.kept[done.after]
        self.states[hand.workspace] = hand.seen()

    @rule(hand=hands)
    def apply(self, hand: Hand) -> None:
        before = self.states[hand.workspace]
        done = self.run(self.store.apply(hand.workspace))
        if done.conflicts:
            assert shown([self.base]) == self.base_tree
        self.kept[done.before] = before
        old, self.base_tree = self.base_tree, shown([self.base])
        after = hand.seen()
        assert done.conflicts or done.before == done.after or after == self.base_tree
        assert _different(old, self.base_tree) <= {change.path for change in done.changes}
        self.states[hand.workspace] = after

    @rule(hand=hands, path=NAMES)
    def apply_some(self, hand: Hand, path: str) -> None:
        before, house = self.states[hand.workspace], self.store._house
        room = house.room(hand.workspace)
        is_newest = house.point(room.head).generation == house.index.family(room.family).generation
        try:
            done = self.run(self.store.apply(hand.workspace, (path,)))
        except BadInput:
            return
        self.kept[done.before] = before
        old, self.base_tree = self.base_tree, shown([self.base])
        after = hand.seen()
        assert after == before or not (is_newest or done.conflicts)
        assert old == self.base_tree or not done.conflicts
        assert all(each == path or each.startswith(f"{path}/") or path.startswith(f"{each}/") for each in _different(old, self.base_tree))
        self.states[hand.workspace] = after

    @rule()
    def squash(self) -> None:
        house = self.store._house
        for room in house.index.rooms():
            self.run(self.store.settle())
            house.squash(room.family, house.point(room.head).stack)

    @rule()
    def reopen(self) -> None:
        self.run(self.store.close())
        self.store = self.run(Store.open(self.top / "store", ManualClock()))
        for hand in self.all:
            hand.store = self.store

    @invariant()
    def every_workspace_shows_what_it_should(self) -> None:
        for id, tree in getattr(self, "states", {}).items():
            assert Hand(self.store, id, self.base).seen() == tree

    def teardown(self) -> None:
        if hasattr(self, "store"):
            for id, tree in self.kept.items():
                self._check(id, tree)
            self.run(self.store.close())
            self.loop.close()
            shutil.rmtree(self.top)

    def _check(self, id: CheckpointId, tree: Tree) -> None:
        """A checkpoint still shows what it showed when it was made."""
        room = next(iter(self.store._house.index.rooms()))
        with self.store._house.view(room.family, self.store._house.point(id)) as view:
            assert set(view.below("")) == tree.keys()
            for path in tree:
                if tree[path] != "/":
                    with view.file(path) as file:
                        assert file.read().decode() == tree[path]


def _ways(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:number]) for number in range(1, len(parts))]


def _different(one: Tree, other: Tree) -> set[str]:
    return {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}


TestWorkspaces = Workspaces.TestCase
TestWorkspaces.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
