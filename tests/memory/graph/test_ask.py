"""Questions that people have, and their answers."""

import pytest
from tests.memory.graph.conftest import NOON, Graph

from daimon.abi.errors import BadInput
from daimon.abi.label import Author
from daimon.abi.memory import Edge, Node, Relate


@pytest.fixture
def system(graph: Graph) -> Graph:
    """api_gateway → load_user_id → auth → billing → ledger; api_gateway → billing → api_gateway; people who own things."""
    calls = [
        *(("Service:api_gateway", "Function:load_user_id"), ("Function:load_user_id", "Service:auth"), ("Service:auth", "Service:billing")),
        *(("Service:api_gateway", "Service:billing"), ("Service:billing", "Service:api_gateway")),
    ]
    for src, dst in calls:
        graph.edge(src, "CALLS", dst, confidence=0.5)
    graph.edge("Service:billing", "WRITES", "Table:ledger", properties={"often": True})
    graph.edge("Service:billing", "OWNED_BY", "Person:Anna")
    graph.node("Person", "Anna", age=41, city="Oslo")
    graph.node("Person", "Bo", age=29)
    return graph


def steps(path: object) -> list[str]:
    assert isinstance(path, dict)
    return [node["name"] for node in path["nodes"]]


def test_the_query_of_the_manual_runs_word_for_word(system: Graph) -> None:
    answer = system.ask(
        'MATCH path = (src:Entity {name: "api_gateway"})-[:CALLS*1..5]->(dst:Entity {name: "billing"}) '
        'WHERE ANY(n IN nodes(path) WHERE n.name CONTAINS "user_id") RETURN path'
    )
    assert answer.columns == ("path",)
    assert [steps(path) for (path,) in answer.rows] == [
        ["api_gateway", "load_user_id", "auth", "billing"],
        ["api_gateway", "load_user_id", "auth", "billing", "api_gateway", "billing"],
        ["api_gateway", "billing", "api_gateway", "load_user_id", "auth", "billing"],
    ]
    first = answer.rows[0][0]
    assert isinstance(first, dict)
    assert first["edges"] == [
        {"type": "CALLS", "src": ["Service", "api_gateway"], "dst": ["Function", "load_user_id"], "properties": {}},
        {"type": "CALLS", "src": ["Function", "load_user_id"], "dst": ["Service", "auth"], "properties": {}},
        {"type": "CALLS", "src": ["Service", "auth"], "dst": ["Service", "billing"], "properties": {}},
    ]
    assert answer.label.is_trusted
    assert not answer.is_cut


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("MATCH (n:Person) RETURN n.name AS who, n.age ORDER BY n.age", [("Bo", 29), ("Anna", 41)]),
        ("MATCH (n:Person) RETURN n.name ORDER BY n.city", [("Anna",), ("Bo",)]),
        ("MATCH (n:Person) RETURN n.name ORDER BY n.city DESC", [("Bo",), ("Anna",)]),
        ("MATCH (n:People {age: 41.0}) RETURN n.name", [("Anna",)]),
        ("MATCH (n:Person|Table) RETURN count(n)", [(3,)]),
        ("MATCH (n:Person:Table) RETURN count(n)", [(0,)]),
        ("MATCH (n) WHERE n:Code RETURN n.name, labels(n)", [("load_user_id", ["Function", "Code", "Entity"])]),
        ("MATCH (n:Nonsense) RETURN n", []),
        ("MATCH (n:Person) WHERE n.city IS NULL RETURN n.name", [("Bo",)]),
        ("MATCH (n:Person) WHERE n.city IS NOT NULL RETURN n.name", [("Anna",)]),
        ("MATCH (n:Person) WHERE n.city <> 'Rome' RETURN n.name", [("Anna",)]),
        ("MATCH (n:Person) WHERE NOT n.city = 'Rome' RETURN n.name", [("Anna",)]),
        ("MATCH (n:Person) WHERE n.age >= 29 AND n.age < 41 RETURN n.name", [("Bo",)]),
        ("MATCH (n:Person) WHERE n.age = 29 XOR n.age = 41 RETURN count(*)", [(2,)]),
        ("MATCH (n:Person) WHERE n.age = '29' OR n.name > 5 RETURN n.name", []),
        ("MATCH (n) WHERE n.name IN ['Anna', 'auth', 'x'] RETURN n.name ORDER BY n.name", [("Anna",), ("auth",)]),
        ("MATCH (n) WHERE n.name IN ['Anna', 5] RETURN n.name", [("Anna",)]),
        ("MATCH (n) WHERE n.name STARTS WITH 'a' AND n.name ENDS WITH 'h' RETURN n.name", [("auth",)]),
        ("MATCH (n:Person) WHERE toUpper(n.name) = 'BO' RETURN n.name", [("Bo",)]),
        ("MATCH (:Service)-[r:WRITES|OWNED_BY]->(b) RETURN type(r) AS t, b.kind ORDER BY t", [("OWNED_BY", "Person"), ("WRITES", "Table")]),
        ("MATCH (a)<-[:OWNED_BY]-(b) RETURN a.name, b.name", [("Anna", "billing")]),
        ("MATCH (:Table)-[r]-(b) RETURN b.name, r.often, r.confidence", [("billing", True, 1.0)]),
        ("MATCH (a)-[r {often: true}]->(b) RETURN startNode(r).name, endNode(r).name", [("billing", "ledger")]),
        ("MATCH ()-[r:CALLS]->() WHERE r.confidence > 0.4 RETURN count(r)", [(5,)]),
        ("MATCH (a)-[:CALLS]->(b) RETURN a.name, count(*) AS calls ORDER BY calls DESC, a.name LIMIT 2", [("api_gateway", 2), ("auth", 1)]),
        ("MATCH (a)-[:CALLS]->(b) RETURN count(a), count(DISTINCT a)", [(5, 4)]),
        ("MATCH (a)-[:CALLS]->(b) RETURN DISTINCT b.name ORDER BY b.name SKIP 1 LIMIT 2", [("auth",), ("billing",)]),
        ("MATCH (a:Function)-[*2]->(b) RETURN b.name", [("billing",)]),
        ("MATCH (a:Function)-[*0..1]->(b) RETURN b.name", [("load_user_id",), ("auth",)]),
        ("MATCH (a:Function)-[rs:CALLS*2]->(b) RETURN size(rs)", [(2,)]),
        ("MATCH (a:Function)-[:CALLS*..3]->(t) RETURN DISTINCT t.name ORDER BY t.name", [("api_gateway",), ("auth",), ("billing",)]),
        ("MATCH (a:Function)-[:CALLS*..4]->(t) RETURN count(DISTINCT t)", [(4,)]),
        ("MATCH (a:Person)<-[:OWNED_BY]-(s), (s)-[:WRITES]->(t) RETURN a.name, t.name", [("Anna", "ledger")]),
        ("MATCH p = (t:Table)<--(s)-->(a:Person) RETURN length(p), size(nodes(p))", [(2, 3)]),
        ("MATCH p = (a:Function)-[:CALLS*1..3]->(b) WHERE ALL(r IN relationships(p) WHERE type(r) = 'CALLS') RETURN count(p)", [(3,)]),
        ("MATCH p = (a:Function)-[*1..3]->(b) WHERE NONE(n IN nodes(p) WHERE n.name = 'billing') RETURN b.name", [("auth",)]),
        ("MATCH p = (a:Function)-[*1..4]->(b) WHERE SINGLE(n IN nodes(p) WHERE n:Person) RETURN b.name", [("Anna",)]),
        ("MATCH p = (a:Function)-[*2]->(b) WHERE b IN nodes(p) AND NOT a = b RETURN b.name", [("billing",)]),
        ("MATCH (a:Person), (b:Person) WHERE a <> b RETURN a.name, b.name ORDER BY a.name", [("Anna", "Bo"), ("Bo", "Anna")]),
        ("MATCH p = (n:Table) RETURN length(p), n.name", [(0, "ledger")]),
        ("MATCH (n:Person {name: 'Bo'}) RETURN properties(n)", [({"age": 29},)]),
        ("MATCH (n:Person {name: 'Bo'}) WHERE n.name = 'Anna' RETURN n", []),
        ("MATCH (n:Person) RETURN n LIMIT 0", []),
    ],
)  # fmt: skip
def test_a_question_has_its_answer(system: Graph, query: str, rows: list[tuple[object, ...]]) -> None:
    answer = system.ask(query)
    assert list(answer.rows) == rows
    assert not answer.is_cut


