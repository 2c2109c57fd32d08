"""What is said of nodes and edges, by whom, and what becomes of it."""

from datetime import timedelta

import pytest
from tests.memory.graph.conftest import MINE, NOON, STRANGER, Graph

from daimon.abi.errors import BadInput
from daimon.abi.ids import HOME_SPACE, OWNER, PrincipalId, SpaceId
from daimon.abi.label import join
from daimon.abi.memory import Edge, Node, Relate, Unrelate
from daimon.memory.graph import limits, rows
from daimon.memory.graph.ask import ask

ALL = "MATCH (n) RETURN n"


def properties(graph: Graph) -> object:
    ((node,),) = graph.found(ALL)
    assert isinstance(node, dict)
    return node["properties"]


# -- who may say what


def test_properties_add_up_and_the_later_word_counts(graph: Graph) -> None:
    graph.node("Person", "Anna", city="Oslo", age=30)
    graph.node("Person", "Anna", city="Rome")
    assert properties(graph) == {"city": "Rome", "age": 30}


def test_a_stranger_changes_nothing_that_the_owner_said(graph: Graph) -> None:
    graph.node("Person", "Anna", city="Oslo")
    graph.node("Person", "Anna", STRANGER, city="Hell")
    assert properties(graph) == {"city": "Oslo"}
    assert graph.ask(ALL).label == MINE


def test_a_stranger_may_add_to_it_and_is_in_the_label_then(graph: Graph) -> None:
    graph.node("Person", "Anna", city="Oslo")
    graph.node("Person", "Anna", STRANGER, phone="555")
    assert properties(graph) == {"city": "Oslo", "phone": "555"}
    assert graph.ask(ALL).label == join((MINE, STRANGER))
    assert not graph.ask(ALL).label.is_trusted


def test_the_owner_goes_over_what_a_stranger_said_first(graph: Graph) -> None:
    graph.node("Person", "Anna", STRANGER, city="Hell")
    graph.node("Person", "Anna", city="Oslo")
    assert properties(graph) == {"city": "Oslo"}
    assert graph.ask(ALL).label == MINE


def test_an_edge_of_the_owner_keeps_its_confidence_and_dates(graph: Graph) -> None:
    graph.edge("Service:a", "CALLS", "Service:b", confidence=0.9)
    graph.edge("Service:a", "CALLS", "Service:b", STRANGER, confidence=0.1, until=NOON)
    assert graph.found("MATCH ()-[r]->() RETURN r.confidence, r.until") == [(0.9, None)]


def test_a_stranger_ends_nothing_of_the_owner(graph: Graph) -> None:
    graph.edge("Service:a", "CALLS", "Service:b")
    graph.end_node("Service", "a", STRANGER)
    graph.end_edge("Service:a", "CALLS", "Service:b", STRANGER)
    assert graph.names("MATCH (a)-->(b) RETURN b.name") == ["b"]


def test_a_stranger_may_end_what_strangers_said(graph: Graph) -> None:
    graph.edge("Service:a", "CALLS", "Service:b", STRANGER)
    graph.end_node("Service", "a", STRANGER)
    assert graph.names() == ["b"]
    assert graph.found("MATCH ()-[r]-() RETURN r") == []


def test_an_edge_of_a_stranger_between_nodes_of_the_owner_is_a_strangers(graph: Graph) -> None:
    graph.node("Service", "a")
    graph.node("Service", "b")
    graph.edge("Service:a", "CALLS", "Service:b", STRANGER)
    assert graph.ask("MATCH (a) RETURN a").label == MINE
    assert graph.ask("MATCH (a)-->(b) RETURN a.name").label == join((MINE, STRANGER))


# -- what is there


def test_an_edge_makes_the_nodes_at_its_ends(graph: Graph) -> None:
    graph.edge("Service:a", "CALLS", "Service:b")
    assert graph.names() == ["a", "b"]


def test_known_kinds_are_one_however_they_are_cased(graph: Graph) -> None:
    graph.node("person", "Anna")
    graph.edge("PERSON:Anna", "KNOWS", "Person:Bo")
    assert graph.found("MATCH (n:person) RETURN n.kind, n.name ORDER BY n.name") == [("Person", "Anna"), ("Person", "Bo")]


def test_a_node_goes_with_its_edges_and_comes_back_without_them(graph: Graph) -> None:
    graph.edge("Service:a", "CALLS", "Service:b")
    graph.edge("Service:c", "CALLS", "Service:b")
    graph.end_node("Service", "b")
    assert graph.names() == ["a", "c"]
    graph.node("Service", "b")
    assert graph.names() == ["a", "b", "c"]
    assert graph.found("MATCH ()-[r]-() RETURN r") == []


def test_an_edge_is_seen_while_it_is_valid(graph: Graph) -> None:
    graph.edge("Person:Anna", "WORKS_AT", "Organisation:X", since=NOON, until=NOON + timedelta(days=1))
    where = "MATCH (:Person)-[:WORKS_AT]->(o) RETURN o.name"
    assert graph.names(where, at=NOON - timedelta(seconds=1)) == []
    assert graph.names(where, at=NOON) == ["X"]
    assert graph.names(where, at=NOON + timedelta(days=1)) == []


def test_spaces_and_principals_see_their_own(graph: Graph) -> None:
    with graph.connection:
        for space, principal in ((HOME_SPACE, PrincipalId("bob")), (SpaceId("work"), OWNER)):
            operation = Relate(edges=(Edge(("Service", "a"), "CALLS", ("Service", "secret")),))
            rows.relate(graph.connection, graph.receipt(space=space, principal=principal), operation)
    graph.node("Service", "a")
    assert graph.names() == ["a"]
    assert graph.names("MATCH (a)-[*1..5]-(b) RETURN b.name") == []
    assert ask(graph.connection, HOME_SPACE, PrincipalId("bob"), "MATCH (a)-->(b) RETURN b.name", NOON).rows == (("secret",),)


