"""From words to a tree, by recursive descent.

    query    MATCH pattern {, pattern} [WHERE expression] RETURN [DISTINCT] column {, column}
             [ORDER BY expression [ASC|DESC] {, …}] [SKIP number] [LIMIT number]
    pattern  [name =] chain | [name =] shortestPath(chain)
    chain    node {edge node}
    node     ( [name] {: label {| label}} [{key: value, …}] )
    edge     -[ [name] [: TYPE {| TYPE}] [* [least] [.. [most]]] [{key: value, …}] ]-   with < or > at one end, or neither

Expressions stand in `expressions.py`. Nothing here knows the graph: whether names exist and fit is seen by the planner.
"""

from typing import Literal

from pydantic import JsonValue

from daimon.memory.graph import tree
from daimon.memory.graph.expressions import expression, literal
from daimon.memory.graph.reader import Reader

MOST_EDGES = 20
"""Of all patterns of a query."""

_FOREIGN = {
    **dict.fromkeys(
        ("CREATE", "MERGE", "DELETE", "DETACH", "SET", "REMOVE", "FOREACH", "DROP", "ALTER", "INSERT"),
        "the graph is changed by the tools that relate and unrelate, not by queries; a query only reads",
    ),
    **dict.fromkeys(("CALL", "LOAD", "USE", "PERIODIC"), "a query reads this graph with MATCH … RETURN, and can reach nothing else"),
    **dict.fromkeys(
        ("OPTIONAL", "WITH", "UNWIND", "UNION", "PROFILE", "EXPLAIN", "SELECT"),
        "a query is one MATCH … WHERE … RETURN … ORDER BY … SKIP … LIMIT; put several patterns into MATCH, with commas between",
    ),
}


def parse(query: str) -> tree.Query:
    """Raises BadInput with place, what was found, what was expected."""
    reader = Reader(query)
    _no_foreign(reader)
    reader.expect_word("MATCH", "a query begins with MATCH")
    patterns = [_pattern(reader)]
    while reader.take(","):
        patterns.append(_pattern(reader))
    if sum(len(pattern.edges) for pattern in patterns) > MOST_EDGES:
        raise reader.wrong_at(patterns[-1].at, f"there are more than {MOST_EDGES} edges in the patterns", "ask in several queries")
    where = expression(reader) if reader.take_word("WHERE") else None
    _no_foreign(reader)
    reader.expect_word("RETURN", "after the patterns come WHERE or RETURN")
    is_distinct = reader.take_word("DISTINCT")
    columns = [_column(reader)]
    while reader.take(","):
        columns.append(_column(reader))
    return _ended(reader, tree.Query(tuple(patterns), where, tuple(columns), is_distinct))


def _ended(reader: Reader, query: tree.Query) -> tree.Query:
    order: list[tree.Order] = []
    if reader.take_word("ORDER"):
        reader.expect_word("BY")
        order.append(_order(reader))
        while reader.take(","):
            order.append(_order(reader))
    skip = reader.number() if reader.take_word("SKIP") else 0
    limit = reader.number() if reader.take_word("LIMIT") else None
    _no_foreign(reader)
    if reader.token.kind != "end":
        raise reader.unexpected("the end of the query", "after RETURN come ORDER BY, SKIP and LIMIT, in this order")
    return tree.Query(query.patterns, query.where, query.columns, query.is_distinct, tuple(order), skip, limit)


def _no_foreign(reader: Reader) -> None:
    if hint := _FOREIGN.get(reader.token.word, ""):
        raise reader.wrong_at(reader.token.at, f"{reader.token.word} is not part of the language", hint)


def _column(reader: Reader) -> tree.Column:
    begin = reader.token
    if begin.text == "*" and begin.kind == "sign":
        raise reader.unexpected("what to return", "name the variables")
    found = expression(reader)
    if reader.take_word("AS"):
        return tree.Column(reader.name("a name for the column"), found)
    return tree.Column(reader.text_from(begin), found)


def _order(reader: Reader) -> tree.Order:
    by = expression(reader)
    if reader.take_word("DESC") or reader.take_word("DESCENDING"):
        return tree.Order(by, is_descending=True)
    if not reader.take_word("ASC"):
        reader.take_word("ASCENDING")
    return tree.Order(by)


