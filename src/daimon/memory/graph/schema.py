"""The graph's tables, part of the memory file.

    claims         one row for each time that somebody said that a node or an edge is there, with what they said of it. This is what is
                   kept, ended, taken back and deleted; all else here follows from it.
    claim_origins  which sources the label of a claim names.
    nodes, edges   what the claims come to, merged: what queries read. A row holds while a claim for it does. One whose claims are all over
                   keeps its row as history; one without any claim left is gone.

A node is one row for each (space, principal, kind, name), an edge one for each (src, type, dst), for good: edges and claims point at row
numbers. Both ends of an edge that holds, hold, and belong to one space and principal. `source`, `turn` and `recorded_at` of a node or edge
are those of the claim that it is there by. The indexes of edges hold all that a walk asks of an edge, so that it reads no other page;
that there is one row for each (src, type, dst) is kept by `rows.py`, the only one that writes.

Times are integer microseconds, UTC; labels and properties are JSON.
"""

TABLES = """
    CREATE TABLE nodes (
        n INTEGER PRIMARY KEY,
        space TEXT NOT NULL, principal TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, properties TEXT NOT NULL,
        label TEXT NOT NULL, is_trusted INTEGER NOT NULL, source TEXT NOT NULL, turn TEXT NOT NULL, recorded_at INTEGER NOT NULL,
        ended_at INTEGER, ended_by TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX nodes_by_name ON nodes (space, principal, name, kind);
    CREATE INDEX nodes_by_kind ON nodes (space, principal, kind) WHERE ended_at IS NULL;

    CREATE TABLE edges (
        n INTEGER PRIMARY KEY,
        src INTEGER NOT NULL, type TEXT NOT NULL, dst INTEGER NOT NULL, properties TEXT NOT NULL, confidence REAL NOT NULL,
        since INTEGER, until INTEGER,
        label TEXT NOT NULL, is_trusted INTEGER NOT NULL, source TEXT NOT NULL, turn TEXT NOT NULL, recorded_at INTEGER NOT NULL,
        ended_at INTEGER, ended_by TEXT NOT NULL
    ) STRICT;
    CREATE INDEX edges_out ON edges (src, type, dst, ended_at, since, until);
    CREATE INDEX edges_in ON edges (dst, type, src, ended_at, since, until);

    CREATE TABLE claims (
        n INTEGER PRIMARY KEY,
        node INTEGER, edge INTEGER CHECK ((node IS NULL) <> (edge IS NULL)),
        properties TEXT NOT NULL, confidence REAL NOT NULL, since INTEGER, until INTEGER,
        label TEXT NOT NULL, is_trusted INTEGER NOT NULL, is_derived INTEGER NOT NULL,
        source TEXT NOT NULL, turn TEXT NOT NULL, recorded_at INTEGER NOT NULL,
        ended_at INTEGER, ended_by TEXT NOT NULL
    ) STRICT;
    CREATE INDEX claims_of_nodes ON claims (node, is_trusted) WHERE node IS NOT NULL;
    CREATE INDEX claims_of_edges ON claims (edge, is_trusted) WHERE edge IS NOT NULL;
    CREATE INDEX claims_by_source ON claims (source);
    CREATE INDEX claims_by_turn ON claims (turn) WHERE turn <> '';

    CREATE TABLE claim_origins (source TEXT NOT NULL, claim INTEGER NOT NULL, PRIMARY KEY (source, claim)) WITHOUT ROWID, STRICT;
"""
