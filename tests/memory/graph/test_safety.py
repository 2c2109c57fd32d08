"""Nothing that stands in a query becomes SQL, breaks the parser, or means something else than it says."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory.graph.conftest import Graph

from daimon.abi.errors import BadInput
from daimon.memory.graph.parser import parse

HOSTILE = [
    "x' OR '1'='1",
    'x" OR "1"="1',
    "x'); DROP TABLE nodes; --",
    'x" UNION SELECT label FROM nodes --',
    "') RETURN n //",
    "%' OR name LIKE '%",
    "\\",
    "\\u0027 OR 1=1",
    "?1",
    ":name",
    "{name: 'secret'}",
    "secret\u0000",
    "ｓecret",
    "sec\u200bret",
    "\u202eterces",
    "北京'; --",
]


@pytest.fixture
def kept(graph: Graph) -> Graph:
    graph.node("Secret", "secret", value="hush")
    return graph


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_in_quotes_is_only_a_name(kept: Graph, name: str) -> None:
    if "\0" in name:
        with pytest.raises(BadInput, match="zero byte"):
            kept.names(f"MATCH (n {{name: '{name}'}}) RETURN n.name")
        return
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    for query in (
        f"MATCH (n {{name: '{quoted}'}}) RETURN n.name",
        f"MATCH (n) WHERE n.name = '{quoted}' RETURN n.name",
        f"MATCH (n) WHERE n.name CONTAINS '{quoted}' RETURN n.name",
        f"MATCH (n {{value: '{quoted}'}}) RETURN n.name",
    ):
        assert kept.names(query) == []
    kept.node("Service", name)
    assert kept.names(f"MATCH (n {{name: '{quoted}'}}) RETURN n.name") == [name]


@pytest.mark.parametrize("name", [name for name in HOSTILE if "'" in name])
def test_a_hostile_name_that_leaves_its_quotes_is_an_error(kept: Graph, name: str) -> None:
    with pytest.raises(BadInput):
        kept.ask(f"MATCH (n:Person {{name: '{name}'}}) RETURN n.name")
    assert kept.names() == ["secret"]


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n:Per'son) RETURN n",
        "MATCH (n)-[:CALLS; DROP TABLE nodes]->(m) RETURN n",
        "MATCH (n) RETURN n AS `x`; DELETE FROM nodes",
        "MATCH (n) RETURN n /* c */",
        "MATCH (n) RETURN n -- c",
        "MATCH (n) RETURN\0 n",
        "MATCH (n) RETURN '\ud800'",
        "MATCH (n) RETURN n LIMIT 99999999999999999999",
        "MATCH (n) RETURN " + "9" * 5000,
        "MATCH (n) WHERE " + "(" * 9_000,
        "MATCH (n) WHERE " + "(" * 4000 + "true" + ")" * 4000 + " RETURN n",
        "MATCH (n) WHERE " + "[" * 4000 + "]" * 4000 + " = 1 RETURN n",
        "MATCH (n) WHERE " + "ANY(x IN n.a WHERE " * 400 + "true" + ")" * 400 + " RETURN n",
        "MATCH (n) WHERE " + "(" * 10_000 + "true" + ")" * 10_000 + " RETURN n",
        "MATCH " + "(" * 10_000,
        "MATCH (n) RETURN '" + "x" * 1_000_000 + "'",
        "MATCH (a)" + "--(b)" * 30 + " RETURN a",
        "MATCH (n) WHERE n" + ".x" * 4_900 + " IS NULL RETURN n",
        "'" * 9_999,
        "`" * 9_999,
        "\\" * 9_999,
    ],
    ids=range(21),
)
def test_a_hostile_query_is_an_error_and_changes_nothing(kept: Graph, query: str) -> None:
    with pytest.raises(BadInput) as caught:
        kept.ask(query)
    assert len(str(caught.value)) < 400
    assert kept.names() == ["secret"]


def test_long_chains_that_are_not_deep_are_read(kept: Graph) -> None:
    for condition in (" OR ".join(["n.name = 'x'"] * 300), "NOT " * 1001 + "n.name = 'x'", "n" + ".x" * 30 + " IS NULL"):
        kept.ask(f"MATCH (n) WHERE {condition} RETURN n")


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for query in (text, f"MATCH (n) WHERE {text} RETURN n", f"MATCH (n {{name: '{text}'}}) RETURN n"):
        with suppress(BadInput):
            parse(query)


PIECES = ("MATCH", "(", ")", "n", ":", "Person", "-", "[", "]", ">", "<", "*", "..", "1", "2", "WHERE", "n.name", "=", "'x'", "AND", "NOT")
MORE = (
    "RETURN",
    "n",
    ",",
    "ORDER",
    "BY",
    "LIMIT",
    "SKIP",
    "count(",
    "DISTINCT",
    "IN",
    "nodes(",
    "IS",
    "NULL",
    "{",
    "}",
    "|",
    "path",
    "ANY(",
)


@given(st.lists(st.sampled_from(PIECES + MORE), max_size=30))
def test_any_words_of_the_language_are_answered_or_refused(words: list[str]) -> None:
    graph = Graph()
    for query in (" ".join(words), "MATCH (n) " + " ".join(words), "MATCH (n) RETURN " + " ".join(words)):
        with suppress(BadInput):
            graph.ask(query)
