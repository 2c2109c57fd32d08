"""The tables of the memory file. All of them change in one transaction, together with how far the journal was applied.

    items     one row for each thing that was ever kept, messages of the transcript among them. What is over keeps its row, as history;
              what was deleted keeps it without its words, so that it cannot come up again. Several rows may have one id: versions of
              it, of which at most one holds.
    origins   which sources the label of an item names, and the step that made it where its words are another's: what "forget everything
              from there" looks at.
    words     the FTS5 index of items that hold, without the texts: `own` is the item with its date and speaker, `before` the message
              before it in the same conversation. Row numbers are those of items.
    vectors   little-endian float32 of unit length, by item and by what of it was embedded; with the model that made them.
    acts      the tools that a turn under way has used, until an episode is made of it.
    position  one row: the cursor of the last change of the journal that is in here, that of the one before it, and which change it is,
              so that another journal, or one of an earlier day, is not taken for its own.

The graph's own tables stand in `graph/schema.py`. Times are integer microseconds, UTC; labels, spans and lists are JSON.
"""

APPLICATION = 0x4461694E
SCHEMA = 3

TABLES = """
    CREATE TABLE items (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL, space TEXT NOT NULL, principal TEXT NOT NULL, kind TEXT NOT NULL,
        text TEXT NOT NULL, at INTEGER NOT NULL, label TEXT NOT NULL, is_trusted INTEGER NOT NULL,
        source TEXT NOT NULL, turn TEXT NOT NULL, span TEXT, conversation TEXT NOT NULL, speaker TEXT NOT NULL,
        previous INTEGER,
        subject TEXT NOT NULL, about TEXT NOT NULL, confidence REAL NOT NULL, supersedes TEXT NOT NULL, on_page INTEGER NOT NULL,
        standing TEXT NOT NULL, recorded_at INTEGER NOT NULL, ended_at INTEGER, ended_by TEXT NOT NULL,
        is_deleted INTEGER NOT NULL DEFAULT 0, uses INTEGER NOT NULL DEFAULT 0, used_at INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX items_holding ON items (space, principal, id) WHERE ended_at IS NULL;
    CREATE INDEX items_by_id ON items (id);
    CREATE INDEX items_by_source ON items (source);
    CREATE INDEX items_by_turn ON items (turn);
    CREATE INDEX items_by_subject ON items (space, principal, subject, about) WHERE subject <> '';
    CREATE INDEX items_by_time ON items (space, principal, kind, at);
    CREATE INDEX items_by_previous ON items (previous) WHERE previous IS NOT NULL;
    CREATE INDEX items_on_page ON items (space, principal, at) WHERE on_page = 1 AND ended_at IS NULL;
    CREATE INDEX items_replacing ON items (space, principal) WHERE supersedes <> '[]';
    CREATE INDEX items_by_end ON items (ended_by) WHERE ended_by <> '';
    CREATE INDEX items_by_speaker ON items (space, principal, speaker) WHERE speaker <> '';
    CREATE INDEX items_by_conversation ON items (space, conversation, n) WHERE kind = 'message';

    CREATE TABLE origins (source TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (source, n)) WITHOUT ROWID, STRICT;
    CREATE INDEX origins_by_item ON origins (n);

    CREATE VIRTUAL TABLE words USING fts5 (
        own, before, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
    );

    CREATE TABLE vectors (
        n INTEGER NOT NULL, aspect TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (n, aspect)
    ) WITHOUT ROWID, STRICT;

    CREATE TABLE acts (
        turn TEXT NOT NULL, step INTEGER NOT NULL, tool TEXT NOT NULL, code TEXT NOT NULL, PRIMARY KEY (turn, step)
    ) WITHOUT ROWID, STRICT;

    CREATE TABLE position (
        one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL, before TEXT NOT NULL DEFAULT '', name TEXT NOT NULL DEFAULT ''
    ) STRICT;
"""
