"""What a mason's trees must be: a model of layers without any layers, which says of each wish what comes of it.

`State` is all that can be seen: the open tree, the owner's directory, the fork. A wish leads from one to another, and whoever is killed
between has left the one or the other, with one exception: files are written one after the other.
"""

import random
from dataclasses import dataclass, field, replace
from typing import Any

Tree = dict[str, str]
FILES = tuple(f"{folder}/f{n}.txt" for folder in ("a", "b") for n in range(8))
BASE: Tree = {path: f"{path} as the owner wrote it\n" for path in FILES}
SIZES = (20, 20, 20, 60_000)
CHOICES = {"write": 5, "checkpoint": 3, "restore": 4, "fork": 4, "write in fork": 3, "merge": 5, "discard": 1, "apply": 4, "undo": 6}


@dataclass(frozen=True, slots=True)
class State:
    own: Tree
    base: Tree
    fork: Tree | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    words: dict[str, Any]
    after: State
    is_piecewise: bool = False

    @property
    def name(self) -> str:
        return str(self.words["do"])


@dataclass(slots=True)
class Model:
    chance: random.Random
    state: State = field(default_factory=lambda: State(dict(BASE), dict(BASE)))
    points: dict[str, Tree] = field(default_factory=dict)
    """What checkpoints show, for ever."""
    bases: dict[int, Tree] = field(default_factory=lambda: {0: dict(BASE)})
    """The owner's directory in each of its generations."""
    back: State | None = None
    """Where an undo leads. None: that is not known."""
    frozen: Tree | None = None
    """The tree when there was nothing in the live layer. None: that is not known."""
    is_merged: bool = False
    writes: int = 0
    forks: int = 0

    @property
    def place(self) -> str:
        """Where a fork writes, and nobody else ever: so it can always be merged."""
        return f"of fork {self.forks}"

    def wish(self, generation: int) -> Wish:
        """`generation`: of the owner's directory, that the tree lies on."""
        may = {name: weight for name, weight in CHOICES.items() if self._may(name)}
        name = self.chance.choices([*may], [*may.values()])[0]
        state = self.state
        match name:
            case "write":
                return self._write(self._changes(FILES), in_fork=False)
            case "write in fork":
                return self._write(self._changes(tuple(f"{self.place}/g{n}.txt" for n in range(6))), in_fork=True)
            case "restore":
                to = self.chance.choice([*self.points])
                return Wish({"do": "restore", "to": to}, replace(state, own=self.points[to]))
            case "fork":
                self.forks += 1
                return Wish({"do": "fork"}, replace(state, fork=state.own))
            case "merge":
                assert state.fork is not None
                news = {path: text for path, text in state.fork.items() if path.startswith(f"{self.place}/")}
                return Wish({"do": "merge"}, replace(state, own=state.own | news))
            case "discard":
                return Wish({"do": "discard"}, replace(state, fork=None))
            case "apply":
                return Wish({"do": "apply"}, self._applied(self.bases[generation]))
            case "undo":
                assert self.back is not None
                return Wish({"do": "undo"}, replace(self.back, fork=state.fork))
            case _:
                return Wish({"do": "checkpoint"}, state)

    def _may(self, name: str) -> bool:
        has_fork = self.state.fork is not None
        return {
            "restore": bool(self.points), "fork": not has_fork, "write in fork": has_fork and not self.is_merged,
            "merge": has_fork and not self.is_merged, "discard": has_fork, "undo": self.back is not None,
        }.get(name, True)  # fmt: skip

    def _changes(self, paths: tuple[str, ...]) -> dict[str, str | None]:
        self.writes += 1
        chosen = self.chance.sample(paths, self.chance.randint(1, 5))
        return {path: f"{path} {self.writes} ".ljust(self.chance.choice(SIZES), "x") for path in chosen}

    def _write(self, files: dict[str, str | None], *, in_fork: bool) -> Wish:
        tree = self.state.fork if in_fork else self.state.own
        assert tree is not None
        if not in_fork and self.chance.random() < 0.4:
            there = [path for path in tree if path in FILES and path not in files]
            files |= dict.fromkeys(self.chance.sample(there, min(2, len(there))))
        made = {path: text for path, text in {**tree, **files}.items() if text is not None}
        after = replace(self.state, fork=made) if in_fork else replace(self.state, own=made)
        return Wish({"do": "write", "in_fork": in_fork, "files": files}, after, is_piecewise=True)

    def _applied(self, below: Tree) -> State:
        """What the tree changed over what it lies on is written over what is there now, and the tree goes on from that."""
        own = self.state.own
        changed = {path: own.get(path) for path in {*own, *below} if own.get(path) != below.get(path)}
        base = {path: text for path, text in {**self.state.base, **changed}.items() if text is not None}
        return replace(self.state, own=base, base=base) if changed else self.state

    # -- what has come of it

    def done(self, wish: Wish, said: Any) -> State:
        """It was said to be done; what must be seen now."""
        before, is_refused = self.state, isinstance(said, dict) and bool(said["conflicts"])
        if wish.name == "checkpoint":
            self.points[said] = before.own
        self.state = before if is_refused else wish.after
        self.back = self._way_back(wish, before, isinstance(said, dict) and said["moved"] and not is_refused)
        if wish.name not in ("write", "discard"):
            self.frozen = self.state.own
        self.is_merged = wish.name == "merge" or (self.is_merged and wish.name != "fork")
        return self.state

    def _way_back(self, wish: Wish, before: State, moved: bool) -> State | None:
        match wish.name:
            case "write" if not wish.words["in_fork"]:
                return replace(before, own=self.frozen) if self.frozen is not None else None
            case "restore" | "merge" | "apply":
                return before if moved else None
            case _:
                return None

    def killed(self, wish: Wish, seen: State) -> bool:
        """It was killed over it. Is this what it was before, or what it should be after? From here on that is what is."""
        before, self.state = self.state, seen
        self.back = self.frozen = None
        self.is_merged = self.is_merged or wish.name == "merge"
        if wish.name == "fork" and seen.fork is not None:
            self.is_merged = False
        if not wish.is_piecewise:
            return seen in (before, wish.after)
        return seen.base == before.base and _is_between(seen.own, before.own, wish.after.own) and _is_between(
            seen.fork or {}, before.fork or {}, wish.after.fork or {}
        )  # fmt: skip


def _is_between(seen: Tree, before: Tree, after: Tree) -> bool:
    return all(seen.get(path) in (before.get(path), after.get(path)) for path in {*seen, *before, *after})
