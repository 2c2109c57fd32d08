"""Whatever was said and ended: a rewind gives what was seen then, and a deletion what would be there had it never been said."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.memory.graph.conftest import MINE, NOON, STRANGER, Graph

from daimon.abi.label import Label
from daimon.abi.memory import Edge, Node, Relate, Unrelate
from daimon.memory.graph import rows

name = st.sampled_from(("a", "b", "c"))
nodes = st.builds(lambda n, key, value: Node("Service", n, {key: value}), name, st.sampled_from("xy"), st.integers(0, 3))
edges = st.builds(
    lambda a, b, sure: Edge(("Service", a), "CALLS", ("Service", b), confidence=sure), name, name, st.sampled_from((0.5, 1.0))
)
relations = st.one_of(
    st.builds(lambda n: Relate(nodes=(n,)), nodes),
    st.builds(lambda e: Relate(edges=(e,)), edges),
)
operations = st.one_of(
    relations,
    st.builds(lambda n: Unrelate(nodes=(("Service", n),)), name),
    st.builds(lambda e: Unrelate(edges=(e,)), edges),
)
histories = st.lists(st.tuples(operations, st.sampled_from((MINE, STRANGER))), max_size=12)


def apply(graph: Graph, operation: Relate | Unrelate, label: Label) -> None:
    receipt = graph.receipt(label)
    with graph.connection:
        if isinstance(operation, Relate):
            rows.relate(graph.connection, receipt, operation)
        else:
            rows.unrelate(graph.connection, receipt, operation)


def seen(graph: Graph) -> list[tuple[JsonValue, ...]]:
    return [
        *graph.found("MATCH (n) RETURN n.kind, n.name, properties(n) ORDER BY n.name"),
        *graph.found("MATCH (a)-[r]->(b) RETURN a.name, b.name, r.confidence ORDER BY a.name, b.name"),
    ]


@settings(max_examples=150, deadline=None)
@given(histories, st.data())
def test_a_rewind_gives_what_was_seen_then(history: list[tuple[Relate | Unrelate, Label]], data: st.DataObject) -> None:
    graph = Graph()
    states = [seen(graph)]
    for operation, label in history:
        apply(graph, operation, label)
        states.append(seen(graph))
    for _ in range(3):
        # What follows the n-th operation is seen from its minute on; each rewind is an operation of its own.
        then = data.draw(st.integers(0, len(states) - 1))
        graph.rewind(NOON + timedelta(minutes=then - 1))
        assert seen(graph) == states[then]
        states.append(states[then])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(relations, st.sampled_from((MINE, STRANGER))), max_size=10))
def test_what_a_source_said_leaves_nothing_behind(history: list[tuple[Relate | Unrelate, Label]]) -> None:
    graph, without = Graph(), Graph()
    for operation, label in history:
        apply(graph, operation, label)
        if label != STRANGER:
            apply(without, operation, label)
    with graph.connection:
        rows.delete_source(graph.connection, "web:evil.example")
    assert seen(graph) == seen(without)
    assert "evil.example" not in graph.words()
    assert graph.ask("MATCH (n) RETURN n").label.is_trusted
