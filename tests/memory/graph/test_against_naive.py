"""The engine plans, searches from both ends and prunes; a few lines of Python that try everything must find the same."""

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.graph.conftest import Graph

from daimon.abi.memory import Edge, Node, Relate

KINDS = ("Service", "Table", "Person")
TYPES = ("CALLS", "READS")
NAMES = tuple("abcde")


@dataclass(frozen=True)
class World:
    kinds: tuple[str, ...]
    """Of the nodes a, b, c …"""
    edges: tuple[tuple[int, str, int], ...]

    def told(self) -> Graph:
        graph = Graph()
        nodes = tuple(Node(kind, NAMES[i]) for i, kind in enumerate(self.kinds))
        edges = tuple(Edge((self.kinds[a], NAMES[a]), type_, (self.kinds[b], NAMES[b])) for a, type_, b in self.edges)
        graph.relate(Relate(nodes, edges))
        return graph


@dataclass(frozen=True)
class Place:
    name: str
    """In the query."""
    kind: str
    pinned: str
    """What it must be called."""

    def __str__(self) -> str:
        return f"({self.name}{':' + self.kind if self.kind else ''}{' {name: ' + repr(self.pinned) + '}' if self.pinned else ''})"

    def fits(self, world: World, n: int) -> bool:
        return self.kind in ("", world.kinds[n]) and self.pinned in ("", NAMES[n])


@dataclass(frozen=True)
class Link:
    direction: str
    types: tuple[str, ...]
    least: int
    most: int

    def __str__(self) -> str:
        inner = f"[{':' + '|'.join(self.types) if self.types else ''}*{self.least}..{self.most}]"
        return {"out": f"-{inner}->", "in": f"<-{inner}-", "both": f"-{inner}-"}[self.direction]

    def onward(self, world: World, n: int) -> Iterator[tuple[int, int]]:
        """Edges that may be taken from a node, each with where it leads."""
        for i, (a, type_, b) in enumerate(world.edges):
            if self.types and type_ not in self.types:
                continue
            if a == n and self.direction in ("out", "both"):
                yield i, b
            if b == n and self.direction in ("in", "both") and (a != b or self.direction == "in"):
                yield i, a


Chain = tuple[tuple[Place, ...], tuple[Link, ...]]
Way = tuple[tuple[int, ...], tuple[int, ...]]


def trails(world: World, link: Link, n: int, used: frozenset[int], length: int = 0) -> Iterator[Way]:
    if length >= link.least:
        yield (n,), ()
    if length < link.most:
        for edge, far in link.onward(world, n):
            if edge not in used:
                for nodes, edges in trails(world, link, far, used | {edge}, length + 1):
                    yield (n, *nodes), (edge, *edges)


def fits(
    world: World, chain: Chain, bound: dict[str, int], used: frozenset[int], i: int = 0
) -> Iterator[tuple[dict[str, int], frozenset[int], Way]]:
    """All ways in which a chain fits from its i-th place on."""
    places, links = chain
    place = places[i]
    for n in [bound[place.name]] if place.name in bound else range(len(world.kinds)):
        if not place.fits(world, n):
            continue
        here = bound | {place.name: n}
        if i == len(links):
            yield here, used, ((n,), ())
            continue
        for nodes, edges in trails(world, links[i], n, used):
            far = places[i + 1].name
            if here.get(far, nodes[-1]) != nodes[-1]:
                continue
            for rest, spent, (onward, taken) in fits(world, chain, here | {far: nodes[-1]}, used | set(edges), i + 1):
                yield rest, spent, ((*nodes, *onward[1:]), (*edges, *taken))


def matches(world: World, chains: list[Chain]) -> Iterator[tuple[dict[str, int], Way]]:
    for bound, used, way in fits(world, chains[0], {}, frozenset()):
        if len(chains) == 1:
            yield bound, way
        else:
            for more, *_ in fits(world, chains[1], bound, used):
                yield more, way


