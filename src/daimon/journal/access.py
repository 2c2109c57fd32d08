"""Devices that were let in, the ways in, and what was done by whom.

Rights are kept as words with commas between. What is over (devices that ended long ago, links, requests) goes when something new of its
kind comes; of acts the newest are kept. So none of these tables grows without bound, whoever knocks how often.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import apsw

from daimon.abi.access import Act, Device, Link, Request, Right
from daimon.abi.errors import NotFound
from daimon.journal.rows import micros, moment

MOST_WAITING, MOST_ACTS = 10, 20_000
KEPT = timedelta(days=30)
"""So long a device that ended is still there to look at in the file."""
_DEVICE = "id, name, rights, by, made_at, seen_at, expires_at, revoked_at"
_REQUEST = "code, name, address, made_at, until, rights"
Run = Callable[[Callable[[apsw.Connection], Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class SqliteAccess:
    """The port `Access` on the journal's own writer and readers."""

    write: Run
    read: Run

    async def devices(self, at: datetime) -> tuple[tuple[Device, bytes], ...]:
        found: tuple[tuple[Device, bytes], ...] = await self.read(lambda db: devices(db, at))
        return found

    async def admit(self, device: Device, hash: bytes) -> None:
        await self.write(lambda db: admit(db, device, hash))

    async def update(self, device: Device) -> None:
        await self.write(lambda db: update(db, device))

    async def offer(self, link: Link, at: datetime) -> None:
        await self.write(lambda db: offer(db, link, at))

    async def redeem(self, hash: bytes, at: datetime) -> Link | None:
        found: Link | None = await self.write(lambda db: redeem(db, hash, at))
        return found

    async def ask(self, request: Request, hash: bytes) -> bool:
        is_taken: bool = await self.write(lambda db: ask(db, request, hash))
        return is_taken

    async def requests(self, at: datetime) -> tuple[Request, ...]:
        found: tuple[Request, ...] = await self.read(lambda db: requests(db, at))
        return found

    async def decide(self, code: str, rights: frozenset[Right], at: datetime) -> Request:
        decided: Request = await self.write(lambda db: decide(db, code, rights, at))
        return decided

    async def collect(self, hash: bytes, at: datetime) -> Request | None:
        found: Request | None = await self.write(lambda db: collect(db, hash, at))
        return found

    async def note(self, act: Act) -> None:
        await self.write(lambda db: note(db, act))

    async def acts(self, limit: int) -> tuple[Act, ...]:
        found: tuple[Act, ...] = await self.read(lambda db: acts(db, limit))
        return found


def devices(db: apsw.Connection, at: datetime) -> tuple[tuple[Device, bytes], ...]:
    rows: Any = db.execute(
        f"SELECT hash, {_DEVICE} FROM devices WHERE revoked_at IS NULL AND expires_at > ? ORDER BY made_at, id", (micros(at),)
    )
    return tuple((_device(row[1:]), row[0]) for row in rows)


def admit(db: apsw.Connection, device: Device, hash: bytes) -> None:
    long_ago = micros(device.made_at - KEPT)
    db.execute("DELETE FROM devices WHERE expires_at < ? OR revoked_at < ?", (long_ago, long_ago))
    times = (micros(device.made_at), micros(device.seen_at), micros(device.expires_at))
    db.execute("INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
               (device.id, hash, device.name, _words(device.rights), device.by, *times))  # fmt: skip


def update(db: apsw.Connection, device: Device) -> None:
    revoked = None if device.revoked_at is None else micros(device.revoked_at)
    db.execute(
        "UPDATE devices SET name = ?, rights = ?, seen_at = ?, expires_at = ?, revoked_at = ? WHERE id = ?",
        (device.name, _words(device.rights), micros(device.seen_at), micros(device.expires_at), revoked, device.id),
    )


def offer(db: apsw.Connection, link: Link, at: datetime) -> None:
    db.execute("DELETE FROM links WHERE until < ?", (micros(at),))
    db.execute("INSERT INTO links VALUES (?, ?, ?, ?, NULL)", (link.hash, link.name, _words(link.rights), micros(link.until)))


