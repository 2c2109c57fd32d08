"""A graph in memory, to be told things and asked about them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw
import pytest
from pydantic import JsonValue

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import Answered, Edge, Node, Relate, Unrelate
from daimon.memory.graph import rows, schema
from daimon.memory.graph.ask import ask
from daimon.memory.graph.collect import Bounds
from daimon.memory.receipt import Receipt

NOON = datetime(2026, 3, 13, 12, tzinfo=UTC)
STRANGER = Label.of(Origin(Author.STRANGER, "web:evil.example"), readers=(OWNER,))
MINE = owned("terminal")
DEADLINE_S = 60.0
"""Where time is not what is asked about, a busy machine may take its time."""


def opened() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(schema.TABLES)
    return connection


@dataclass
class Graph:
    connection: apsw.Connection = field(default_factory=opened)
    steps: int = 0
    """How many were recorded: each a minute after the one before, the first at noon."""

    def receipt(self, label: Label = MINE, **changes: Any) -> Receipt:
        at = NOON + timedelta(minutes=self.steps)
        self.steps += 1
        values = {"space": HOME_SPACE, "principal": OWNER, "source": f"t1:{self.steps - 1}", "turn": "t1", "label": label, "at": at}
        return Receipt(**(values | changes))

    def node(self, kind: str, name: str, label: Label = MINE, is_derived: bool = False, **properties: JsonValue) -> Receipt:
        return self.relate(Relate(nodes=(Node(kind, name, properties),)), label, is_derived)

    def edge(self, src: str, type_: str, dst: str, label: Label = MINE, **about: Any) -> Receipt:
        """Ends are written `Kind:name`."""
        return self.relate(Relate(edges=(_edge(src, type_, dst, **about),)), label)

    def relate(self, operation: Relate, label: Label = MINE, is_derived: bool = False) -> Receipt:
        receipt = self.receipt(label)
        with self.connection:
            assert rows.relate(self.connection, receipt, operation, is_derived) == ()
        return receipt

    def end_node(self, kind: str, name: str, label: Label = MINE) -> None:
        with self.connection:
            rows.unrelate(self.connection, self.receipt(label), Unrelate(nodes=((kind, name),)))

    def end_edge(self, src: str, type_: str, dst: str, label: Label = MINE) -> None:
        with self.connection:
            rows.unrelate(self.connection, self.receipt(label), Unrelate(edges=(_edge(src, type_, dst),)))

    def rewind(self, to: datetime) -> None:
        with self.connection:
            rows.rewind(self.connection, self.receipt(), to)

    def ask(self, query: str, at: datetime = NOON + timedelta(hours=5), **bounds: Any) -> Answered:
        return ask(self.connection, HOME_SPACE, OWNER, query, at, Bounds(**{"timeout_s": DEADLINE_S} | bounds))

    def found(self, query: str, **about: Any) -> list[tuple[JsonValue, ...]]:
        return list(self.ask(query, **about).rows)

    def names(self, query: str = "MATCH (n) RETURN n.name ORDER BY n.name", **about: Any) -> list[JsonValue]:
        """Of an answer with one column."""
        return [name for (name,) in self.found(query, **about)]

    def words(self) -> str:
        """All that stands in the tables."""
        tables = ("nodes", "edges", "claims", "claim_origins")
        return repr([self.connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables])


def _edge(src: str, type_: str, dst: str, **about: Any) -> Edge:
    ends = [tuple(end.split(":")) for end in (src, dst)]
    return Edge((ends[0][0], ends[0][1]), type_, (ends[1][0], ends[1][1]), **about)


@pytest.fixture
def graph() -> Graph:
    return Graph()