def test_the_shortest_path_is_found_either_way(system: Graph) -> None:
    def shortest(drawn: str) -> list[list[str]]:
        query = f"MATCH (a {{name: 'auth'}}), (b {{name: 'load_user_id'}}), p = shortestPath({drawn}) RETURN p"
        return [steps(path) for (path,) in system.found(query)]

    assert shortest("(a)-[*..8]->(b)") == [["auth", "billing", "api_gateway", "load_user_id"]]
    assert shortest("(a)-[*..8]-(b)") == [["auth", "load_user_id"]]
    assert shortest("(a)<-[*..8]-(b)") == [["auth", "load_user_id"]]
    assert shortest("(a)-[*..2]->(b)") == []
    assert shortest("(a)-[:WRITES*..8]->(b)") == []
    assert shortest("(a)-[*..8]->(a)") == []


def test_a_loop_is_an_edge_like_others(graph: Graph) -> None:
    graph.edge("Service:a", "CALLS", "Service:a")
    for edge, count in (("-[*1..5]->", 1), ("-[*1..5]-", 1), ("<-[]-", 1), ("--", 1)):
        assert graph.found(f"MATCH (x){edge}(y) RETURN count(*)") == [(count,)]
    assert graph.found("MATCH (x)-->(x) RETURN x.name") == [("a",)]


