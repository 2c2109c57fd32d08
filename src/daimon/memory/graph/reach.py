"""Ways through the graph. A trail is a row of edges, each beginning where the last one ended, none of them twice: so cycles end.

- `trails` goes out from one node, level by level, short ones first.
- `between` has both ends. It looks from both sides in turns, always from the one where less is to be looked at, until together they have
  gone as far as a trail may be long. Every edge of every trail has then been met: one at place i is met from the left if i is nearer than
  the left side went, and from the right otherwise. Only those edges are walked, and only where the far end is still within reach.
- `shortest` stops looking as soon as the two sides meet.
- `reached` is for questions that only ask *which* nodes: it visits each once, with one shortest trail to it.

None of them knows patterns. `used` are edges that the rest of the match has; `may_take` refuses edges by what they say of themselves.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from daimon.memory.graph.view import Hop, View

_USUAL = 8
"""Edges at a node, for a guess. A single one is asked: it may be a hub."""


class Trail(NamedTuple):
    nodes: tuple[int, ...]
    edges: tuple[int, ...]

    def turned(self) -> "Trail":
        return Trail(self.nodes[::-1], self.edges[::-1])


@dataclass(frozen=True, slots=True)
class Walk:
    """Which way, how far, and past what."""

    hop: Hop
    least: int
    most: int
    used: set[int]
    may_take: Callable[[int], bool] | None = None


def trails(view: View, start: int, walk: Walk, has_rows: bool) -> Iterator[Trail]:
    """`has_rows`: load the nodes at the ends, since somebody will look at them."""
    level = [Trail((start,), ())]
    if walk.least == 0:
        yield level[0]
    for depth in range(1, walk.most + 1):
        around = view.around({trail.nodes[-1] for trail in level}, walk.hop)
        if has_rows and depth >= walk.least:
            view.load({far for trail in level for _, far in around[trail.nodes[-1]]})
        longer = []
        for trail in level:
            for edge, far in around[trail.nodes[-1]]:
                view.tick()
                if edge in trail.edges or edge in walk.used or (walk.may_take and not walk.may_take(edge)):
                    continue
                longer.append(Trail((*trail.nodes, far), (*trail.edges, edge)))
                if depth >= walk.least:
                    yield longer[-1]
        level = longer


def reached(view: View, start: int, walk: Walk, has_rows: bool) -> Iterator[Trail]:
    seen: set[int] = set()
    level = [Trail((start,), ())]
    if walk.least == 0:
        seen.add(start)
        yield level[0]
    for _ in range(walk.most):
        around = view.around([trail.nodes[-1] for trail in level], walk.hop)
        if has_rows:
            view.load({far for trail in level for _, far in around[trail.nodes[-1]]})
        longer = []
        for trail in level:
            for edge, far in around[trail.nodes[-1]]:
                view.tick()
                if far not in seen and (walk.may_take is None or walk.may_take(edge)):
                    seen.add(far)
                    longer.append(Trail((*trail.nodes, far), (*trail.edges, edge)))
                    yield longer[-1]
        level = longer


def between(view: View, start: int, end: int, walk: Walk) -> Iterator[Trail]:
    search = _Search(view, start, end, walk)
    while search.length < walk.most and search.grow():
        pass
    yield from search.trails(walk.least, walk.most)


def shortest(view: View, start: int, end: int, walk: Walk) -> Iterator[Trail]:
    """One of them, or none. From a node to itself there is none but the empty one, if that is allowed."""
    if start == end:
        yield from [Trail((start,), ())][: 1 - walk.least]
        return
    search = _Search(view, start, end, walk)
    while not search.has_met and search.length < walk.most and search.grow():
        pass
    if search.has_met:
        yield next(search.trails(search.length, search.length))


class _Search:
    """From both ends at once."""

    def __init__(self, view: View, start: int, end: int, walk: Walk) -> None:
        self._view, self._start, self._end, self._walk = view, start, end, walk
        self._seen = ({start}, {end})
        self._frontiers = ([start], [end])
        self._hops = (walk.hop, walk.hop.reversed())
        self._forth: dict[int, dict[int, int]] = {}
        """For each node the edges that were met and lead on from it, with where they lead."""
        self._costs = [view.crowd(n, hop) for n, hop in zip((start, end), self._hops, strict=True)]
        """About how many edges there are to look at next, on each side."""
        self.length = 0
        """How long a trail can be of which all edges have been met."""
        self.has_met = start == end

    def grow(self) -> bool:
        """One level more, on the cheaper side. False: on one side there is nothing left, so everything has been met."""
        left, right = self._frontiers
        if not left or not right:
            return False
        side = 0 if self._costs[0] <= self._costs[1] else 1
        found: list[int] = []
        around = self._view.around(self._frontiers[side], self._hops[side])
        for near in self._frontiers[side]:
            for edge, far in around[near]:
                self._view.tick()
                if edge in self._walk.used or (self._walk.may_take and not self._walk.may_take(edge)):
                    continue
                src, dst = (near, far) if side == 0 else (far, near)
                self._forth.setdefault(src, {})[edge] = dst
                if far not in self._seen[side]:
                    self._seen[side].add(far)
                    found.append(far)
        self._frontiers[side][:] = found
        self._costs[side] = len(found) * _USUAL
        self.length += 1
        self.has_met = self.has_met or any(n in self._seen[1 - side] for n in found)
        return True

    def trails(self, least: int, most: int) -> Iterator[Trail]:
        """Short ones first."""
        distance = self._distances(most)
        if self._start in distance:
            for length in range(least, most + 1):
                yield from self._onward(Trail((self._start,), ()), length, distance)

    def _distances(self, most: int) -> dict[int, int]:
        """Of each node from the end, along edges that were met."""
        back: dict[int, list[int]] = {}
        for src, edges in self._forth.items():
            for dst in edges.values():
                back.setdefault(dst, []).append(src)
        distance, level = {self._end: 0}, [self._end]
        for length in range(1, most + 1):
            level = [n for n in dict.fromkeys(src for dst in level for src in back.get(dst, ())) if n not in distance]
            distance.update(dict.fromkeys(level, length))
        return distance

    def _onward(self, trail: Trail, left: int, distance: dict[int, int]) -> Iterator[Trail]:
        self._view.tick()
        if left == 0:
            if trail.nodes[-1] == self._end:
                yield trail
            return
        for edge, far in self._forth.get(trail.nodes[-1], {}).items():
            if edge not in trail.edges and distance.get(far, left) < left:
                yield from self._onward(Trail((*trail.nodes, far), (*trail.edges, edge)), left - 1, distance)