# -- what goes for good


def test_what_came_from_a_source_leaves_no_trace(graph: Graph) -> None:
    graph.node("Person", "Anna", city="Oslo")
    graph.node("Person", "Anna", STRANGER, phone="555-evil")
    graph.edge("Person:Anna", "KNOWS", "Person:Mallory", STRANGER)
    with graph.connection:
        rows.delete_source(graph.connection, "web:evil.example")
    assert properties(graph) == {"city": "Oslo"}
    assert graph.ask(ALL).label == MINE
    assert not [word for word in ("555-evil", "Mallory", "evil.example", "KNOWS") if word in graph.words()]


def test_what_a_step_said_goes_and_what_others_said_stays(graph: Graph) -> None:
    first = graph.node("Person", "Anna", city="Oslo")
    graph.node("Person", "Anna", age=30)
    with graph.connection:
        rows.delete_from(graph.connection, [first.source])
    assert properties(graph) == {"age": 30}
    assert "Oslo" not in graph.words()
    with graph.connection:
        rows.delete_from(graph.connection, [], turn="t1")
    assert graph.words() == "[[], [], [], []]"


def test_a_node_stays_while_an_edge_of_somebody_else_needs_it(graph: Graph) -> None:
    first = graph.node("Service", "a", port=80)
    graph.edge("Service:a", "CALLS", "Service:b")
    with graph.connection:
        rows.delete_from(graph.connection, [first.source])
    assert graph.found("MATCH (n {name: 'a'})-->(b) RETURN n, b.name") == [({"kind": "Service", "name": "a", "properties": {}}, "b")]


def test_also_history_is_deleted(graph: Graph) -> None:
    first = graph.node("Service", "gone", note="hush")
    graph.end_node("Service", "gone")
    assert "hush" in graph.words()
    with graph.connection:
        rows.delete_from(graph.connection, [first.source])
    assert graph.words() == "[[], [], [], []]"


# -- back to then


def test_a_rewind_ends_what_came_after_and_brings_back_what_was_ended(graph: Graph) -> None:
    graph.edge("Service:a", "CALLS", "Service:b")  # noon
    graph.end_edge("Service:a", "CALLS", "Service:b")  # a minute later
    graph.node("Service", "late")  # two minutes later
    graph.rewind(NOON)
    assert graph.names() == ["a", "b"]
    assert graph.names("MATCH (a)-->(b) RETURN b.name") == ["b"]
    graph.rewind(NOON + timedelta(minutes=2))
    assert graph.names() == ["a", "b", "late"]
    assert graph.names("MATCH (a)-->(b) RETURN b.name") == []


def test_a_rewind_leaves_what_was_deleted_deleted(graph: Graph) -> None:
    gone = graph.node("Service", "a")
    graph.node("Service", "b")
    with graph.connection:
        rows.delete_from(graph.connection, [gone.source])
    graph.rewind(NOON + timedelta(minutes=1))
    assert graph.names() == ["b"]


def test_a_rewind_leaves_what_rules_made_of_what_was_said(graph: Graph) -> None:
    graph.node("Person", "Anna", is_derived=True)
    graph.node("Person", "Bo")
    graph.rewind(NOON - timedelta(days=1))
    assert graph.names() == ["Anna"]


def test_properties_are_as_they_were_then(graph: Graph) -> None:
    graph.node("Person", "Anna", city="Oslo")
    graph.node("Person", "Anna", city="Rome")
    graph.rewind(NOON)
    assert properties(graph) == {"city": "Oslo"}


# -- what cannot be kept


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (Relate(nodes=(Node("Service", ""),)), "0 characters"),
        (Relate(nodes=(Node("Service", "x" * 501),)), "501 characters"),
        (Relate(nodes=(Node("Service", "a\0b"),)), "no text can have"),
        (Relate(nodes=(Node("Service", "\ud800"),)), "no text can have"),
        (Relate(nodes=(Node("Ser vice", "a"),)), "no kind"),
        (Relate(nodes=(Node("Service", "a", {"x y": 1}),)), "no name of a property"),
        (Relate(nodes=(Node("Service", "a", {"x": float("nan")}),)), "nan"),
        (Relate(nodes=(Node("Service", "a", {"x": "y" * 20_000}),)), "at most 16000"),
        (Relate(edges=(Edge(("Service", "a"), "calls", ("Service", "b")),)), "no type"),
        (Relate(edges=(Edge(("Service", "a"), "CALLS", ("Service", "b"), confidence=2),)), "from 0 to 1"),
        (Relate(edges=(Edge(("Service", "a"), "CALLS", ("Service", "b"), since=NOON, until=NOON),)), "over"),
        (Unrelate(nodes=(("Service", ""),)), "0 characters"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_left_out(graph: Graph, operation: Relate | Unrelate, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        limits.check(operation)
    with graph.connection:
        if isinstance(operation, Unrelate):
            rows.unrelate(graph.connection, graph.receipt(), operation)
        else:
            (fault,) = rows.relate(graph.connection, graph.receipt(), operation)
            assert said in fault
    assert graph.words() == "[[], [], [], []]"


def test_the_rest_of_such_an_operation_is_kept(graph: Graph) -> None:
    limits.check(fine := Relate(nodes=(Node("Service", "naïve 北京 🦊", {"x": [1, {"y": None}]}),)))
    with graph.connection:
        faults = rows.relate(graph.connection, graph.receipt(), Relate(nodes=(Node("Service", ""), *fine.nodes)))
    assert len(faults) == 1
    assert graph.names() == ["naïve 北京 🦊"]