def _pattern(reader: Reader) -> tree.Pattern:
    at, path = reader.token.at, ""
    if reader.token.kind == "name" and reader.token.word != "SHORTESTPATH":
        path = reader.name("a pattern")
        reader.expect("=", "a pattern is a node in parentheses, or a name = and then a pattern")
    if not reader.take_word("SHORTESTPATH"):
        return _chain(reader, path, at)
    reader.expect("(")
    found = _chain(reader, path, at)
    reader.expect(")", "shortestPath takes one pattern")
    if len(found.edges) != 1 or found.edges[0].least > 1:
        raise reader.wrong_at(at, "shortestPath takes two nodes and one edge", "like shortestPath((a)-[:CALLS*..8]->(b))")
    return tree.Pattern(found.nodes, found.edges, path, True, at)


def _chain(reader: Reader, path: str, at: int) -> tree.Pattern:
    nodes, edges = [_node(reader)], []
    while reader.token.text in ("-", "<") and reader.token.kind == "sign":
        edges.append(_edge(reader))
        nodes.append(_node(reader))
    return tree.Pattern(tuple(nodes), tuple(edges), path, False, at)


def _node(reader: Reader) -> tree.NodePattern:
    at = reader.token.at
    reader.expect("(", "a node is written in parentheses, like (n:Service)")
    variable = reader.name() if reader.token.kind == "name" else ""
    labels = []
    while reader.take(":"):
        labels.append(_alternatives(reader, "a label"))
    properties = _properties(reader)
    reader.expect(")", 'a node is (name:Label {key: "value"})')
    return tree.NodePattern(variable, tuple(labels), properties, at)


def _edge(reader: Reader) -> tree.EdgePattern:
    at = reader.token.at
    is_in = reader.take("<")
    reader.expect("-")
    variable, hops = "", None
    types: tuple[str, ...] = ()
    properties: tuple[tuple[str, JsonValue], ...] = ()
    if reader.take("["):
        variable = reader.name() if reader.token.kind == "name" else ""
        types = _alternatives(reader, "a type of edges") if reader.take(":") else ()
        hops = _hops(reader) if reader.take("*") else None
        properties = _properties(reader)
        reader.expect("]", "an edge is -[name:TYPE*1..5]->")
    reader.expect("-", "an edge is -[…]->, <-[…]- or -[…]-")
    is_out = reader.take(">")
    if is_in and is_out:
        raise reader.wrong_at(at, "an edge points both ways", "write -[…]- for both directions")
    direction: Literal["out", "in", "both"] = "in" if is_in else "out" if is_out else "both"
    least, most = hops or (1, 1)
    return tree.EdgePattern(variable, types, direction, least, most, hops is not None, properties, at)


def _hops(reader: Reader) -> tuple[int, int]:
    """After the star."""
    at = reader.token.at
    least = reader.number() if reader.token.kind == "number" else None
    most = least
    if reader.take(".."):
        most = reader.number() if reader.token.kind == "number" else tree.MOST_HOPS
    elif least is None:
        most = tree.MOST_HOPS
    low, high = 1 if least is None else least, tree.MOST_HOPS if most is None else most
    if high > tree.MOST_HOPS:
        raise reader.wrong_at(at, f"a path of {high} edges is too long", f"ask for at most {tree.MOST_HOPS}")
    if low > high or high == 0:
        raise reader.wrong_at(
            at, f"no path has at least {low} and at most {high} edges", "the smaller number comes first, the other is at least 1"
        )
    return low, high


def _alternatives(reader: Reader, what: str) -> tuple[str, ...]:
    found = [reader.name(what)]
    while reader.take("|"):
        reader.take(":")
        found.append(reader.name(what))
    return tuple(found)


def _properties(reader: Reader) -> tuple[tuple[str, JsonValue], ...]:
    if not reader.take("{"):
        return ()
    found = [_pair(reader)]
    while reader.take(","):
        found.append(_pair(reader))
    reader.expect("}", 'properties are {key: "value", other: 5}')
    return tuple(found)


def _pair(reader: Reader) -> tuple[str, JsonValue]:
    key = reader.name("the name of a property")
    reader.expect(":")
    return key, literal(reader)