@st.composite
def worlds(draw: st.DrawFn) -> World:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    node = st.integers(0, len(kinds) - 1)
    edges = draw(st.lists(st.tuples(node, st.sampled_from(TYPES), node), min_size=len(kinds) - 1, max_size=8, unique=True))
    return World(tuple(kinds), tuple(edges))


def places(names: str) -> st.SearchStrategy[Place]:
    return st.builds(Place, st.sampled_from(names), st.sampled_from((*[""] * 9, *KINDS)), st.sampled_from((*[""] * 9, *NAMES[:3])))


@st.composite
def links(draw: st.DrawFn) -> Link:
    least = draw(st.integers(0, 2))
    most = draw(st.integers(max(least, 1), 4))
    return Link(draw(st.sampled_from(("out", "in", "both"))), draw(st.sampled_from(((), TYPES[:1], TYPES))), least, most)


@st.composite
def chains(draw: st.DrawFn, longest: int = 2) -> Chain:
    count = draw(st.integers(0, longest))
    return tuple(draw(places("xyz")) for _ in range(count + 1)), tuple(draw(links()) for _ in range(count))


def drawn(chain: Chain) -> str:
    nodes, edges = chain
    return str(nodes[0]) + "".join(f"{edge}{node}" for edge, node in zip(edges, nodes[1:], strict=True))


@settings(max_examples=300, deadline=None)
@given(worlds(), chains(), st.none() | chains(1), st.sampled_from((None, "a", "b")))
def test_patterns_match_what_trying_everything_matches(world: World, first: Chain, second: Chain | None, pinned: str | None) -> None:
    patterns = [first] if second is None else [first, second]
    name = first[0][0].name
    where = f" WHERE {name}.name = '{pinned}'" if pinned else ""
    query = f"MATCH path = {', '.join(map(drawn, patterns))}{where} RETURN path"
    expected = [way for bound, way in matches(world, patterns) if pinned in (None, NAMES[bound[name]])]
    answer = world.told().ask(query, most_rows=10**6, most_matches=10**6, timeout_s=60)
    assert sorted(shown(path) for (path,) in answer.rows) == sorted(written(world, way) for way in expected), query
    assert not answer.is_cut


@settings(max_examples=200, deadline=None)
@given(worlds(), places("x"), links(), places("y"))
def test_reach_and_shortest_paths_are_those_of_all_trails(world: World, start: Place, link: Link, end: Place) -> None:
    ways = [(bound, way) for bound, way in matches(world, [((start, end), (link,))])]
    graph = world.told()
    ends = sorted({(NAMES[bound["x"]], NAMES[bound["y"]]) for bound, _ in ways})
    pattern = drawn(((start, end), (link,)))
    assert sorted(graph.found(f"MATCH {pattern} RETURN DISTINCT x.name, y.name")) == ends
    assert graph.found(f"MATCH {pattern} RETURN count(DISTINCT y)") == [(len({b for _, b in ends}),)]
    if link.least == 1:
        lengths: dict[tuple[str, str], int] = {}
        for bound, (_, edges) in ways:
            pair = NAMES[bound["x"]], NAMES[bound["y"]]
            lengths[pair] = min(len(edges), lengths.get(pair, len(edges)))
        expected = sorted((*pair, length) for pair, length in lengths.items() if pair[0] != pair[1])
        assert sorted(graph.found(f"MATCH p = shortestPath({pattern}) RETURN x.name, y.name, length(p)")) == expected


def written(world: World, way: Way) -> tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]:
    nodes, edges = way
    taken = [world.edges[edge] for edge in edges]
    return tuple(NAMES[n] for n in nodes), tuple((NAMES[a], type_, NAMES[b]) for a, type_, b in taken)


def shown(path: object) -> tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]:
    assert isinstance(path, dict)
    return tuple(node["name"] for node in path["nodes"]), tuple((edge["src"][1], edge["type"], edge["dst"][1]) for edge in path["edges"])
