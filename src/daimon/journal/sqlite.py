"""The embedded journal: one SQLite file in WAL mode, one writer, a few readers. It implements every journal port.

Calling order: `open`, any methods, `close`. `stopped` completes when a write failed for good; the process should then end.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Literal, TypeVar

import apsw
from pydantic import JsonValue

from daimon.abi.automation import Automation, Kept, Tick
from daimon.abi.chat import Chat, Told
from daimon.abi.errors import JournalFailed
from daimon.abi.event import Address, Erased, Event
from daimon.abi.figures import Figures
from daimon.abi.hook import Hook, Hooked, Posted
from daimon.abi.ids import BlobHash, Conversation, EventId, Key, PrincipalId, SpaceId, StepRef, TurnId
from daimon.abi.judgement import Grant
from daimon.abi.label import Label
from daimon.abi.memory import Amendment
from daimon.abi.money import Account, Limit, Scope
from daimon.abi.people import Contact, Invitation, Knock, Person, Rank
from daimon.abi.ports import (
    Accepted,
    Balance,
    Blob,
    Busy,
    Change,
    Claim,
    Clock,
    Count,
    Cursor,
    Damaged,
    DeadLetter,
    Delivery,
    Due,
    Ended,
    Given,
    Grouping,
    Idle,
    Ids,
    Mailing,
    More,
    Noticed,
    NotYet,
    Outgoing,
    Parked,
    Released,
    Reminder,
    Spending,
)
from daimon.abi.runs import Run, Sought
from daimon.abi.step import Step
from daimon.abi.trace import Traces
from daimon.abi.turn import Pins, State, Turn
from daimon.abi.unbroken import unbroken
from daimon.journal import (
    amendments,
    archive,
    automations,
    blobs,
    chats,
    erasure,
    figures,
    forgetting,
    fork,
    grants,
    hooks,
    intake,
    ledger,
    mailings,
    outbox,
    people,
    residue,
    runs,
    shelf,
    timers,
    traces,
    work,
)
from daimon.journal.access import SqliteAccess
from daimon.journal.now import Held, Now
from daimon.journal.opening import last_position, prepare, rewrite_version
from daimon.journal.readers import Readers
from daimon.journal.rows import written
from daimon.journal.writer import Writer

T = TypeVar("T")
MOST_TRIES = 20
TRY_AGAIN_S = 0.1
"""How long a lock of somebody else (a backup, a curious shell) is waited for."""


class SqliteJournal:
    def __init__(self, path: Path, connection: apsw.Connection, clock: Clock, ids: Ids) -> None:
        self._path = path
        self._connection = connection
        self._clock = clock
        self._ids = ids
        self._boot = ids.new("b")
        self._positions = count(last_position(connection) + 1)
        self._loop = asyncio.get_running_loop()
        self._committed = asyncio.Event()
        self._holds: dict[Conversation, Held] = {}
        self._hook_changes = 0
        self._collected = hooks.Marks()
        self._writer = Writer(connection, self._tell_readers, self._holds.clear)
        self._readers = Readers(path)
        self.access = SqliteAccess(self._writer.run, self._readers.run)

    @classmethod
    async def open(cls, path: Path, clock: Clock, ids: Ids) -> "SqliteJournal":
        return cls(path, await asyncio.to_thread(prepare, path), clock, ids)

    async def close(self) -> None:
        await unbroken(self._close())  # half closed, it would leave its log behind

    async def _close(self) -> None:
        await self._writer.close()
        try:
            await self._readers.close()
        finally:
            with suppress(apsw.Error):  # closing tidies up; what was promised is on disk already, and the reason to close is known
                await asyncio.to_thread(self._connection.close)

    @property
    def stopped(self) -> "asyncio.Future[JournalFailed]":
        return self._writer.stopped

    @property
    def commits(self) -> int:
        """How many transactions, and so fsyncs, this process has made."""
        return self._writer.commits

    async def probe(self) -> None:
        """Returns when the writer is alive and finds space. Raises JournalFailed. Writes only where the last write found no space."""
        if self._writer.refused is None:
            await self._writer.alone(lambda db: None)
        else:
            await self._writer.run(rewrite_version)
            self._writer.refused = None

    async def newest(self) -> str:
        """The youngest turn's id; empty if there is none."""
        return await self._readers.run(lambda db: db.execute("SELECT COALESCE(MAX(id), '') FROM turns").get)

    # -- Intake

    async def accept(self, event: Event) -> Accepted:
        return await self._writer.run(lambda db: intake.accept(db, self._now(), event))

    async def bury(self, letter: DeadLetter) -> None:
        await self._writer.run(lambda db: intake.bury(db, letter))

    # -- Journal

    async def claim(self, conversation: Conversation, worker: str, ttl_s: float, pins: Pins) -> Claim | Busy | Idle | NotYet | Damaged:
        return await self._writer.run(lambda db: work.claim(db, self._now(), conversation, worker, ttl_s, pins))

    async def renew(self, claim: Claim, ttl_s: float) -> Noticed:
        return await self._writer.run(lambda db: work.renew(db, self._now(), claim, ttl_s))

    async def record(self, claim: Claim, steps: Sequence[Step], blobs: Sequence[Blob] = ()) -> Noticed:
        made = [written(step) for step in steps]
        noticed = await self._writer.run(lambda db: work.record(db, self._now(), claim, made, blobs))
        self._hook_changes += hooks.count_made(steps)
        return noticed

    async def finish(self, claim: Claim, steps: Sequence[Step], rest: Ended | Parked, blobs: Sequence[Blob] = ()) -> More | Released:
        made = [written(step) for step in steps]
        released = await self._writer.run(lambda db: work.finish(db, self._now(), claim, made, rest, blobs))
        self._hook_changes += hooks.count_made(steps)
        return released

    async def reconsider(self, limits: Mapping[Scope, Limit], models: Collection[str]) -> None:
        await self._writer.run(lambda db: ledger.reconsider(db, self._now(), limits, models))

    async def due(self, now: datetime, limit: int) -> Due:
        next_at = await self._readers.run(timers.next_moment)
        if next_at is not None and next_at <= now:
            await self._writer.run(lambda db: timers.fire(db, replace(self._now(), at=now), limit))
        moment = self._now()
        return await self._readers.run(lambda db: Due(work.workable(db, moment, limit), timers.next_moment(db)))

    # -- Archive

    async def turn(self, turn: TurnId) -> Turn:
        return await self._readers.run(lambda db: archive.turn(db, turn))

    async def event(self, event: EventId) -> Event:
        return await self._readers.run(lambda db: archive.event(db, event))

    async def steps(self, turn: TurnId) -> tuple[Step, ...]:
        return await self._readers.run(lambda db: archive.steps(db, turn))

    async def turns(self, space: SpaceId, limit: int, conversation: str | None = None, state: State | None = None) -> tuple[Turn, ...]:
        return await self._readers.run(lambda db: archive.turns(db, space, limit, conversation, state))

    async def runs(self, space: SpaceId, sought: Sought, limit: int) -> tuple[Run, ...]:
        return await self._readers.run(lambda db: runs.runs(db, space, sought, limit))

    async def steps_from(self, turn: TurnId, first: int) -> tuple[Step, ...]:
        return await self._readers.run(lambda db: runs.steps_from(db, turn, first))

    async def turn_of(self, event: EventId) -> Turn | None:
        return await self._readers.run(lambda db: archive.turn_of(db, event))

    async def late(self, turn: TurnId) -> tuple[Event, ...]:
        return await self._readers.run(lambda db: archive.late(db, turn))

    async def watch(self, after: Cursor) -> AsyncIterator[Change]:
        while True:
            committed = self._committed
            found = await self._readers.run(lambda db, after=after: archive.changes(db, after))  # type: ignore[misc]
            for change in found:
                after = change.cursor
                yield change
            if not found:
                await committed.wait()

    async def end(self) -> Cursor:
        return await self._readers.run(archive.end)

    async def require(self, cursor: Cursor) -> None:
        await self._readers.run(lambda db: archive.require(db, cursor))

    async def behind(self, cursor: Cursor) -> int:
        return int(await self.end()) - int(cursor)

    async def erasures(self) -> int:
        return await self._readers.run(archive.erasures)

    async def count(self) -> Count:
        return await self._readers.run(archive.count)

    async def letters(self, limit: int) -> tuple[DeadLetter, ...]:
        return await self._readers.run(lambda db: archive.letters(db, limit))

    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        """Changes after the cursor, read on the calling thread: for projections that catch up in a thread of their own."""
        return self._readers.here(lambda db: archive.changes(db, cursor, limit, passes_damaged=True))

    def known_turn(self, turn: TurnId) -> Turn | None:
        """The same way, the turn that a step belongs to."""
        return self._readers.here(lambda db: archive.known_turn(db, turn))

    # -- Chats

    async def chats(self, space: SpaceId, limit: int, before: str = "") -> tuple[Chat, ...]:
        return await self._readers.run(lambda db: chats.chats(db, space, limit, before))

    async def told(self, space: SpaceId, conversation: str, limit: int, before: str = "") -> tuple[tuple[Told, ...], bool]:
        return await self._readers.run(lambda db: chats.told(db, space, conversation, limit, before))

    async def told_of(self, turn: TurnId) -> Told:
        return await self._readers.run(lambda db: chats.told_of(db, turn))

    async def waiting(self, space: SpaceId, conversation: str) -> tuple[Event, ...]:
        return await self._readers.run(lambda db: chats.waiting(db, space, conversation))

    # -- Ledger

    async def spending(self, space: SpaceId, by: Grouping, since: str = "", until: str = "") -> tuple[Spending, ...]:
        return await self._readers.run(lambda db: ledger.spending(db, space, by, since, until))

    async def balances(self, space: SpaceId, accounts: Sequence[Account]) -> tuple[Balance, ...]:
        return await self._readers.run(lambda db: ledger.balances(db, space, accounts))

    # -- Measured

    async def figures(self, space: SpaceId, since: datetime) -> Figures:
        return await self._readers.run(lambda db: figures.figures(db, space, since))

    # -- Grants

    async def grants(self, space: SpaceId, now: datetime) -> tuple[Grant, ...]:
        return await self._readers.run(lambda db: grants.grants(db, space, now))

    async def given(self, space: SpaceId) -> tuple[Given, ...]:
        return await self._readers.run(lambda db: grants.given(db, space))

    async def revoke(self, space: SpaceId, grant: str, by: PrincipalId) -> Given:
        return await self._writer.run(lambda db: grants.revoke(db, self._now(), space, grant, by))

    # -- Directory

    async def who(self, channel: str, sender: str) -> Person | None:
        return await self._readers.run(lambda db: people.who(db, channel, sender))

    async def people(self) -> tuple[tuple[Person, tuple[Contact, ...]], ...]:
        return await self._readers.run(people.people)

    async def knocks(self) -> tuple[Knock, ...]:
        return await self._readers.run(people.knocks)

    async def knocked(self, knock: Knock) -> None:
        await self._writer.run(lambda db: people.knocked(db, knock))

    async def seen(self, channel: str, sender: str, name: str, place: str, at: datetime) -> None:
        if not await self._readers.run(lambda db: people.is_fresh(db, (channel, sender), name, place, at)):
            await self._writer.run(lambda db: people.seen(db, (channel, sender), name, place, at))

    async def invite(self, name: str, rank: Rank, code: str, until: datetime) -> Invitation:
        return await self._writer.run(lambda db: people.invite(db, name, rank, code, until, self._clock.now()))

    async def pair(self, code: str, knock: Knock) -> Person | None:
        return await self._writer.run(lambda db: people.pair(db, code, knock, self._clock.now()))

    async def allow(self, channel: str, sender: str, name: str, rank: Rank) -> Person:
        return await self._writer.run(lambda db: people.allow(db, channel, sender, name, rank, self._clock.now()))

    async def change(self, person: PrincipalId, rank: Rank) -> Person:
        return await self._writer.run(lambda db: people.change(db, person, rank, self._clock.now()))

    async def remove(self, person: PrincipalId, channel: str = "", sender: str = "") -> None:
        await self._writer.run(lambda db: people.remove(db, person, channel, sender, self._clock.now()))

    async def reach(self, person: PrincipalId) -> Address | None:
        return await self._readers.run(lambda db: people.reach(db, person))

    # -- Shelf

    async def recalled(self, channel: str, name: str) -> str:
        return await self._readers.run(lambda db: shelf.recalled(db, channel, name))

    async def remembered(self, channel: str, name: str, value: str) -> None:
        await self._writer.run(lambda db: shelf.remembered(db, channel, name, value))

    async def notify(self, key: Key, conversation: Conversation, to: Address, text: str) -> None:
        await self._writer.run(lambda db: shelf.notify(db, self._now(), key, conversation, to, text))

    async def told_in(self, question: StepRef) -> tuple[Address, ...]:
        return await self._readers.run(lambda db: shelf.told_in(db, question))

    async def unfinished(self, space: SpaceId, principal: PrincipalId) -> int:
        return await self._readers.run(lambda db: shelf.unfinished(db, space, principal))

    # -- Hooks

    @property
    def hook_changes(self) -> int:
        return self._hook_changes

    async def hooks(self, space: SpaceId) -> tuple[Hooked, ...]:
        return await self._readers.run(lambda db: hooks.hooks(db, space))

    async def hook(self, space: SpaceId, hook: Hook, by: PrincipalId, label: Label, if_version: str = "") -> Hooked:
        def make(db: apsw.Connection) -> Hooked:
            hooks.require(db, space, hook.name, if_version)
            return hooks.make(db, self._now(), space, hook, by, label)

        made = await self._writer.run(make)
        self._hook_changes += 1
        return made

    async def unhook(self, space: SpaceId, name: str, by: PrincipalId) -> None:
        await self._writer.run(lambda db: hooks.remove(db, space, name))
        self._hook_changes += 1

    async def post(self, space: SpaceId, posted: Posted, event: Event | None = None) -> Accepted | None:
        return await self._writer.run(lambda db: hooks.post(db, self._now(), space, posted, event, self._collected))

    async def posted(self, space: SpaceId, hook: str, limit: int = 50) -> tuple[Posted, ...]:
        return await self._readers.run(lambda db: hooks.posted(db, space, hook, limit))

    async def collected(self, space: SpaceId, hook: str, after: int, limit: int, by: str = "") -> tuple[Posted, ...]:
        found = await self._readers.run(lambda db: hooks.collected(db, space, hook, after, limit))
        self._collected.note(space, hook, by, after)
        return found

    # -- Automations

    async def automations(self, space: SpaceId) -> tuple[Kept, ...]:
        return await self._readers.run(lambda db: automations.automations(db, space, self._clock.now()))

    async def automate(self, space: SpaceId, automation: Automation, by: PrincipalId, label: Label, if_version: int | None = None) -> Kept:
        setting = automations.Setting(by, label, self._clock.now(), if_version)
        return await self._writer.run(lambda db: automations.automate(db, space, automation, setting))

    async def cease(self, space: SpaceId, automation: str, by: PrincipalId) -> None:
        await self._writer.run(lambda db: automations.cease(db, space, automation, by, self._clock.now()))

    async def tick(
        self, space: SpaceId, tick: Tick, event: Event | None = None, state: JsonValue = None, version: int | None = None
    ) -> Accepted | None:
        return await self._writer.run(lambda db: automations.tick(db, self._now(), space, automations.Ticking(tick, event, state, version)))

    async def ticks(self, space: SpaceId, automation: str = "", limit: int = 50) -> tuple[Tick, ...]:
        return await self._readers.run(lambda db: automations.ticks(db, space, automation, limit))

    # -- Store

    async def put(self, data: bytes) -> BlobHash:
        return await self._writer.run(lambda db: blobs.put(db, data, self._clock.now()))

    async def get(self, blob: BlobHash) -> bytes:
        return await self._readers.run(lambda db: blobs.get(db, blob))

    # -- Eraser, Amender, Forks

    async def erase_turn(self, turn: TurnId, reason: str) -> tuple[Erased, ...]:
        erased = await self._writer.run(lambda db: erasure.erase(db, self._now(), turn, reason))
        await self._scrub()
        return erased

    async def amend(self, amendment: Amendment) -> None:
        await self._writer.run(lambda db: amendments.amend(db, self._now(), amendment))

    async def forget_source(self, amendment: Amendment) -> int:
        erased = await self._writer.run(lambda db: forgetting.forget(db, self._now(), amendment))
        await self._scrub()
        return erased

    async def amendment(self, id_: str) -> Amendment:
        return await self._readers.run(lambda db: amendments.find(db, id_))

    async def foresee_forgetting(self, space: SpaceId, source: str) -> int:
        return await self._readers.run(lambda db: forgetting.foreseen(db, self._now(), space, source))

    async def traces(self, space: SpaceId, source: str, tools: tuple[str, ...] = ()) -> Traces:
        return await self._readers.run(lambda db: traces.traces(db, space, source, tools))

    async def end_traces(self, space: SpaceId, source: str, tools: tuple[str, ...] = ()) -> Traces:
        ended = await self._writer.run(lambda db: traces.end(db, self._now(), space, source, tools))
        self._hook_changes += 1
        await self._scrub()
        return ended

    async def _scrub(self) -> None:
        """What was erased must not stay in the files: neither in what nothing names, nor in a gap of a page, nor in the log."""
        for some in batched(await self._readers.run(lambda db: blobs.unnamed(db, self._clock.now())), 500):
            await self._writer.run(lambda db, some=some: blobs.delete(db, some, self._clock.now()))  # type: ignore[misc]
        try:
            last = await self._writer.alone(residue.rewrite)
        except JournalFailed:
            await self._empty_log()
            raise
        if last and await self._empty_log():
            await self._writer.run(lambda db: residue.settle(db, last))

    async def _empty_log(self) -> bool:
        for _ in range(MOST_TRIES):
            if await self._writer.alone(residue.truncate_log):
                return True
            await self._clock.sleep(TRY_AGAIN_S)  # a reader is in the way; the log is emptied at the next close at the latest
        return False

    async def fork(self, at: StepRef, effects: Literal["world", "record"] = "record") -> Turn:
        return await self._writer.run(lambda db: fork.fork(db, self._positions, self._ids, at, effects, self._clock.now()))

    # -- Timers, Outbox

    async def pending(self, conversation: Conversation) -> tuple[Reminder, ...]:
        return await self._readers.run(lambda db: timers.pending(db, conversation))

    async def outgoing(self, limit: int, without: Collection[str] = ()) -> tuple[Outgoing, ...]:
        return await self._readers.run(lambda db: outbox.outgoing(db, self._boot, self._clock.now(), limit, without))

    async def sending(self, message: Outgoing, piece: int) -> None:
        await self._writer.run(lambda db: outbox.sending(db, self._boot, message, piece))

    async def progressed(self, message: Outgoing, piece: int, state: Delivery, ref: str = "", unsure: str = "") -> None:
        await self._writer.run(lambda db: outbox.progressed(db, message, piece, state, ref, unsure))

    async def delivered(self, message: Outgoing, state: Delivery, note: str = "", retry_at: datetime | None = None) -> None:
        await self._writer.run(lambda db: outbox.delivered(db, message, state, note, retry_at))

    async def postponed(self, message: Outgoing, note: str, retry_at: datetime | None = None) -> None:
        await self._writer.run(lambda db: outbox.postponed(db, message, note, retry_at))

    async def readdress(self, message: Outgoing, to: Address) -> None:
        await self._writer.run(lambda db: outbox.readdress(db, message, to))

    async def sent_as(self, channel: str, place: str, ref: str) -> Key | None:
        return await self._readers.run(lambda db: outbox.sent_as(db, channel, place, ref))

    async def mailings(self, limit: int, channel: str = "", state: str = "") -> tuple[Mailing, ...]:
        return await self._readers.run(lambda db: mailings.mailings(db, limit, channel, state))

    def _now(self) -> Now:
        return Now(self._boot, self._clock.now(), self._clock.monotonic(), self._ids, self._positions, self._holds)

    def _tell_readers(self) -> None:
        self._loop.call_soon_threadsafe(self._announce)

    def _announce(self) -> None:
        self._committed.set()
        self._committed = asyncio.Event()


def batched(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
