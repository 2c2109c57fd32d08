"""In which order the parts of a query are looked up.

Nodes of the patterns become *places* (one for each name; several mentions of a name are one place), edges become *links* between two of
them. First come the places that a name in quotes pins down, then, in turn, a link whose ends are both known, a link with one known end, or
else another place, the one about which most is known. A condition of WHERE is looked at as soon as all names in it stand for something; one
that says what a place is called pins it down.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import JsonValue

from daimon.memory.graph import tree
from daimon.memory.graph.evaluate import Kind
from daimon.memory.graph.kinds import matched_by
from daimon.memory.graph.lexer import wrong


@dataclass(frozen=True, slots=True)
class Place:
    key: str
    kinds: frozenset[str] | None = None
    """None: any."""
    names: frozenset[str] | None = None
    properties: tuple[tuple[str, JsonValue], ...] = ()

    @property
    def is_bare(self) -> bool:
        """Nothing is asked of it."""
        return self.kinds is None and self.names is None and not self.properties


@dataclass(frozen=True, slots=True)
class Link:
    key: str
    left: str
    right: str
    edge: tree.EdgePattern
    is_shortest: bool = False
    is_only_reach: bool = False
    """The query asks which nodes are reached, not how or how often."""


@dataclass(frozen=True, slots=True)
class Way:
    """A named path: its links, from left to right, and where it begins."""

    name: str
    start: str
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    do: Literal["find", "follow", "connect"]
    """A place by itself; a link from a known end to the other; a link between two known ends."""
    place: str = ""
    """What becomes known."""
    link: Link | None = None
    ways: tuple[Way, ...] = ()
    """Paths that are whole with it."""
    conditions: tuple[tree.Expression, ...] = ()


@dataclass(slots=True)
class Plan:
    places: dict[str, Place] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    scope: dict[str, Kind] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


def planned(text: str, query: tree.Query) -> Plan:
    """Raises BadInput for a name that stands for two things."""
    plan = Plan()
    for pattern in query.patterns:
        _draw(text, plan, pattern)
    conditions = _conjuncts(query.where)
    for condition in conditions:
        _pin(plan, condition)
    if _asks_only_reach(query) and len(plan.links) == 1 and not plan.ways:
        plan.links = [replace(link, is_only_reach=_is_plain(link)) for link in plan.links]
    _order(plan, conditions)
    return plan


def names_in(expression: tree.Expression) -> frozenset[str]:
    """The names that must stand for something before it can be told."""
    match expression:
        case tree.Variable(name):
            return frozenset((name,))
        case tree.Literally():
            return frozenset()
        case tree.Property(of=of) | tree.HasLabel(of=of) | tree.Missing(of=of) | tree.Not(of=of):
            return names_in(of)
        case tree.Several(items=parts) | tree.Call(arguments=parts) | tree.Joined(parts=parts):
            return frozenset[str]().union(*map(names_in, parts))
        case tree.Compared(left=left, right=right):
            return names_in(left) | names_in(right)
        case tree.Quantified():
            return names_in(expression.among) | (names_in(expression.where) - {expression.name})


def _draw(text: str, plan: Plan, pattern: tree.Pattern) -> None:
    keys = [_put(text, plan, node) for node in pattern.nodes]
    links = []
    for i, edge in enumerate(pattern.edges):
        if edge.variable:
            _name(text, plan, edge.variable, "edges" if edge.is_many else "edge", edge.at)
        links.append(Link(f"-{len(plan.links) + i}", keys[i], keys[i + 1], edge, pattern.is_shortest))
    plan.links += links
    if pattern.path:
        _name(text, plan, pattern.path, "path", pattern.at)
        plan.ways.append(Way(pattern.path, keys[0], tuple(link.key for link in links)))


def _put(text: str, plan: Plan, node: tree.NodePattern) -> str:
    # No name that can be written begins with a bracket.
    key = node.variable or f"({len(plan.places)}"
    if node.variable and plan.scope.get(key) != "node":
        _name(text, plan, key, "node", node.at)
    place = plan.places.get(key, Place(key))
    for alternatives in node.labels:
        place = replace(place, kinds=_narrowed(place.kinds, alternatives))
    for name, value in node.properties:
        if name == "name" and isinstance(value, str):
            place = replace(place, names=frozenset((value,)) & (place.names or {value}))
        else:
            place = replace(place, properties=(*place.properties, (name, value)))
    plan.places[key] = place
    return key


def _narrowed(kinds: frozenset[str] | None, alternatives: tuple[str, ...]) -> frozenset[str] | None:
    matched = [matched_by(label) for label in alternatives]
    if None in matched:
        return kinds
    either = frozenset[str]().union(*(kind for kind in matched if kind is not None))
    return either if kinds is None else kinds & either


def _name(text: str, plan: Plan, name: str, kind: Kind, at: int) -> None:
    if name in plan.scope:
        raise wrong(text, at, f"`{name[:40]}` stands for two things", "give each edge and each path a name of its own")
    plan.scope[name] = kind


def _conjuncts(where: tree.Expression | None) -> list[tree.Expression]:
    match where:
        case None:
            return []
        case tree.Joined("AND", parts):
            return [inner for part in parts for inner in _conjuncts(part)]
        case _:
            return [where]


def _pin(plan: Plan, condition: tree.Expression) -> None:
    match condition:
        case tree.Compared("=", tree.Property(tree.Variable(key), "name"), tree.Literally(str() as name)):
            names = frozenset((name,))
        case tree.Compared("=", tree.Literally(str() as name), tree.Property(tree.Variable(key), "name")):
            names = frozenset((name,))
        case tree.Compared("IN", tree.Property(tree.Variable(key), "name"), tree.Several(items)):
            names = frozenset(item.value for item in items if isinstance(item, tree.Literally) and isinstance(item.value, str))
            if len(names) != len(items):
                return
        case _:
            return
    if (place := plan.places.get(key)) is not None:
        plan.places[key] = replace(place, names=names if place.names is None else place.names & names)


def _asks_only_reach(query: tree.Query) -> bool:
    counts = [column.expression for column in query.columns if is_count(column.expression)]
    if counts:
        return all(isinstance(count, tree.Call) and count.is_distinct for count in counts)
    return query.is_distinct


def is_count(expression: tree.Expression) -> bool:
    return isinstance(expression, tree.Call) and expression.function == "count"


def _is_plain(link: Link) -> bool:
    """Going each way once finds all nodes that some trail finds. Along both ways it does not: back over the same edge is no trail."""
    edge = link.edge
    return edge.direction != "both" and edge.least <= 1 and not edge.variable and not link.is_shortest and link.left != link.right


def _order(plan: Plan, conditions: list[tree.Expression]) -> None:
    known: set[str] = set()
    todo, ways, waiting = list(plan.links), list(plan.ways), list(conditions)
    for step in _steps(plan, todo):
        known.add(step.place) if step.place else None
        if step.link is not None:
            known |= {step.link.key, step.link.edge.variable}
        whole = [way for way in ways if known.issuperset((way.start, *way.links))]
        ways = [way for way in ways if way not in whole]
        known |= {way.name for way in whole}
        ready = [condition for condition in waiting if (names_in(condition) & plan.scope.keys()) <= known]
        waiting = [condition for condition in waiting if condition not in ready]
        plan.steps.append(replace(step, ways=tuple(whole), conditions=tuple(ready)))


def _steps(plan: Plan, links: list[Link]) -> Iterator[Step]:
    places = sorted(plan.places.values(), key=_cost)
    known: set[str] = set()
    while links or len(known) < len(places):
        link = _nearest(links, known)
        free = [place for place in places if place.key not in known]
        if free and (link is None or free[0].names is not None):
            known.add(free[0].key)
            yield Step("find", free[0].key)
        elif link is not None:
            links.remove(link)
            far = link.right if link.left in known else link.left
            yield Step("connect", link=link) if far in known else Step("follow", far, link)
            known.add(far)


def _nearest(links: list[Link], known: set[str]) -> Link | None:
    """The best link to go on with. A shortest path needs both its ends."""
    both = [link for link in links if link.left in known and link.right in known]
    one = [link for link in links if (link.left in known or link.right in known) and not link.is_shortest]
    return min(both or one, key=lambda link: link.edge.most, default=None)


def _cost(place: Place) -> tuple[int, int]:
    if place.names is not None:
        return 0, len(place.names)
    return (2, 0) if place.kinds is None else (1, len(place.kinds))
