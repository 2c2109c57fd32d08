"""The graph, changed: what operations say becomes claims, and nodes and edges follow (`claims.py`).

Everything here works on the caller's connection, inside the caller's transaction. Applied in the order of the journal it gives the same
rows every time. What cannot be kept (`limits.py`) was refused by the tool before it was recorded; should it stand in the journal all the
same, it is left out, and said, since an error would stop all that comes after it.

Whoever is not trusted ends only what nobody trusted said. Ended claims are history. `delete_from` and `delete_source` leave no history.
"""

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

import apsw

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import stated
from daimon.abi.memory import Edge, Node, Relate, Unrelate
from daimon.memory.graph.claims import Claim, What, Word, add, fetched, made, settle, sources_of
from daimon.memory.graph.kinds import canonical
from daimon.memory.graph.limits import edge_fault, name_fault, node_fault, written
from daimon.memory.moments import micros
from daimon.memory.receipt import Receipt

_MERGED = ("label", "is_trusted", "source", "turn", "recorded_at", "ended_at", "ended_by")
_FIND_NODE = "SELECT n, ended_at, is_trusted FROM nodes WHERE space = ? AND principal = ? AND name = ? AND kind = ?"
_FIND_EDGE = "SELECT n FROM edges WHERE src = ? AND type = ? AND dst = ?"
_NEW_NODE = f"""
    INSERT INTO nodes (space, principal, kind, name, properties, {", ".join(_MERGED)}) VALUES ({", ".join("?" * 12)}) RETURNING n
"""
_NEW_EDGE = f"""
    INSERT INTO edges (src, type, dst, properties, confidence, since, until, {", ".join(_MERGED)})
    VALUES ({", ".join("?" * 14)}) RETURNING n
"""
_NAMING = "SELECT claim FROM claim_origins WHERE source = ?1"
_SAID_BY = "SELECT n FROM claims WHERE source IN (SELECT value FROM json_each(?2))"
_SAID_IN = "SELECT n FROM claims WHERE turn = ?3 AND turn <> ''"
_EDGES_AT = "SELECT n FROM edges WHERE (src = ?1 OR dst = ?1) AND ended_at IS NULL"


def relate(connection: apsw.Connection, receipt: Receipt, operation: Relate, is_derived: bool = False) -> tuple[str, ...]:
    """What was left out, in words. `is_derived`: a rule made it of what was said; it comes and goes with that, and a rewind leaves it."""
    faults = []
    for node in operation.nodes:
        if fault := node_fault(node):
            faults.append(fault)
        else:
            _put_node(connection, receipt, node, made(receipt, Word(written(node.properties)), is_derived))
    for edge in operation.edges:
        if fault := edge_fault(edge):
            faults.append(fault)
        else:
            _put_edge(connection, receipt, edge, is_derived)
    return tuple(faults)


def unrelate(connection: apsw.Connection, receipt: Receipt, operation: Unrelate) -> None:
    """What is not there stays away."""
    for edge in operation.edges:
        if not edge_fault(edge) and (n := _edge(connection, receipt, edge)) is not None:
            _end(connection, receipt, "edge", [n])
    for kind, name in operation.nodes:
        if name_fault(kind, name) or (found := _node(connection, receipt, kind, name)) is None:
            continue
        _end(connection, receipt, "node", [found[0]], is_settled=False)
        if not _holds(connection, found[0]):
            _end(connection, receipt, "edge", [n for (n,) in fetched(connection, _EDGES_AT, found[0])])
        settle(connection, "node", [found[0]])


def delete_from(connection: apsw.Connection, sources: Collection[str], turn: str = "") -> None:
    """All that these events, steps or amendments said, and that turn."""
    _delete(connection, "SELECT n FROM claims WHERE source IN (SELECT value FROM json_each(?))", json.dumps(list(sources)))
    if turn:
        _delete(connection, "SELECT n FROM claims WHERE turn = ? AND turn <> ''", turn)


def delete_source(connection: apsw.Connection, source: str) -> None:
    """All claims whose label names this source."""
    _delete(connection, "SELECT claim FROM claim_origins WHERE source = ?", source)


def count_from(connection: apsw.Connection, source: str, sources: Collection[str], turn: str = "") -> int:
    """How many claims `delete_source` and `delete_from` would delete together."""
    found = fetched(connection, f"{_NAMING} UNION {_SAID_BY} UNION {_SAID_IN}", source, json.dumps(list(sources)), turn)
    return len(found)


def rewind(connection: apsw.Connection, receipt: Receipt, to: datetime) -> None:
    """What was said after that ends; what was ended after that is said again, in a new claim with the words of the old one."""
    now = micros(receipt.at)
    later, ended = changed_since(connection, receipt.space, receipt.principal, to)
    for n, *_ in later:
        connection.execute("UPDATE claims SET ended_at = ?, ended_by = ? WHERE n = ?", (now, receipt.source, n))
    for n, node, edge in ended:
        claim = Claim(*fetched(connection, f"SELECT {', '.join(Claim._fields)} FROM claims WHERE n = ?", n)[0])
        again = claim._replace(recorded_at=now, ended_at=None, ended_by="")
        add(connection, "node" if edge is None else "edge", node if edge is None else edge, again)
    _settle_all(connection, [(node, edge) for _, node, edge in (*later, *ended)])


