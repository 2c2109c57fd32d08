"""What somebody said of a node or an edge, and what all of it comes to.

A claim is the word of one source. A node or edge is what its claims come to:

- It is there while one of them holds, by the first trusted one (an edge by the newest trusted one, which also says how sure and from when
  to when), or else by the first (newest) of the others.
- Of each property the newest trusted word counts; a stranger's only where nobody trusted said anything.
- Its label is the join of those words that are in it, and of no others: a stranger who adds nothing to what the owner said does not taint
  it.

What is over is merged in the same way from what is left of it, so that its row shows nothing that was deleted. `settle` makes rows follow
claims; whoever changes claims calls it, for edges before nodes: a node at the end of an edge that is there is there too, if need be by the
word of that edge.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import apsw

from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalDamaged
from daimon.abi.label import UNLABELLED, Label, join, stated
from daimon.memory.moments import micros
from daimon.memory.receipt import Receipt

What = Literal["node", "edge"]


@dataclass(frozen=True, slots=True)
class Word:
    """What a claim says of its node or edge."""

    properties: str = "{}"
    confidence: float = 1.0
    since: int | None = None
    until: int | None = None


class Claim(NamedTuple):
    """A row, as far as merging and copying need it."""

    n: int
    properties: str
    confidence: float
    since: int | None
    until: int | None
    label: str
    is_trusted: int
    is_derived: int
    source: str
    turn: str
    recorded_at: int
    ended_at: int | None
    ended_by: str


_FIELDS = ", ".join(Claim._fields)
_ADD = f"INSERT INTO claims (node, edge, {', '.join(Claim._fields[1:])}) VALUES ({', '.join('?' * 14)}) RETURNING n"
_OF = {what: f"SELECT {_FIELDS} FROM claims WHERE {what} = ? ORDER BY is_trusted, n" for what in ("node", "edge")}
_SAYING = {
    what: f"""
        SELECT {_FIELDS} FROM claims WHERE {what} = ?1 AND ended_at IS NULL AND (properties <> '{{}}' OR n IN (
            SELECT {pick}(n) FROM claims WHERE {what} = ?1 AND ended_at IS NULL GROUP BY is_trusted
        )) ORDER BY is_trusted, n
    """
    for what, pick in (("node", "min"), ("edge", "max"))
}
_AT = f"""
    SELECT {", ".join(f"claims.{field}" for field in Claim._fields)} FROM edges JOIN claims ON claims.edge = edges.n
    WHERE edges.src = ?1 OR edges.dst = ?1 ORDER BY claims.ended_at IS NOT NULL, claims.n LIMIT 1
"""
_NODE = """
    UPDATE nodes SET properties = ?, label = ?, is_trusted = ?, source = ?, turn = ?, recorded_at = ?, ended_at = ?, ended_by = ?
    WHERE n = ?
"""
_EDGE = """
    UPDATE edges SET confidence = ?, since = ?, until = ?,
        properties = ?, label = ?, is_trusted = ?, source = ?, turn = ?, recorded_at = ?, ended_at = ?, ended_by = ? WHERE n = ?
"""


def made(receipt: Receipt, word: Word, is_derived: bool) -> Claim:
    """The claim of this word by this receipt; it has no row yet."""
    label = stated(receipt.label)
    return Claim(
        n=0,
        properties=word.properties,
        confidence=word.confidence,
        since=word.since,
        until=word.until,
        label=_written(label),
        is_trusted=int(label.is_trusted),
        is_derived=int(is_derived),
        source=receipt.source,
        turn=receipt.turn,
        recorded_at=micros(receipt.at),
        ended_at=None,
        ended_by="",
    )


def add(connection: apsw.Connection, what: What, n: int, claim: Claim) -> None:
    of = (n, None) if what == "node" else (None, n)
    row = connection.execute(_ADD, (*of, *claim[1:])).get
    for source in sources_of(claim.label):
        connection.execute("INSERT INTO claim_origins VALUES (?, ?)", (source, row))


def settle(connection: apsw.Connection, what: What, rows: Iterable[int]) -> None:
    """Makes these nodes or edges what their claims come to."""
    for n in rows:
        claims = [Claim(*row) for row in fetched(connection, _SAYING[what], n)]
        if not claims and what == "node":
            claims = _by_an_edge(connection, n)
        if not claims:
            claims = [Claim(*row) for row in fetched(connection, _OF[what], n)]
        if claims:
            _write(connection, what, n, claims)
        else:
            connection.execute("DELETE FROM nodes WHERE n = ?" if what == "node" else "DELETE FROM edges WHERE n = ?", (n,))


def fetched(connection: apsw.Connection, statement: str, *values: Any) -> list[Any]:
    """The rows, whose types the statement knows."""
    return connection.execute(statement, values).fetchall()


def label_of(stored: str) -> Label:
    try:
        return stated(decode(Label, stored.encode()))
    except JournalDamaged:
        return UNLABELLED


def _by_an_edge(connection: apsw.Connection, node: int) -> list[Claim]:
    """The word of an edge for a node that has none of its own: one that holds, or, for a node that would leave the table, one that did."""
    found = fetched(connection, _AT, node)
    if not found:
        return []
    claim = Claim(*found[0])._replace(properties="{}", confidence=1.0, since=None, until=None)
    if claim.ended_at is not None and connection.execute("SELECT 1 FROM claims WHERE node = ?", (node,)).get is not None:
        return []
    add(connection, "node", node, claim)
    return [claim]


def _write(connection: apsw.Connection, what: What, n: int, claims: list[Claim]) -> None:
    """Claims come by trust and then by age, so later ones go over earlier ones."""
    trusted = [claim for claim in claims if claim.is_trusted] or claims
    by = trusted[0] if what == "node" else trusted[-1]
    properties: dict[str, object] = {}
    sayers: dict[str, Claim] = {}
    for claim in claims:
        for key, value in json.loads(claim.properties).items():
            properties[key] = value
            sayers[key] = claim
    label = _joined(tuple(sorted({by.label, *(claim.label for claim in sayers.values())})))
    text = json.dumps(properties, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    merged = (text, label, int(_parsed(label).is_trusted), by.source, by.turn, by.recorded_at, by.ended_at, by.ended_by, n)
    if what == "node":
        connection.execute(_NODE, merged)
    else:
        connection.execute(_EDGE, (by.confidence, by.since, by.until, *merged))


@lru_cache(1024)
def _joined(labels: tuple[str, ...]) -> str:
    return labels[0] if len(labels) == 1 else _written(join(map(label_of, labels)))


_parsed = lru_cache(1024)(label_of)


@lru_cache(1024)
def _written(label: Label) -> str:
    return encode(Label, label).decode()


@lru_cache(1024)
def sources_of(label: str) -> tuple[str, ...]:
    """All that a label names, each once."""
    return tuple(sorted({origin.source for origin in label_of(label).origins}))