def redeem(db: apsw.Connection, hash: bytes, at: datetime) -> Link | None:
    row: Any = db.execute(
        "UPDATE links SET used_at = ? WHERE hash = ? AND used_at IS NULL AND until > ? RETURNING hash, name, rights, until",
        (micros(at), hash, micros(at)),
    ).fetchone()
    return None if row is None else Link(row[0], row[1], _rights(row[2]), moment(row[3]))


def ask(db: apsw.Connection, request: Request, hash: bytes) -> bool:
    db.execute("DELETE FROM requests WHERE until < ?", (micros(request.made_at),))
    waiting: Any = db.execute("SELECT COUNT(*) FROM requests").fetchone()
    if waiting[0] >= MOST_WAITING:
        return False
    times = (micros(request.made_at), micros(request.until))
    db.execute("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, NULL)", (request.code, hash, request.name, request.address, *times))
    return True


def requests(db: apsw.Connection, at: datetime) -> tuple[Request, ...]:
    rows: Any = db.execute(f"SELECT {_REQUEST} FROM requests WHERE rights IS NULL AND until > ? ORDER BY made_at, code", (micros(at),))
    return tuple(map(_request, rows))


def decide(db: apsw.Connection, code: str, rights: frozenset[Right], at: datetime) -> Request:
    row: Any = db.execute(
        f"UPDATE requests SET rights = ? WHERE code = ? AND rights IS NULL AND until > ? RETURNING {_REQUEST}",
        (_words(rights), code, micros(at)),
    ).fetchone()
    if row is None:
        raise NotFound(f"no device waits with the code {code[:20]!r}; a request is there for some minutes, `daimon devices` lists them")
    return _request(row)


def collect(db: apsw.Connection, hash: bytes, at: datetime) -> Request | None:
    row: Any = db.execute(f"SELECT {_REQUEST} FROM requests WHERE hash = ? AND until > ?", (hash, micros(at))).fetchone()
    if row is None:
        return None
    found = _request(row)
    if found.rights is not None:
        db.execute("DELETE FROM requests WHERE hash = ?", (hash,))
    return found


def note(db: apsw.Connection, act: Act) -> None:
    db.execute("INSERT INTO acts (at, by, name, did, about, outcome) VALUES (?, ?, ?, ?, ?, ?)",
               (micros(act.at), act.by, act.name, act.did, act.on, act.outcome))  # fmt: skip
    db.execute("DELETE FROM acts WHERE n <= (SELECT MAX(n) FROM acts) - ?", (MOST_ACTS,))


def acts(db: apsw.Connection, limit: int) -> tuple[Act, ...]:
    rows: Any = db.execute("SELECT at, by, name, did, about, outcome FROM acts ORDER BY n DESC LIMIT ?", (limit,))
    return tuple(Act(moment(at), by, name, did, about, outcome) for at, by, name, did, about, outcome in rows)


def end_all(db: apsw.Connection, at: datetime) -> int:
    """Nobody is in any more, and nobody is on the way. How many were, and were not over by themselves."""
    db.execute("DELETE FROM links")
    db.execute("DELETE FROM requests")
    ended = len(devices(db, at))
    db.execute("UPDATE devices SET revoked_at = ? WHERE revoked_at IS NULL", (micros(at),))
    return ended


def _words(rights: frozenset[Right]) -> str:
    return ",".join(sorted(rights))


def _rights(words: str) -> frozenset[Right]:
    return frozenset(Right(word) for word in words.split(",") if word)


def _device(row: Any) -> Device:
    id_, name, rights, by, made, seen, expires, revoked = row
    ended = None if revoked is None else moment(revoked)
    return Device(id_, name, _rights(rights), by, moment(made), moment(seen), moment(expires), ended)


def _request(row: Any) -> Request:
    code, name, address, made, until, rights = row
    return Request(code, name, address, moment(made), moment(until), None if rights is None else _rights(rights))