def test_back_over_the_same_edge_is_no_way(graph: Graph) -> None:
    graph.edge("Service:a", "CALLS", "Service:b")
    assert graph.found("MATCH (x)-[*1..2]-(y) RETURN DISTINCT x.name, y.name") == [("a", "b"), ("b", "a")]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("MATCH (n) RETURN m", "nothing is called `m`"),
        ("MATCH (n) WHERE name = 'x' RETURN n", "nothing is called `name`"),
        ("MATCH (n) RETURN type(n)", "found a node, and type takes an edge"),
        ("MATCH (n) WHERE n RETURN n", "expected a condition"),
        ("MATCH (n) WHERE n = 'Anna' RETURN n", "compare one of its properties"),
        ("MATCH (n) WHERE count(n) > 1 RETURN n", "count stands alone"),
        ("MATCH p = (n)-->() RETURN p.name", "a path has no properties"),
        ("MATCH (a)-[r*1..2]->(b) RETURN r.confidence", "a list of edges has no properties"),
        ("MATCH (a)-[a]->(b) RETURN a", "stands for two things"),
        ("MATCH (a)-[r]->(b), (b)-[r]->(c) RETURN a", "stands for two things"),
        ("MATCH (n) RETURN n ORDER BY n", "have no order"),
        ("MATCH (n) RETURN DISTINCT n.name ORDER BY n.age", "no column of the answer"),
        ("MATCH (n) WHERE n IN ['a'] RETURN n", "a node is never in a value"),
    ],
)
def test_nonsense_is_said_even_if_the_graph_is_empty(graph: Graph, query: str, said: str) -> None:
    with pytest.raises(BadInput, match="at line 1, column") as caught:
        graph.ask(query)
    assert said in str(caught.value)


def test_an_answer_without_rows_is_in_nobodys_words(graph: Graph) -> None:
    answer = graph.ask("MATCH (n) RETURN n")
    assert answer.rows == ()
    assert [origin.author for origin in answer.label.origins] == [Author.SERVICE]
    assert graph.ask("MATCH (n) RETURN count(n)").rows == ((0,),)


def test_an_answer_with_more_rows_than_may_be_says_so(graph: Graph) -> None:
    graph.relate(Relate(nodes=tuple(Node("Service", f"s{n:02}") for n in range(20))))
    answer = graph.ask("MATCH (n) RETURN n.name ORDER BY n.name", most_rows=5)
    assert [name for (name,) in answer.rows] == [f"s{n:02}" for n in range(5)]
    assert answer.is_cut
    assert not graph.ask("MATCH (n) RETURN n.name LIMIT 5", most_rows=5).is_cut
    assert graph.ask("MATCH (n) RETURN n", most_rows=19).is_cut
    assert not graph.ask("MATCH (n) RETURN n", most_rows=20).is_cut


def test_the_time_of_a_question_ends_it_and_leaves_the_connection_as_it_was(graph: Graph) -> None:
    names = [f"s{n}" for n in range(60)]
    edges = tuple(Edge(("Service", a), "CALLS", ("Service", b)) for a in names for b in names if a != b)
    graph.relate(Relate(edges=edges))
    answer = graph.ask("MATCH p = (a)-[*1..10]-(b) RETURN count(p)", timeout_s=0.05, most_matches=10**9)
    assert answer.is_cut
    swept = graph.ask("MATCH (a)-->(b)-->(c)-->(d)-->(e) RETURN e.name ORDER BY e.name", timeout_s=0.05, most_matches=10**9)
    assert swept.is_cut
    assert graph.ask("MATCH (a)-->(b) RETURN count(*)").rows == ((len(edges),),)
    assert (
        graph.connection.execute("WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 500000) SELECT count(*) FROM c").get
        == 500_000
    )


def test_since_and_until_are_shown_as_times(graph: Graph) -> None:
    graph.edge("Person:Anna", "WORKS_AT", "Organisation:X", since=NOON)
    assert graph.found("MATCH ()-[r]->() RETURN r.since, r.until") == [("2026-03-13T12:00:00+00:00", None)]
