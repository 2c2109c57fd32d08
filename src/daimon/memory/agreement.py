"""Do the stores in the memory file agree with each other? Told in words, for a doctor, a test or a benchmark; nothing is changed.

All of them change in one transaction, so any disagreement is a fault of this program or of the disk, and the cure is the same: delete the
file, and it is made again from the journal. Whether the rows are those of the journal is another question: `content` gives what a file
says, without row numbers, to compare a worn file with one that was just made from the start.
"""

import json
from typing import Any

import apsw

from daimon.memory.items import read_label

MOST_TOLD = 20
LABELS_READ = 20_000
"""At most so many of the newest labels are compared with their origins."""

_CHECKS = (
    (
        "item {} holds and is not in the index of words",
        "SELECT n FROM items WHERE ended_at IS NULL AND n NOT IN (SELECT rowid FROM words)",
    ),
    ("the index of words has row {}, which does not hold", "SELECT rowid FROM words WHERE rowid NOT IN ({live})"),
    ("row {} has a vector and does not hold", "SELECT DISTINCT n FROM vectors WHERE n NOT IN ({live})"),
    ("row {} has origins and was deleted", "SELECT DISTINCT n FROM origins WHERE n NOT IN (SELECT n FROM items WHERE is_deleted = 0)"),
    (
        "item {} was deleted and has words left",
        "SELECT n FROM items WHERE is_deleted = 1 AND text || subject || about || speaker || conversation <> ''",
    ),
    (
        "item {} has a standing that does not fit its end",
        """SELECT n FROM items WHERE (ended_at IS NULL) <> (standing IN ('holds', 'disputed'))
             AND NOT (kind = 'value' AND standing = 'disputed') OR is_deleted = 1 AND ended_at IS NULL""",
    ),
    (
        "message {} follows one that is not there, or comes later, or is another's",
        """SELECT i.n FROM items i LEFT JOIN items p ON p.n = i.previous AND p.is_deleted = 0 AND p.kind = 'message' AND p.n < i.n
             AND (i.space, i.principal, i.conversation) = (p.space, p.principal, p.conversation)
           WHERE i.previous IS NOT NULL AND p.n IS NULL""",
    ),
    (
        "fact {} is the owner's second word about one thing, and both hold",
        """SELECT max(n) FROM items WHERE kind = 'fact' AND about <> '' AND ended_at IS NULL AND is_trusted = 1
           GROUP BY space, principal, subject, about HAVING count(*) > 1""",
    ),
    ("edge {} is between nodes that are not there", "SELECT n FROM edges WHERE src NOT IN ({nodes}) OR dst NOT IN ({nodes})"),
    (
        "edge {} holds, and a node of it does not",
        "SELECT n FROM edges WHERE ended_at IS NULL AND (src IN ({over}) OR dst IN ({over}))",
    ),
)
_PARTS = {
    "live": "SELECT n FROM items WHERE ended_at IS NULL",
    "nodes": "SELECT n FROM nodes",
    "over": "SELECT n FROM nodes WHERE ended_at IS NOT NULL",
}


def disagreements(connection: apsw.Connection) -> list[str]:
    """What does not fit together, the first of each kind; empty if all does."""
    told = []
    for text, query in _CHECKS:
        rows: list[Any] = connection.execute(query.format(**_PARTS)).fetchall()
        told += [text.format(n) for (n,) in rows[:MOST_TOLD]]
    told += _labels(connection)
    told += _index(connection)
    return told


def content(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    """What was not deleted: every row of every store, sorted, with ids in the place of row numbers. Vectors come later and are left out."""
    columns = """i.space, i.principal, i.id, i.kind, i.text, i.at, i.label, i.is_trusted, i.source, i.turn, i.span, i.conversation,
        i.speaker, p.id, i.subject, i.about, i.confidence, i.supersedes, i.on_page, i.standing, i.recorded_at, i.ended_at, i.ended_by,
        i.uses, i.used_at"""
    rows: list[Any] = connection.execute(
        f"SELECT {columns} FROM items i LEFT JOIN items p ON p.n = i.previous WHERE i.is_deleted = 0"
    ).fetchall()
    rows += connection.execute("SELECT 'origin', i.id, o.source FROM origins o JOIN items i USING (n)").fetchall()
    rows += connection.execute("SELECT 'node', space, principal, kind, name, properties, label, source, ended_at FROM nodes").fetchall()
    rows += connection.execute(
        """SELECT 'edge', s.kind, s.name, e.type, d.kind, d.name, e.properties, e.label, e.source, e.ended_at
           FROM edges e JOIN nodes s ON s.n = e.src JOIN nodes d ON d.n = e.dst"""
    ).fetchall()
    return sorted(rows, key=repr)


def _labels(connection: apsw.Connection) -> list[str]:
    query = """SELECT n, label, is_trusted, (SELECT json_group_array(source) FROM origins o WHERE o.n = items.n) FROM items
        WHERE is_deleted = 0 ORDER BY n DESC LIMIT ?"""
    told = []
    for n, stored, is_trusted, origins in connection.execute(query, (LABELS_READ,)):
        label = read_label(str(stored))
        if bool(is_trusted) is not label.is_trusted:
            told.append(f"item {n} counts as {'trusted' if is_trusted else 'not trusted'}, and its label says otherwise")
        if not {origin.source for origin in label.origins} <= set(json.loads(str(origins))):
            told.append(f"item {n} has a label with an origin that is not in the list of origins")
    return told[:MOST_TOLD]


def _index(connection: apsw.Connection) -> list[str]:
    """FTS5's own look at its segments."""
    try:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    except apsw.CorruptError as damaged:
        return [f"the index of words is damaged: {damaged}"]
    except apsw.ReadOnlyError:
        return []
    return []
