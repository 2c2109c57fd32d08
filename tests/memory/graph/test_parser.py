"""The language: what it reads, and what it says of what it does not."""

import pytest

from daimon.abi.errors import BadInput
from daimon.memory.graph.parser import parse
from daimon.memory.graph.tree import Call, Compared, Joined, Literally, Not, Property, Query, Variable


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ("-->", ("out", 1, 1, False)),
        ("<--", ("in", 1, 1, False)),
        ("--", ("both", 1, 1, False)),
        ("-[]->", ("out", 1, 1, False)),
        ("-[*]->", ("out", 1, 10, True)),
        ("-[*2]->", ("out", 2, 2, True)),
        ("-[*1..5]->", ("out", 1, 5, True)),
        ("-[*..3]-", ("both", 1, 3, True)),
        ("<-[*2..]-", ("in", 2, 10, True)),
        ("-[*0..1]->", ("out", 0, 1, True)),
        ("-[r:CALLS|:READS*2..3 {sure: true}]->", ("out", 2, 3, True)),
    ],
)
def test_edges_are_read_as_they_are_drawn(edge: str, expected: tuple[str, int, int, bool]) -> None:
    (found,) = parse(f"MATCH (a){edge}(b) RETURN a").patterns[0].edges
    assert (found.direction, found.least, found.most, found.is_many) == expected


def test_all_parts_of_a_query_are_read() -> None:
    query = parse(
        "match p = (a:Service:Infrastructure {name: 'x', port: -1.5, tags: [1, 'y']})-[r:CALLS|READS]->(:Table|View),"
        " shortestPath((a)-[*..8]-(c))"
        " where not a.name = 'q' return distinct p as way, count(*) order by way desc, a.name skip 2 limit 3"
    )
    first, second = query.patterns
    assert (first.path, first.nodes[0].labels, first.edges[0].types) == ("p", (("Service",), ("Infrastructure",)), ("CALLS", "READS"))
    assert first.nodes[0].properties == (("name", "x"), ("port", -1.5), ("tags", [1, "y"]))
    assert first.nodes[1].labels == (("Table", "View"),)
    assert second.is_shortest
    assert [column.name for column in query.columns] == ["way", "count(*)"]
    assert (query.is_distinct, query.skip, query.limit, [order.is_descending for order in query.order]) == (True, 2, 3, [True, False])


def where(condition: str) -> object:
    return parse(f"MATCH (n) WHERE {condition} RETURN n").where


def test_and_binds_closer_than_or_and_not_closest() -> None:
    a, b, c = (Compared("=", Property(Variable("n"), key), Literally(1)) for key in "abc")
    assert where("n.a = 1 OR n.b = 1 AND NOT n.c = 1") == Joined("OR", (a, Joined("AND", (b, Not(c)))))
    assert where("(n.a = 1 OR n.b = 1) AND n.c = 1") == Joined("AND", (Joined("OR", (a, b)), c))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"a\\"b"', 'a"b'),
        (r"'\\ \n \t \u00e9'", "\\ \n \t é"),
        ('"o\'hara; DROP TABLE nodes -- /* */"', "o'hara; DROP TABLE nodes -- /* */"),
        ("'北京 🦊'", "北京 🦊"),
        ("12", 12),
        ("-0.5", -0.5),
        ("true", True),
        ("NULL", None),
    ],
)
def test_values_are_what_is_written(written: str, value: object) -> None:
    assert where(f"n.x = {written}") == Compared("=", Property(Variable("n"), "x"), Literally(value))  # type: ignore[arg-type]


def test_functions_may_be_written_in_any_case() -> None:
    assert parse("MATCH (n) RETURN COUNT(DISTINCT n)").columns[0].expression == Call("count", (Variable("n"),), True)


def test_a_keyword_in_backticks_is_a_name() -> None:
    assert isinstance(parse("MATCH (`match`) RETURN `match`"), Query)


@pytest.mark.parametrize(
    ("query", "place", "said"),
    [
        ("", "line 1, column 1", "found the end of the query, expected MATCH"),
        ("MATCH (n", "line 1, column 9", "found the end of the query, expected `)`"),
        ("MATCH (n) RETURN", "line 1, column 17", "expected a value, a name or a condition"),
        ("MATCH (n)\nWHERE n.name == 'x' RETURN n", "line 2, column 15", "found `=`"),
        ("MATCH (n) WHERE n.name = 'x RETURN n", "line 1, column 26", "has no end"),
        ("MATCH (n) WHERE n.a < 1 < 2 RETURN n", "line 1, column 25", "two values at a time"),
        ("MATCH (a)-[:X*1..11]->(b) RETURN a", "line 1, column 15", "at most 10"),
        ("MATCH (a)-[:X*3..2]->(b) RETURN a", "line 1, column 15", "at least 3 and at most 2"),
        ("MATCH (a)<-[:X]->(b) RETURN a", "line 1, column 10", "both ways"),
        ("MATCH (a)-[:X]>(b) RETURN a", "line 1, column 15", "expected `-`"),
        ("MATCH (n) RETURN n LIMIT 'x'", "line 1, column 26", "expected a whole number"),
        ("MATCH (n) RETURN n LIMIT 3 SKIP 1", "line 1, column 28", "in this order"),
        ("MATCH (n) RETURN *", "line 1, column 18", "name the variables"),
        ("MATCH (n {name: n}) RETURN n", "line 1, column 17", "expected a text in quotes"),
        ("MATCH (n) RETURN exec(n)", "line 1, column 18", "there is no function `exec`"),
        ("MATCH (n) WHERE n.name =~ '.*' RETURN n", "line 1, column 25", "no regular expressions"),
        ("MATCH (n) RETURN n.a + 1", "line 1, column 22", "arithmetic"),
        ("MATCH (n) WHERE n.name = $x RETURN n", "line 1, column 26", "no parameters"),
        ("MATCH (n) RETURN n // all", "line 1, column 20", "comments"),
        ("MATCH (n) RETURN n;", "line 1, column 19", "without a semicolon"),
        ("MATCH shortestPath((a)-->(b)-->(c)) RETURN a", "line 1, column 7", "two nodes and one edge"),
        ("MATCH (ñ) RETURN ñ", "line 1, column 8", "plain ASCII"),
        ("MATCH (n) WITH n RETURN n", "line 1, column 11", "WITH is not part of the language"),
        ("OPTIONAL MATCH (n) RETURN n", "line 1, column 1", "one MATCH"),
        ("MATCH (n) RETURN n UNION MATCH (m) RETURN m", "line 1, column 20", "UNION is not part"),
    ],
)
def test_an_error_says_where_and_what_was_expected(query: str, place: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(query)
    assert place in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "CREATE (n:Service)",
        "MERGE (n:Service) RETURN n",
        "MATCH (n) DELETE n",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) SET n.name = 'x'",
        "MATCH (n) REMOVE n.name",
        "MATCH (n) WHERE n.a = 1 DELETE n",
        "MATCH (n) RETURN n CREATE (m)",
    ],
)
def test_a_query_that_writes_is_told_what_does(query: str) -> None:
    with pytest.raises(BadInput, match="changed by the tools that relate and unrelate, not by queries"):
        parse(query)


@pytest.mark.parametrize("query", ["CALL db.labels()", "LOAD CSV FROM 'file:///etc/passwd' AS x RETURN x", "MATCH (n) CALL x() RETURN n"])
def test_a_query_that_reaches_elsewhere_is_told_that_it_cannot(query: str) -> None:
    with pytest.raises(BadInput, match="can reach nothing else"):
        parse(query)
