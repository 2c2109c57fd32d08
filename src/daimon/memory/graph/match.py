"""Every way in which the patterns of a query fit the graph, one after the other.

Follows the steps of a plan, trying all that fits at each and going back when nothing does. No edge is used twice in one match, in whichever
pattern it stands; only shortest paths are found for themselves. A match is one dictionary, changed in place: whoever wants to keep
something of it takes it before asking for the next one.
"""

from collections.abc import Callable, Iterator

from daimon.memory.graph import values
from daimon.memory.graph.evaluate import Evaluator, Match, edge_property, node_property
from daimon.memory.graph.plan import Link, Place, Plan, Step
from daimon.memory.graph.reach import Trail, Walk, between, reached, shortest, trails
from daimon.memory.graph.view import Hop, View


class Matcher:
    def __init__(self, plan: Plan, evaluator: Evaluator) -> None:
        self._plan = plan
        self._view: View = evaluator.view
        self._conditions = [[evaluator.condition(each) for each in step.conditions] for step in plan.steps]
        self._match: Match = {}
        self._used: set[int] = set()

    def matches(self) -> Iterator[Match]:
        return self._from(0)

    def touch(self, match: Match, nodes: set[int], edges: set[int]) -> None:
        """Adds all nodes and edges that this match is made of."""
        for place in self._plan.places:
            nodes.add(match[place])
        for link in self._plan.links:
            nodes.update(match[link.key].nodes)
            edges.update(match[link.key].edges)

    def _from(self, i: int) -> Iterator[Match]:
        step, conditions, is_last = self._plan.steps[i], self._conditions[i], i == len(self._plan.steps) - 1
        for _ in self._choices(step):
            for way in step.ways:
                self._match[way.name] = self._whole(way.start, [self._match[key] for key in way.links])
            if conditions and not all(condition(self._match) for condition in conditions):
                continue
            if is_last:
                yield self._match
            else:
                yield from self._from(i + 1)

    def _choices(self, step: Step) -> Iterator[None]:
        if step.link is None:
            return self._found(self._plan.places[step.place])
        return self._linked(step.link, step.place)

    def _found(self, place: Place) -> Iterator[None]:
        for row in self._view.scan(place.names, place.kinds):
            self._view.tick()
            if _has(lambda key, n=row.n: node_property(self._view, n, key), place.properties):  # type: ignore[misc]
                self._match[place.key] = row.n
                yield

    def _linked(self, link: Link, far: str) -> Iterator[None]:
        is_turned = far != "" and far == link.left
        for trail in self._trails(link, self._plan.places.get(far), is_turned):
            self._match[link.key] = trail = trail.turned() if is_turned else trail
            if far:
                self._match[far] = trail.nodes[0] if is_turned else trail.nodes[-1]
            if link.edge.variable:
                self._match[link.edge.variable] = trail.edges if link.edge.is_many else trail.edges[0]
            mine = () if link.is_shortest else trail.edges
            self._used.update(mine)
            yield
            self._used.difference_update(mine)

    def _trails(self, link: Link, far: Place | None, is_turned: bool) -> Iterator[Trail]:
        hop = Hop(link.edge.direction, link.edge.types)
        used = set[int]() if link.is_shortest else self._used
        walk = Walk(hop.reversed() if is_turned else hop, link.edge.least, link.edge.most, used, self._may_take(link))
        if far is None:
            ends = self._match[link.left], self._match[link.right]
            is_one_enough = link.is_shortest or (link.is_only_reach and ends[0] != ends[1])
            yield from (shortest if is_one_enough else between)(self._view, *ends, walk)
            return
        start = self._match[link.right if is_turned else link.left]
        find = reached if link.is_only_reach else trails
        is_bare = far.is_bare
        for trail in find(self._view, start, walk, not is_bare):
            if is_bare or self._fits(far, trail.nodes[-1]):
                yield trail

    def _may_take(self, link: Link) -> Callable[[int], bool] | None:
        if not link.edge.properties:
            return None
        return lambda n: _has(lambda key: edge_property(self._view, n, key), link.edge.properties)

    def _fits(self, place: Place, n: int) -> bool:
        row = self._view.node(n)
        if place.kinds is not None and row.kind not in place.kinds:
            return False
        if place.names is not None and row.name not in place.names:
            return False
        return _has(lambda key: node_property(self._view, n, key), place.properties)

    def _whole(self, start: str, parts: list[Trail]) -> Trail:
        nodes, edges = [self._match[start]], list[int]()
        for part in parts:
            nodes += part.nodes[1:]
            edges += part.edges
        return Trail(tuple(nodes), tuple(edges))


def _has(said: Callable[[str], object], properties: tuple[tuple[str, object], ...]) -> bool:
    return all(values.same(said(key), value) for key, value in properties)  # type: ignore[arg-type]
