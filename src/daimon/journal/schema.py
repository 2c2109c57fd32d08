"""The tables, and how an older file becomes today's.

Format on disk. `pos` is one counter over events, steps, amendments and outgoing messages, in order of commit; it never leaves this
package except inside an opaque cursor. The row that orders a thing and its payload stand apart: `payloads` holds what was
said, keyed by `pos`, and can be emptied without touching order, number or hash. Times are integer microseconds, UTC,
money is integer billionths of a dollar; a cost that is missing is unknown. `user_version` counts migrations; `application_id` says
that the file is ours.

Each migration runs in one transaction. The list only grows; an old file goes through what it has not seen. A file with a higher
number is from a newer release and is refused.
"""

APPLICATION_ID = 0x4441494D  # "DAIM"

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE conversations (
        space TEXT NOT NULL, name TEXT NOT NULL,
        next_seq INTEGER NOT NULL DEFAULT 0,
        epoch INTEGER NOT NULL DEFAULT 0,
        holder TEXT, boot TEXT, lease_until REAL,
        PRIMARY KEY (space, name)) WITHOUT ROWID;

    CREATE TABLE events (
        pos INTEGER PRIMARY KEY,
        space TEXT NOT NULL, conversation TEXT NOT NULL, seq INTEGER NOT NULL,
        id TEXT NOT NULL UNIQUE,
        source TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL,
        label BLOB, reply_to BLOB, parent TEXT, resolves TEXT,
        occurred_at INTEGER NOT NULL, received_at INTEGER NOT NULL,
        turn TEXT, taken INTEGER NOT NULL, schema INTEGER NOT NULL);
    CREATE INDEX events_waiting ON events (space, conversation, seq) WHERE taken = 0;

    CREATE TABLE intake_keys (
        space TEXT NOT NULL, source TEXT NOT NULL, key TEXT NOT NULL,
        event TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (space, source, key)) WITHOUT ROWID;

    CREATE TABLE payloads (
        pos INTEGER PRIMARY KEY, hash BLOB NOT NULL, codec INTEGER NOT NULL, body BLOB,
        erased_at INTEGER, reason TEXT);

    CREATE TABLE turns (
        id TEXT PRIMARY KEY,
        space TEXT NOT NULL, conversation TEXT NOT NULL, event TEXT NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL,
        root TEXT NOT NULL, parent TEXT, forked_from TEXT, effects TEXT NOT NULL, pins BLOB NOT NULL, label BLOB,
        state TEXT NOT NULL, ending TEXT, created_at INTEGER NOT NULL, ended_at INTEGER,
        is_stopped INTEGER NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0, schema INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX turns_by_conversation ON turns (space, conversation, id);
    CREATE INDEX turns_open ON turns (space, conversation, state) WHERE state IN ('running', 'parked');
    CREATE INDEX turns_children ON turns (parent) WHERE parent IS NOT NULL;

    CREATE TABLE steps (
        pos INTEGER PRIMARY KEY,
        turn TEXT NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL,
        space TEXT NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL,
        label BLOB, at INTEGER NOT NULL, schema INTEGER NOT NULL);
    CREATE UNIQUE INDEX steps_by_turn ON steps (turn, n);

    CREATE TABLE waits (
        turn TEXT NOT NULL, step TEXT NOT NULL, kind TEXT NOT NULL,
        space TEXT NOT NULL, conversation TEXT NOT NULL, until INTEGER,
        PRIMARY KEY (turn, step, kind)) WITHOUT ROWID;
    CREATE INDEX waits_until ON waits (until) WHERE until IS NOT NULL;

    CREATE TABLE timers (
        space TEXT NOT NULL, id TEXT NOT NULL, conversation TEXT NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL,
        fire_at INTEGER NOT NULL, about TEXT NOT NULL, label BLOB, reply_to BLOB, set_by TEXT NOT NULL, state TEXT NOT NULL,
        PRIMARY KEY (space, id)) WITHOUT ROWID;
    CREATE INDEX timers_due ON timers (fire_at) WHERE state = 'set';

    CREATE TABLE outbox (
        pos INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        space TEXT NOT NULL, conversation TEXT NOT NULL, turn TEXT NOT NULL, channel TEXT NOT NULL, dest TEXT NOT NULL,
        is_event INTEGER NOT NULL,
        label BLOB, created_at INTEGER NOT NULL, schema INTEGER NOT NULL, state TEXT NOT NULL, boot TEXT,
        attempts INTEGER NOT NULL DEFAULT 0, retry_at INTEGER, note TEXT NOT NULL DEFAULT '');
    CREATE INDEX outbox_open ON outbox (pos) WHERE state IN ('queued', 'sending');

    CREATE TABLE erasures (pos INTEGER PRIMARY KEY, turn TEXT NOT NULL, at INTEGER NOT NULL, reason TEXT NOT NULL);

    CREATE TABLE dead_letters (
        pos INTEGER PRIMARY KEY, source TEXT NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL, at INTEGER NOT NULL);

    CREATE TABLE blobs (
        hash BLOB PRIMARY KEY, codec INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB, first_pos INTEGER, at INTEGER NOT
        NULL) WITHOUT ROWID;
    CREATE INDEX blobs_by_first ON blobs (first_pos) WHERE first_pos IS NOT NULL;
    CREATE TABLE blob_refs (hash BLOB NOT NULL, pos INTEGER NOT NULL, PRIMARY KEY (hash, pos)) WITHOUT ROWID;
    CREATE INDEX blob_refs_by_pos ON blob_refs (pos);
    """,
    """
    ALTER TABLE turns ADD COLUMN job TEXT NOT NULL DEFAULT '';
    ALTER TABLE turns ADD COLUMN origin TEXT NOT NULL DEFAULT '';
    ALTER TABLE turns ADD COLUMN origin_agent TEXT NOT NULL DEFAULT '';
    UPDATE turns SET origin = conversation, origin_agent = agent;

    CREATE TABLE accounts (
        space TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL,
        tokens INTEGER NOT NULL DEFAULT 0, cost INTEGER NOT NULL DEFAULT 0,
        held_tokens INTEGER NOT NULL DEFAULT 0, held_cost INTEGER NOT NULL DEFAULT 0,
        more_tokens INTEGER NOT NULL DEFAULT 0, more_cost INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (space, scope, key)) WITHOUT ROWID;

    CREATE TABLE calls (
        turn TEXT NOT NULL, n INTEGER NOT NULL,
        space TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL, day TEXT NOT NULL, month TEXT NOT NULL,
        accounts TEXT NOT NULL, state TEXT NOT NULL, held_tokens INTEGER NOT NULL, held_cost INTEGER,
        input_tokens INTEGER NOT NULL DEFAULT 0, cached_tokens INTEGER NOT NULL DEFAULT 0, cache_write_tokens INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0, cost INTEGER, at INTEGER NOT NULL,
        PRIMARY KEY (turn, n)) WITHOUT ROWID;
    CREATE INDEX calls_by_day ON calls (space, day);
    CREATE INDEX calls_held ON calls (turn) WHERE state = 'held';

    CREATE TABLE shortages (
        turn TEXT PRIMARY KEY,
        space TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, since INTEGER NOT NULL, is_asking INTEGER NOT NULL,
        model TEXT NOT NULL, tokens INTEGER NOT NULL, cost INTEGER, limit_tokens INTEGER, limit_cost INTEGER) WITHOUT ROWID;
    CREATE INDEX shortages_by_account ON shortages (space, scope, key, since);
    """,
    """
    CREATE TABLE grants (
        space TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL, at INTEGER NOT NULL, revoked_at INTEGER, revoked_by TEXT,
        PRIMARY KEY (space, id)) WITHOUT ROWID;

    ALTER TABLE outbox ADD COLUMN not_before INTEGER;
    CREATE INDEX events_late ON events (turn) WHERE taken = 2;
    """,
    """
    CREATE TABLE amendments (
        pos INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        space TEXT NOT NULL, principal TEXT NOT NULL, at INTEGER NOT NULL, label BLOB, reason TEXT NOT NULL, schema INTEGER NOT NULL);

    ALTER TABLE erasures ADD COLUMN only TEXT NOT NULL DEFAULT '[]';

    CREATE TABLE quotes (ref TEXT NOT NULL, hash BLOB NOT NULL, pos INTEGER NOT NULL, PRIMARY KEY (ref, hash)) WITHOUT ROWID;

    CREATE TABLE residues (n INTEGER PRIMARY KEY, at INTEGER NOT NULL);
    INSERT INTO residues (at) SELECT MAX(at) FROM erasures HAVING COUNT(*) > 0;
    """,
    """
    CREATE TABLE people (
        space TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, rank TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (space, id)) WITHOUT ROWID;
    CREATE TABLE contacts (
        space TEXT NOT NULL, channel TEXT NOT NULL, sender TEXT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL,
        place TEXT NOT NULL, paired_at INTEGER NOT NULL, last_at INTEGER,
        PRIMARY KEY (space, channel, sender)) WITHOUT ROWID;
    CREATE TABLE knocks (
        space TEXT NOT NULL, channel TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL, place TEXT NOT NULL,
        times INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
        PRIMARY KEY (space, channel, sender)) WITHOUT ROWID;
    CREATE TABLE invitations (
        space TEXT NOT NULL, hash BLOB NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL, rank TEXT NOT NULL,
        until INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, used_at INTEGER,
        PRIMARY KEY (space, hash)) WITHOUT ROWID;
    CREATE TABLE introductions (
        pos INTEGER PRIMARY KEY, space TEXT NOT NULL, what TEXT NOT NULL, person TEXT NOT NULL, about TEXT NOT NULL, by TEXT NOT NULL,
        at INTEGER NOT NULL);

    CREATE TABLE automations (
        space TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL, label BLOB, by TEXT NOT NULL, at INTEGER NOT NULL,
        version INTEGER NOT NULL DEFAULT 1, state BLOB, ceased_at INTEGER,
        PRIMARY KEY (space, id)) WITHOUT ROWID;
    CREATE TABLE ticks (
        space TEXT NOT NULL, automation TEXT NOT NULL, due INTEGER NOT NULL, at INTEGER NOT NULL,
        outcome TEXT NOT NULL, why TEXT NOT NULL, event TEXT NOT NULL, by_hand INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (space, automation, due)) WITHOUT ROWID;
    CREATE INDEX ticks_by_time ON ticks (space, at);
    CREATE INDEX ticks_with_event ON ticks (space, automation, due) WHERE event <> '';

    CREATE TABLE hooks (
        space TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, label BLOB, by TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (space, name)) WITHOUT ROWID;
    CREATE TABLE deliveries (
        n INTEGER PRIMARY KEY, space TEXT NOT NULL, hook TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
        outcome TEXT NOT NULL, why TEXT NOT NULL, event TEXT NOT NULL, body BLOB);
    CREATE INDEX deliveries_by_hook ON deliveries (space, hook, n);

    ALTER TABLE outbox ADD COLUMN done INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE outbox ADD COLUMN unsure TEXT NOT NULL DEFAULT '';
    CREATE INDEX outbox_places ON outbox (channel, dest, pos) WHERE state IN ('queued', 'sending');
    CREATE TABLE sent (
        channel TEXT NOT NULL, dest TEXT NOT NULL, ref TEXT NOT NULL, key TEXT NOT NULL, piece INTEGER NOT NULL,
        PRIMARY KEY (channel, dest, ref)) WITHOUT ROWID;
    CREATE INDEX sent_by_key ON sent (key);
    CREATE TABLE kept (channel TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (channel, name)) WITHOUT ROWID;
    """,
    """
    CREATE TABLE devices (
        id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, rights TEXT NOT NULL, by TEXT NOT NULL,
        made_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, revoked_at INTEGER) WITHOUT ROWID;
    CREATE TABLE links (
        hash BLOB PRIMARY KEY, name TEXT NOT NULL, rights TEXT NOT NULL, until INTEGER NOT NULL, used_at INTEGER) WITHOUT ROWID;
    CREATE TABLE requests (
        code TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, address TEXT NOT NULL,
        made_at INTEGER NOT NULL, until INTEGER NOT NULL, rights TEXT) WITHOUT ROWID;
    CREATE TABLE acts (
        n INTEGER PRIMARY KEY, at INTEGER NOT NULL, by TEXT NOT NULL, name TEXT NOT NULL, did TEXT NOT NULL, about TEXT NOT NULL,
        outcome TEXT NOT NULL);
    """,
    """
    CREATE INDEX turns_by_state ON turns (space, state, id);
    CREATE INDEX turns_by_job ON turns (space, job, id) WHERE job <> '';
    CREATE INDEX steps_asking ON steps (turn) WHERE kind IN ('question', 'started');
    """,
)
