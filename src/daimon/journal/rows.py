"""Rows to types and back. The only place that knows which column holds what.

A payload up to 64 KiB stands in `payloads`, compressed where that pays; a larger one stands in `blobs` under its hash and the
payload row only names it. An erased payload reads as `Erased`. A missing label reads as untrusted.
"""

import hashlib
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any

import apsw
from pydantic import TypeAdapter

from daimon.abi.codec import adapter, decode, encode
from daimon.abi.errors import JournalDamaged
from daimon.abi.event import SCHEMA, Address, Body, Erased, Event, FromAgent, Said
from daimon.abi.ids import AgentId, EventId, Key, PrincipalId, SpaceId, StepRef, TurnId
from daimon.abi.label import Label, stated
from daimon.abi.memory import AmendedBy, Amendment
from daimon.abi.message import Audio, File, Image, ToolResult
from daimon.abi.step import Happened, Replied, Step, StepBody
from daimon.abi.turn import Ending, Pins, State, Turn

PLAIN, ZLIB, IN_BLOBS, ROPE = 0, 1, 2, 3
COMPRESS_FROM = 4_096
"""Below this, packing costs more than writing the bytes."""
BLOB_FROM = 64 * 1024
YOUNG_US = 6 * 3_600 * 1_000_000
"""A blob that is put again is made young again, but not with every call."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def moment(us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=us)


@dataclass(frozen=True, slots=True)
class Packed:
    """A value as it is stored: compressed where that pays."""

    digest: bytes
    codec: int
    size: int
    body: bytes


def packed(data: bytes) -> Packed:
    digest = hashlib.sha256(data).digest()
    if len(data) >= COMPRESS_FROM and len(small := zlib.compress(data, 1)) < len(data):
        return Packed(digest, ZLIB, len(data), small)
    return Packed(digest, PLAIN, len(data), data)


def unpack(digest: bytes, codec: int, body: bytes) -> bytes:
    """The value, if its bytes are those of its hash: SQLite does not notice every fault of a disk."""
    try:
        data = zlib.decompress(body) if codec == ZLIB else body
    except zlib.error as broken:
        raise JournalDamaged(f"the stored value {digest.hex()} cannot be unpacked: {broken}") from broken
    if hashlib.sha256(data).digest() != digest:
        raise JournalDamaged(f"the stored value {digest.hex()} has other bytes than it was written with")
    return data


# -- payloads ----------------------------------------------------------------------------------------------------------


def put_payload(db: apsw.Connection, pos: int, value: Packed, at: int) -> None:
    codec, body = value.codec, value.body
    if value.size > BLOB_FROM:
        put_blob(db, value, pos, at)
        db.execute("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", (value.digest, pos))
        codec, body = IN_BLOBS, value.digest
    db.execute("INSERT INTO payloads (pos, hash, codec, body) VALUES (?, ?, ?, ?)", (pos, value.digest, codec, body))


def put_blob(db: apsw.Connection, value: Packed, pos: int | None, at: int) -> None:
    """Kept once. Words that were erased and are said again are kept again."""
    db.execute(
        """INSERT INTO blobs VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET
           at = excluded.at, codec = excluded.codec, body = excluded.body, first_pos = IIF(body IS NULL, excluded.first_pos, first_pos)
           WHERE body IS NULL OR at < excluded.at - ?""",
        (value.digest, value.codec, value.size, value.body, pos, at, YOUNG_US),
    )


PAYLOAD = """p.hash, p.erased_at, p.reason,
    CASE p.codec WHEN 2 THEN (SELECT b.codec FROM blobs b WHERE b.hash = p.body) ELSE p.codec END,
    CASE p.codec WHEN 2 THEN (SELECT b.body FROM blobs b WHERE b.hash = p.body) ELSE p.body END"""
"""The columns of a payload, for a query that joins `payloads p`."""


def read_payload(kind: Any, columns: tuple[Any, ...], schema: int) -> Any:
    digest, erased_at, reason, codec, body = columns
    if body is None:
        return Erased(digest.hex(), moment(erased_at or 0), reason or "its blob was erased")
    return decode(kind, unpack(digest, codec, body), schema)


def _refer(db: apsw.Connection, pos: int, body: object) -> None:
    """A row keeps the attachments that it names."""
    match body:
        case Said(parts=parts) | FromAgent(parts=parts) | Replied(parts=parts) | Happened(result=ToolResult(parts=parts)):
            for part in parts:
                if isinstance(part, Image | Audio | File):
                    with suppress(ValueError):  # a name that is no hash keeps nothing
                        db.execute("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", (bytes.fromhex(part.blob), pos))
        case _:
            pass


# -- labels ------------------------------------------------------------------------------------------------------------


@lru_cache(1_024)
def write_label(label: Label) -> bytes:
    return encode(Label, label)


def read_label(data: bytes | None) -> Label:
    return stated(None if data is None else decode(Label, data))


@lru_cache(1_024)
def _write_address(address: Address) -> bytes:
    return encode(Address, address)


# -- events ------------------------------------------------------------------------------------------------------------

EVENT = f"""SELECT e.id, e.space, e.conversation, e.source, e.key, e.principal, e.agent, e.label, e.reply_to, e.parent, e.resolves,
    e.occurred_at, e.received_at, e.schema, {PAYLOAD} FROM events e JOIN payloads p USING (pos)"""


@cache
def _bodies() -> "TypeAdapter[Any]":
    """Looked up once: to find it by its type takes as long as a statement."""
    return adapter(Body)


def put_event(db: apsw.Connection, pos: int, seq: int, event: Event, turn: TurnId | None, taken: int) -> None:
    received = micros(event.received_at)
    db.execute(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            pos, event.space, event.conversation, seq, event.id, event.source, event.key, event.body.kind, event.principal, event.agent,
            write_label(event.label), None if event.reply_to is None else _write_address(event.reply_to),
            None if event.parent is None else str(event.parent), None if event.resolves is None else str(event.resolves),
            received if event.occurred_at is event.received_at else micros(event.occurred_at), received, turn, taken, event.schema,
        ),
    )  # fmt: skip
    put_payload(db, pos, packed(_bodies().dump_json(event.body)), received)
    _refer(db, pos, event.body)


def read_event(row: tuple[Any, ...]) -> Event:
    id_, space, conversation, source, key, principal, agent, label, reply_to, parent, resolves, occurred, received, schema = row[:14]
    return Event(
        id=EventId(id_), space=SpaceId(space), conversation=conversation, source=source, key=Key(key),
        principal=PrincipalId(principal), agent=AgentId(agent), label=read_label(label),
        reply_to=None if reply_to is None else decode(Address, reply_to),
        parent=None if parent is None else StepRef.parse(parent), resolves=None if resolves is None else StepRef.parse(resolves),
        occurred_at=moment(occurred), received_at=moment(received), schema=SCHEMA, body=read_payload(Body, row[14:], schema),
    )  # fmt: skip


# -- steps -------------------------------------------------------------------------------------------------------------

STEP = f"SELECT s.turn, s.n, s.space, s.principal, s.agent, s.label, s.at, s.schema, {PAYLOAD} FROM steps s JOIN payloads p USING (pos)"


@dataclass(frozen=True, slots=True)
class Written:
    """A step with its bytes: made by whoever records it, so that the one writer only writes."""

    step: Step
    payload: Packed


def written(step: Step) -> Written:
    return Written(step, packed(encode(StepBody, step.body)))


def put_step(db: apsw.Connection, pos: int, made: Written) -> None:
    step, at = made.step, micros(made.step.at)
    db.execute(
        "INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (pos, step.turn, step.n, step.body.kind, step.space, step.principal, step.agent, write_label(step.label), at, step.schema),
    )
    put_payload(db, pos, made.payload, at)
    _refer(db, pos, step.body)


def read_step(row: tuple[Any, ...]) -> Step:
    turn, n, space, principal, agent, label, at, schema = row[:8]
    return Step(
        turn=TurnId(turn), n=n, space=SpaceId(space), principal=PrincipalId(principal), agent=AgentId(agent), label=read_label(label),
        at=moment(at), schema=SCHEMA, body=read_payload(StepBody, row[8:], schema),
    )  # fmt: skip


# -- amendments --------------------------------------------------------------------------------------------------------

AMENDMENT = f"SELECT a.id, a.space, a.principal, a.at, a.label, a.reason, a.schema, {PAYLOAD} FROM amendments a JOIN payloads p USING (pos)"
Amending = tuple[AmendedBy, ...]


def put_amendment(db: apsw.Connection, pos: int, amendment: Amendment) -> None:
    at = micros(amendment.at)
    db.execute(
        "INSERT INTO amendments VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (pos, amendment.id, amendment.space, amendment.principal, at, write_label(amendment.label), amendment.reason, SCHEMA),
    )
    put_payload(db, pos, packed(encode(Amending, amendment.operations)), at)


def read_amendment(row: tuple[Any, ...]) -> Amendment:
    """One that was erased says nothing any more."""
    id_, space, principal, at, label, reason, schema = row[:7]
    operations = read_payload(Amending, row[7:], schema)
    return Amendment(
        id=id_, space=SpaceId(space), principal=PrincipalId(principal), at=moment(at), label=read_label(label), reason=reason,
        operations=() if isinstance(operations, Erased) else operations,
    )  # fmt: skip


# -- turns -------------------------------------------------------------------------------------------------------------

TURN = """SELECT id, space, conversation, event, principal, agent, root, parent, forked_from, effects, pins, label, state, ending,
    created_at, ended_at, job, origin, origin_agent FROM turns"""


def put_turn(db: apsw.Connection, turn: Turn) -> None:
    db.execute(
        """INSERT INTO turns (id, space, conversation, event, principal, agent, root, parent, forked_from, effects, pins, label, state,
           created_at, schema, job, origin, origin_agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            turn.id, turn.space, turn.conversation, turn.event, turn.principal, turn.agent, turn.root,
            None if turn.parent is None else str(turn.parent), None if turn.forked_from is None else str(turn.forked_from),
            turn.effects, encode(Pins, turn.pins), write_label(turn.label), turn.state, micros(turn.created_at), turn.schema,
            turn.job, turn.origin, turn.origin_agent,
        ),
    )  # fmt: skip


def read_turn(row: tuple[Any, ...]) -> Turn:
    id_, space, conversation, event, principal, agent, root, parent, forked, effects, pins, label, state, ending, created, ended = row[:16]
    job, origin, origin_agent = row[16:]
    return Turn(
        id=TurnId(id_), space=SpaceId(space), conversation=conversation, event=EventId(event), principal=PrincipalId(principal),
        agent=AgentId(agent), root=TurnId(root), parent=None if parent is None else StepRef.parse(parent),
        forked_from=None if forked is None else StepRef.parse(forked), effects=effects, pins=decode(Pins, pins), label=read_label(label),
        state=State(state), ending=None if ending is None else Ending(ending), created_at=moment(created),
        ended_at=None if ended is None else moment(ended), job=job, origin=origin, origin_agent=AgentId(origin_agent),
    )  # fmt: skip
