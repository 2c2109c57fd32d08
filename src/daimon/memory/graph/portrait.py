"""One thing of the graph with its neighbours, and which things there are. Reads only.

What the query language gives has one label for the whole answer; who looks at a thing wants to know of each relation whose word it is. So
these are statements of their own, with everything bound. As for queries, only what holds and is valid now is seen.
"""

import json
from datetime import datetime
from typing import Any

import apsw

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.survey import Relation, Said, Thing, Things
from daimon.memory.graph.claims import label_of
from daimon.memory.moments import micros, moment

Owner = tuple[SpaceId, PrincipalId]
MOST_RELATIONS = 200
_NODES = """
    SELECT n, kind, properties, label, source, recorded_at FROM nodes INDEXED BY nodes_by_name
    WHERE space = ? AND principal = ? AND name = ? AND ended_at IS NULL ORDER BY kind
"""
_RELATIONS = """
    SELECT ?1, e.type, o.kind, o.name, e.properties, e.confidence, e.since, e.until, e.label, e.source, e.recorded_at
    FROM json_each(?2) AS f CROSS JOIN edges AS e ON e.{near} = f.value CROSS JOIN nodes AS o ON o.n = e.{far}
    WHERE e.ended_at IS NULL AND (e.since IS NULL OR e.since <= ?3) AND (e.until IS NULL OR e.until > ?3)
    ORDER BY e.type, o.name LIMIT ?4
"""
_NAMES = """
    SELECT name, group_concat(kind, char(10)), sum(
        (SELECT count(*) FROM edges WHERE src = nodes.n AND ended_at IS NULL)
        + (SELECT count(*) FROM edges WHERE dst = nodes.n AND ended_at IS NULL))
    FROM nodes INDEXED BY nodes_by_name
    WHERE space = ? AND principal = ? AND ended_at IS NULL AND (? = '' OR instr(lower(name), lower(?))) GROUP BY name ORDER BY name LIMIT ?
"""
_SUBJECTS = """
    SELECT subject, count(*) FROM items INDEXED BY items_by_subject
    WHERE space = ? AND principal = ? AND subject <> '' AND kind = 'fact' AND ended_at IS NULL
        AND (? = '' OR instr(lower(subject), lower(?)))
    GROUP BY subject ORDER BY subject LIMIT ?
"""
_FACTS = """
    SELECT count(*) FROM items INDEXED BY items_by_subject
    WHERE space = ? AND principal = ? AND subject = ? AND subject <> '' AND kind = 'fact' AND ended_at IS NULL
"""


def nodes(connection: apsw.Connection, owner: Owner, name: str) -> tuple[list[int], tuple[Said, ...]]:
    rows: list[Any] = connection.execute(_NODES, (*owner, name)).fetchall()
    return [row[0] for row in rows], tuple(
        Said(kind, json.loads(properties), label_of(label), source, moment(at)) for _, kind, properties, label, source, at in rows
    )


def relations(connection: apsw.Connection, of: list[int], now: datetime) -> tuple[tuple[Relation, ...], bool]:
    """Those that go out first. Whether there are more."""
    found: list[Relation] = []
    for is_from, near, far in ((1, "src", "dst"), (0, "dst", "src")):
        asked = (is_from, json.dumps(of), micros(now), MOST_RELATIONS + 1 - len(found))
        found += [_relation(*row) for row in connection.execute(_RELATIONS.format(near=near, far=far), asked)]
    return tuple(found[:MOST_RELATIONS]), len(found) > MOST_RELATIONS


def _relation(is_from: int, type_: str, kind: str, name: str, *rest: Any) -> Relation:
    properties, confidence, since, until, label, source, at = rest
    return Relation(
        is_from=bool(is_from), type=type_, kind=kind, name=name, properties=json.loads(properties), confidence=confidence,
        since=None if since is None else moment(since), until=None if until is None else moment(until), label=label_of(label),
        source=source, at=moment(at),
    )  # fmt: skip


def things(connection: apsw.Connection, owner: Owner, text: str, limit: int) -> Things:
    """By name. Both lists are cut alike, so what stands before the cut is complete."""
    asked = (*owner, text, text, limit + 1)
    known: dict[str, Thing] = {}
    for name, kinds, relations_ in connection.execute(_NAMES, asked):
        facts: Any = connection.execute(_FACTS, (*owner, name)).get
        known[str(name)] = Thing(str(name), tuple(sorted(str(kinds).split("\n"))), facts, int(str(relations_)))
    for subject, facts in connection.execute(_SUBJECTS, asked):
        known.setdefault(str(subject), Thing(str(subject), (), int(str(facts)), 0))
    found = [known[name] for name in sorted(known)]
    return Things(tuple(found[:limit]), len(found) > limit)