def changed_since(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, to: datetime) -> tuple[list[Any], list[Any]]:
    """The claims that came since, and those that ended since: each with its node and its edge."""
    whose = (str(space), str(principal), micros(to))
    later = fetched(connection, _SINCE + "claims.recorded_at > ?3 AND claims.ended_at IS NULL", *whose)
    ended = fetched(connection, _SINCE + "claims.recorded_at <= ?3 AND claims.ended_at > ?3", *whose)
    return later, ended


_SINCE = """
    SELECT claims.n, claims.node, claims.edge FROM claims LEFT JOIN edges ON edges.n = claims.edge
    JOIN nodes ON nodes.n = coalesce(claims.node, edges.src)
    WHERE nodes.space = ?1 AND nodes.principal = ?2 AND NOT claims.is_derived AND
"""


def _put_node(connection: apsw.Connection, receipt: Receipt, node: Node, claim: Claim) -> int:
    found = _node(connection, receipt, node.kind, node.name)
    if found is None:
        identity = (receipt.space, receipt.principal, canonical(node.kind), node.name, claim.properties)
        n = _inserted(connection, _NEW_NODE, (*identity, *(getattr(claim, field) for field in _MERGED)))
        add(connection, "node", n, claim)
        return n
    n, ended_at, is_trusted = found
    add(connection, "node", n, claim)
    if ended_at is not None or claim.properties != "{}" or claim.is_trusted > is_trusted:
        settle(connection, "node", [n])
    return n


def _put_edge(connection: apsw.Connection, receipt: Receipt, edge: Edge, is_derived: bool) -> None:
    since, until = (None if at is None else micros(at) for at in (edge.since, edge.until))
    claim = made(receipt, Word(written(edge.properties), float(edge.confidence), since, until), is_derived)
    mention = claim._replace(properties="{}", confidence=1.0, since=None, until=None)
    src, dst = (_mentioned(connection, receipt, end, mention) for end in (edge.src, edge.dst))
    n = connection.execute(_FIND_EDGE, (src, edge.type, dst)).get
    if n is None:
        said = (src, edge.type, dst, claim.properties, claim.confidence, claim.since, claim.until)
        n = _inserted(connection, _NEW_EDGE, (*said, *(getattr(claim, field) for field in _MERGED)))
        add(connection, "edge", n, claim)
    else:
        add(connection, "edge", n, claim)
        settle(connection, "edge", [n])


def _mentioned(connection: apsw.Connection, receipt: Receipt, end: tuple[str, str], mention: Claim) -> int:
    """The node at an end. It is there by somebody else's word already, unless this one is better."""
    found = _node(connection, receipt, *end)
    if found is not None and found[1] is None and (found[2] or not mention.is_trusted or _has_trusted(connection, found[0])):
        return found[0]
    return _put_node(connection, receipt, Node(*end), mention)


def _end(connection: apsw.Connection, receipt: Receipt, what: What, rows: list[int], is_settled: bool = True) -> None:
    """Ends the claims that this receipt may end."""
    change = f"UPDATE claims SET ended_at = ?, ended_by = ? WHERE {what} = ? AND ended_at IS NULL AND is_trusted <= ?"
    for n in rows:
        connection.execute(change, (micros(receipt.at), receipt.source, n, int(stated(receipt.label).is_trusted)))
    if is_settled:
        settle(connection, what, rows)


def _delete(connection: apsw.Connection, which: str, value: str) -> None:
    gone = fetched(connection, f"DELETE FROM claims WHERE n IN ({which}) RETURNING n, label, node, edge", value)
    for n, label, *_ in gone:
        for source in sources_of(label):
            connection.execute("DELETE FROM claim_origins WHERE source = ? AND claim = ?", (source, n))
    _settle_all(connection, [(node, edge) for *_, node, edge in gone])


def _settle_all(connection: apsw.Connection, changed: list[tuple[int | None, int | None]]) -> None:
    edges = sorted({edge for _, edge in changed if edge is not None})
    ends = fetched(connection, "SELECT src, dst FROM edges WHERE n IN (SELECT value FROM json_each(?))", json.dumps(edges))
    settle(connection, "edge", edges)
    settle(connection, "node", sorted({node for node, _ in changed if node is not None} | {end for both in ends for end in both}))


def _node(connection: apsw.Connection, receipt: Receipt, kind: str, name: str) -> tuple[int, int | None, int] | None:
    """Its row, when it ended, and whether it is trusted."""
    found: tuple[int, int | None, int] | None = connection.execute(
        _FIND_NODE, (receipt.space, receipt.principal, name, canonical(kind))
    ).fetchone()
    return found


def _edge(connection: apsw.Connection, receipt: Receipt, edge: Edge) -> int | None:
    src, dst = (_node(connection, receipt, *end) for end in (edge.src, edge.dst))
    if src is None or dst is None:
        return None
    n: int | None = connection.execute(_FIND_EDGE, (src[0], edge.type, dst[0])).get
    return n


def _holds(connection: apsw.Connection, node: int) -> bool:
    return connection.execute("SELECT 1 FROM claims WHERE node = ? AND ended_at IS NULL LIMIT 1", (node,)).get is not None


def _has_trusted(connection: apsw.Connection, node: int) -> bool:
    return connection.execute("SELECT 1 FROM claims WHERE node = ? AND is_trusted AND ended_at IS NULL LIMIT 1", (node,)).get is not None


def _inserted(connection: apsw.Connection, statement: str, values: tuple[object, ...]) -> int:
    return int(connection.execute(statement, values).get)
