"""The graph's tables, part of the memory file. A node or edge that is over keeps its row until it is deleted for good."""

TABLES = """
    CREATE TABLE nodes (
        n INTEGER PRIMARY KEY,
        space TEXT NOT NULL, principal TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, properties TEXT NOT NULL,
        label TEXT NOT NULL, source TEXT NOT NULL, turn TEXT NOT NULL, recorded_at INTEGER NOT NULL,
        ended_at INTEGER, ended_by TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX nodes_holding ON nodes (space, principal, name, kind) WHERE ended_at IS NULL;
    CREATE INDEX nodes_by_source ON nodes (source);
    CREATE INDEX nodes_by_turn ON nodes (turn);

    CREATE TABLE edges (
        n INTEGER PRIMARY KEY,
        src INTEGER NOT NULL, type TEXT NOT NULL, dst INTEGER NOT NULL, properties TEXT NOT NULL, confidence REAL NOT NULL,
        since INTEGER, until INTEGER,
        label TEXT NOT NULL, source TEXT NOT NULL, turn TEXT NOT NULL, recorded_at INTEGER NOT NULL,
        ended_at INTEGER, ended_by TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX edges_out ON edges (src, type, dst) WHERE ended_at IS NULL;
    CREATE INDEX edges_in ON edges (dst, type, src) WHERE ended_at IS NULL;
    CREATE INDEX edges_by_source ON edges (source);
    CREATE INDEX edges_by_turn ON edges (turn);
"""
