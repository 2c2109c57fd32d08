"""A journal in memory: every journal port, nothing on disk. It passes the same contract as the real one.

Good for tests of what stands on the journal; it forgets everything with the process, so it says nothing about crashes.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from daimon.abi import automation as automating
from daimon.abi import hook as hooking
from daimon.abi.automation import Automate, Automation, Cease, Kept, Tick
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, Erased, Fenced, NotFound
from daimon.abi.event import INTERNAL, Address, Event, Fired, FromAgent, Late, Said, Stop
from daimon.abi.event import Erased as Tombstone
from daimon.abi.hook import Hook, Hooked, MakeHook, Posted
from daimon.abi.ids import BlobHash, Conversation, EventId, Key, PrincipalId, SpaceId, StepRef, TimerId, TurnId
from daimon.abi.judgement import Grant
from daimon.abi.label import Author, Label, Origin
from daimon.abi.memory import Amendment, ForgetSource
from daimon.abi.message import Text
from daimon.abi.money import Account, Limit, Scope
from daimon.abi.ports import (
    MOST_LETTERS,
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
    Erasure,
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
from daimon.abi.step import PROGRESS, Answered, Asked, Granted, Happened, ModelFailed, Received, Replied, Reserved, Started, Step, Wait
from daimon.abi.tool import CancelTimer, Operation, Post, Send, SetTimer
from daimon.abi.turn import Ending, Pins, State, Turn
from daimon.testing.amendments import MemoryAmendments
from daimon.testing.automations import MemoryAutomations
from daimon.testing.grants import MemoryGrants
from daimon.testing.hooks import MemoryHooks
from daimon.testing.ledger import MemoryLedger

OPEN = (State.RUNNING, State.PARKED)


@dataclass(slots=True)
class _Lease:
    epoch: int = 0
    holder: str | None = None
    until: float = 0.0


@dataclass(slots=True)
class _Entry:
    """An event and what became of it."""

    event: Event
    seq: int
    turn: TurnId | None = None
    is_taken: bool = False
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class _Amended:
    id: str


@dataclass(slots=True)
class _Timer:
    reminder: Reminder
    event: Event
    label: Label
    set_by: StepRef
    is_set: bool = True


@dataclass(slots=True)
class _Letter:
    message: Outgoing
    turn: TurnId
    state: Delivery = "queued"
    retry_at: datetime | None = None
    not_before: datetime | None = None
    note: str = ""


def _mailing(letter: _Letter) -> Mailing:
    message = letter.message
    parts = message.content.parts if isinstance(message.content, Said) else ()
    return Mailing(
        key=message.key, turn=letter.turn, conversation=message.conversation, to=message.to, state=letter.state,
        created_at=message.created_at, attempts=message.attempts, done=message.done, note=letter.note, retry_at=letter.retry_at,
        text="".join(part.text for part in parts if isinstance(part, Text)),
    )  # fmt: skip


class MemoryJournal:
    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids
        self._events: list[_Entry] = []
        self._keys: dict[tuple[str, str, str], _Entry] = {}
        self._turns: dict[TurnId, Turn] = {}
        self._attempts: dict[TurnId, int] = {}
        self._stopped: set[TurnId] = set()
        self._steps: dict[TurnId, list[Step]] = {}
        self._leases: dict[Conversation, _Lease] = {}
        self._waits: dict[TurnId, list[Wait]] = {}
        self._timers: dict[TimerId, _Timer] = {}
        self._outbox: list[_Letter] = []
        self._refs: dict[tuple[Address, str], Key] = {}
        self._blobs: dict[BlobHash, bytes | None] = {}
        self._blob_of: dict[BlobHash, TurnId] = {}
        self._dead: list[DeadLetter] = []
        self._ledger = MemoryLedger()
        self._grants = MemoryGrants()
        self._automations = MemoryAutomations()
        self._amendments = MemoryAmendments()
        self._hooks = MemoryHooks()
        self._quotes: dict[str, set[BlobHash]] = {}
        self._log: list[EventId | StepRef | Erasure | _Amended] = []
        self._news = asyncio.Event()

    # -- Intake

    async def accept(self, event: Event) -> Accepted:
        seen = self._keys.get((event.space, event.source, event.key))
        if seen is not None:
            return Accepted(seen.event.id, seen.seq, is_new=False)
        entry = _Entry(event, sum(e.event.where == event.where for e in self._events))
        self._direct(entry)
        self._events.append(entry)
        self._keys[event.space, event.source, event.key] = entry
        self._announce(event.id)
        return Accepted(event.id, entry.seq, is_new=True)

    async def bury(self, letter: DeadLetter) -> None:
        self._dead = [*self._dead, letter][-MOST_LETTERS:]

    def _direct(self, entry: _Entry) -> None:
        event = entry.event
        target = event.body.turn if isinstance(event.body, Stop) else event.resolves.turn if event.resolves else None
        if target is None:
            return
        turn = self._turns.get(target)
        if turn is None or turn.where != event.where:
            raise BadInput(f"there is no turn {target!r} in conversation {event.conversation!r}")
        entry.turn = target
        entry.is_late = turn.state not in OPEN and not isinstance(event.body, Stop)
        entry.is_taken = isinstance(event.body, Stop) or entry.is_late
        if isinstance(event.body, Stop) and turn.state in OPEN:
            self._stopped.add(target)

    # -- Journal

    async def claim(self, conversation: Conversation, worker: str, ttl_s: float, pins: Pins) -> Claim | Busy | Idle | NotYet | Damaged:
        lease = self._leases.setdefault(conversation, _Lease())
        if lease.holder is not None and lease.until > self._clock.monotonic():
            return Busy()
        turn = self._next_turn(conversation, pins)
        if turn is None:
            untils = [w.until for t, waits in self._waits.items() if self._turns[t].where == conversation for w in waits if w.until]
            return NotYet(min(untils)) if untils else Idle()
        lease.epoch, lease.holder, lease.until = lease.epoch + 1, worker, self._clock.monotonic() + ttl_s
        self._attempts[turn.id] = self._attempts.get(turn.id, 0) + 1
        return Claim(
            conversation=conversation,
            worker=worker,
            epoch=lease.epoch,
            turn=turn,
            event=self._entry(turn.event).event,
            steps=tuple(self._steps[turn.id]),
            arrived=self._arrived(turn),
            attempts=self._attempts[turn.id],
            is_stopped=turn.id in self._stopped,
        )

    async def renew(self, claim: Claim, ttl_s: float) -> Noticed:
        self._fence(claim).until = self._clock.monotonic() + ttl_s
        return self._notice(claim)

    async def record(self, claim: Claim, steps: Sequence[Step], blobs: Sequence[Blob] = ()) -> Noticed:
        self._fence(claim)
        self._append(claim, steps, blobs)
        return self._notice(claim)

    async def finish(self, claim: Claim, steps: Sequence[Step], rest: Ended | Parked, blobs: Sequence[Blob] = ()) -> More | Released:
        lease = self._fence(claim)
        self._append(claim, steps, blobs)
        if isinstance(rest, Ended):
            self._end(claim, rest)
            self._ledger.leave(claim.turn.id)
        else:
            self._turns[claim.turn.id] = replace(self._turns[claim.turn.id], state=State.PARKED)
            self._waits[claim.turn.id] = list(rest.waits)
            self._ledger.look_again(claim.turn.id)
        self._rouse()
        lease.holder = None
        return More() if self._has_work(claim.conversation) else Released()

    async def reconsider(self, limits: Mapping[Scope, Limit], models: Collection[str]) -> None:
        self._ledger.reconsider(limits, models)
        self._rouse()

    async def due(self, now: datetime, limit: int) -> Due:
        await self._fire(now)
        held = {c for c, lease in self._leases.items() if lease.holder is not None and lease.until > self._clock.monotonic()}
        found = [t.where for t in self._turns.values() if t.state is State.RUNNING or t.id in self._stopped]
        found = list(dict.fromkeys((*found, *(e.event.where for e in self._events if not e.is_taken))))
        moments = [t.reminder.at for t in self._timers.values() if t.is_set]
        moments += [w.until for waits in self._waits.values() for w in waits if w.until]
        return Due(tuple(c for c in found if c not in held and self._has_work(c))[:limit], min(moments, default=None))

    # -- Archive, Overview

    async def turn(self, turn: TurnId) -> Turn:
        if turn not in self._turns:
            raise NotFound(f"there is no turn {turn!r}")
        return self._turns[turn]

    async def event(self, event: EventId) -> Event:
        return self._entry(event).event

    async def steps(self, turn: TurnId) -> tuple[Step, ...]:
        return tuple(self._steps.get(turn, ()))

    async def turn_of(self, event: EventId) -> Turn | None:
        taken_by = self._entry(event).turn
        return None if taken_by is None else self._turns[taken_by]

    async def late(self, turn: TurnId) -> tuple[Event, ...]:
        return tuple(entry.event for entry in self._events if entry.turn == turn and entry.is_late)

    async def turns(self, space: SpaceId, limit: int, conversation: str | None = None, state: State | None = None) -> tuple[Turn, ...]:
        wanted = [
            t for t in self._turns.values() if t.space == space and conversation in (None, t.conversation) and state in (None, t.state)
        ]
        return tuple(sorted(wanted, key=lambda t: t.id, reverse=True)[:limit])

    async def watch(self, after: Cursor) -> AsyncIterator[Change]:
        position = int(after or 0)
        while True:
            news = self._news
            while position < len(self._log):
                position += 1
                yield self._change(position)
            await news.wait()

    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        first = int(cursor or 0) + 1
        return [self._change(position) for position in range(first, min(len(self._log), first + limit - 1) + 1)]

    def known_turn(self, turn: TurnId) -> Turn | None:
        return self._turns.get(turn)

    async def erasures(self) -> int:
        return sum(isinstance(name, Erasure | _Amended) for name in self._log)

    async def count(self) -> Count:
        queued = sum(not e.is_taken and e.turn is None for e in self._events)
        states = {state: sum(t.state is state for t in self._turns.values()) for state in State} | {State.QUEUED: queued}
        outgoing = sum(letter.state in ("queued", "sending") for letter in self._outbox)
        timers = sum(timer.is_set for timer in self._timers.values())
        return Count(len(self._events), states, sum(map(len, self._steps.values())), timers, outgoing, len(self._dead), 0)

    async def letters(self, limit: int) -> tuple[DeadLetter, ...]:
        return tuple(reversed(self._dead))[:limit]

    # -- Ledger

    async def spending(self, space: SpaceId, by: Grouping, since: str = "", until: str = "") -> tuple[Spending, ...]:
        def key(step: Step, reserved: Reserved) -> str:
            turn, keys = self._turns[step.turn], {account.scope: account.key for account in reserved.accounts}
            return {
                "day": keys[Scope.DAY], "month": keys[Scope.MONTH], "job": turn.job or "chat", "agent": step.agent, "model": reserved.model,
                "conversation": turn.conversation, "turn": turn.root, "person": turn.principal,
            }[by]  # fmt: skip

        return self._ledger.spending(key, since, until)

    async def balances(self, space: SpaceId, accounts: Sequence[Account]) -> tuple[Balance, ...]:
        return self._ledger.balances(accounts)

    # -- Grants

    async def grants(self, space: SpaceId, now: datetime) -> tuple[Grant, ...]:
        return self._grants.grants(space, now)

    async def given(self, space: SpaceId) -> tuple[Given, ...]:
        return self._grants.given(space)

    async def revoke(self, space: SpaceId, grant: str, by: PrincipalId) -> Given:
        return self._grants.revoke(space, grant, by, self._clock.now())

    # -- Hooks

    @property
    def hook_changes(self) -> int:
        return self._hooks.changes

    async def hooks(self, space: SpaceId) -> tuple[Hooked, ...]:
        return self._hooks.hooks(space)

    async def hook(self, space: SpaceId, hook: Hook, by: PrincipalId, label: Label, if_version: str = "") -> Hooked:
        stands = next((each.hook for each in self._hooks.hooks(space) if each.hook.name == hook.name), None)
        hooking.require_version(hook.name, stands, if_version)
        return self._hooks.make(space, Hooked(hook, by, label, self._clock.now()))

    async def unhook(self, space: SpaceId, name: str, by: PrincipalId) -> None:
        self._hooks.remove(space, name)

    async def post(self, space: SpaceId, posted: Posted, event: Event | None = None) -> Accepted | None:
        if not self._hooks.is_new(space, posted):
            return None
        accepted = None if event is None else await self.accept(event)
        n = self._hooks.put(space, posted, "" if event is None else event.id)
        return accepted or Accepted(EventId(""), n, is_new=True)

    async def posted(self, space: SpaceId, hook: str, limit: int = 50) -> tuple[Posted, ...]:
        return self._hooks.posted(space, hook)[::-1][:limit]

    async def collected(self, space: SpaceId, hook: str, after: int, limit: int, by: str = "") -> tuple[Posted, ...]:
        found = self._hooks.posted(space, hook)
        return tuple(each for each in found if each.outcome == "collected" and each.n > after)[:limit]

    # -- Automations

    async def automations(self, space: SpaceId) -> tuple[Kept, ...]:
        return self._automations.all(space, self._clock.now())

    async def automate(self, space: SpaceId, automation: Automation, by: PrincipalId, label: Label, if_version: int | None = None) -> Kept:
        stands = next((kept.version for kept in self._automations.all(space, self._clock.now()) if kept.automation.id == automation.id), 0)
        automating.require_version(automation.id, stands, if_version)
        return self._automations.put(space, automation, Kept(automation, by, label, self._clock.now()), self._clock.now())

    async def cease(self, space: SpaceId, automation: str, by: PrincipalId) -> None:
        self._automations.cease(space, automation)

    async def tick(
        self, space: SpaceId, tick: Tick, event: Event | None = None, state: JsonValue = None, version: int | None = None
    ) -> Accepted | None:
        event = self._automations.tick(space, tick, event, state, version)
        return None if event is None else await self.accept(event)

    async def ticks(self, space: SpaceId, automation: str = "", limit: int = 50) -> tuple[Tick, ...]:
        return self._automations.ticks(space, automation, limit)

    # -- Store, Eraser

    async def put(self, data: bytes) -> BlobHash:
        name = BlobHash(hashlib.sha256(data).hexdigest())
        self._blobs.setdefault(name, data)
        return name

    async def get(self, blob: BlobHash) -> bytes:
        if blob not in self._blobs:
            raise NotFound(f"there is no blob {blob}")
        if (data := self._blobs[blob]) is None:
            raise Erased(f"blob {blob} was erased")
        return data

    async def erase_turn(self, turn: TurnId, reason: str) -> tuple[Tombstone, ...]:
        if (await self.turn(turn)).ended_at is None:
            raise BadInput(f"turn {turn} is not over; stop it before it is erased")
        copies = [self.erase_turn(t.id, reason) for t in self._turns.values() if t.forked_from is not None and t.forked_from.turn == turn]
        erased = [tombstone for copy in copies for tombstone in await copy]
        erased += [self._erase_event(entry, reason) for entry in self._events if entry.turn == turn]
        erased += [self._erase_step(step.ref, reason) for step in self._steps[turn]]
        for letter in self._outbox:
            if letter.turn == turn:
                letter.message = replace(letter.message, content=None)
        self._announce(Erasure(turn, self._clock.now(), reason))
        self._blobs |= {blob: None for blob, of in self._blob_of.items() if of == turn}
        return tuple(erased)

    # -- Amender

    async def amend(self, amendment: Amendment) -> None:
        if any(isinstance(operation, ForgetSource) for operation in amendment.operations):
            raise BadInput(f"amendment {amendment.id} forgets a source; hand it to forget_source")
        self._amend(amendment)

    async def forget_source(self, amendment: Amendment) -> int:
        match amendment.operations:
            case (ForgetSource(source), *_) if source:
                pass
            case _:
                raise BadInput(f"amendment {amendment.id} names no source to forget")
        if amendment.id in self._amendments:
            return 0
        reason = amendment.reason or f"{source} was forgotten"
        names = self._named(amendment.space, source)
        self._require_over(source, names)
        self._amend(amendment)
        erased = len(await self.erase_turn(TurnId(source), reason)) if source in self._turns else self._forget(source, names, reason)
        return erased + self._lessen(amendment, source, names | {source})

    def _amend(self, amendment: Amendment) -> None:
        if amendment.id not in self._amendments:
            self._amendments.put(amendment)
            self._announce(_Amended(amendment.id))

    def _named(self, space: SpaceId, source: str) -> set[str]:
        """The events and steps that the source is, or that name it."""
        known: dict[str, Event | Step] = {entry.event.id: entry.event for entry in self._events}
        known |= {str(step.ref): step for steps in self._steps.values() for step in steps}
        known = {name: thing for name, thing in known.items() if thing.space == space and not isinstance(thing.body, Tombstone)}
        if source in self._turns:
            return {name for name in known if self._turn_of(name) == source}
        if source in known:
            return {source}
        return {name for name, thing in known.items() if any(origin.source == source for origin in thing.label.origins)}

    def _turn_of(self, name: str) -> TurnId | None:
        return next((entry.turn for entry in self._events if entry.event.id == name), None) or TurnId(name.rpartition(":")[0])

    def _require_over(self, source: str, names: set[str]) -> None:
        for turn in {self._turn_of(name) for name in names}:
            if turn in self._turns and self._turns[turn].ended_at is None:
                raise BadInput(f"turn {turn} is not over and has words from {source}; stop it, then forget")

    def _forget(self, source: str, names: set[str], reason: str) -> int:
        by_turn: dict[TurnId, list[str]] = {}
        for entry in [entry for entry in self._events if entry.event.id in names]:
            self._erase_event(entry, reason)
            by_turn.setdefault(entry.turn or TurnId(""), []).append(entry.event.id)
        for step in [step for steps in self._steps.values() for step in steps if str(step.ref) in names]:
            self._erase_step(step.ref, reason)
            by_turn.setdefault(step.turn, []).append(str(step.ref))
        sent = [letter for letter in self._outbox if any(origin.source == source for origin in letter.message.label.origins)]
        for letter in sent:
            letter.message = replace(letter.message, content=None)
        for turn, only in by_turn.items():
            self._announce(Erasure(turn, self._clock.now(), reason, tuple(only)))
        return len(names) + len(sent)

    def _lessen(self, by: Amendment, source: str, names: set[str]) -> int:
        lessened = self._amendments.forget(by.space, source, names)
        for amendment in lessened:
            self._empty_quotes(amendment.id)
            if not amendment.operations:
                self._announce(Erasure(TurnId(""), self._clock.now(), by.reason, (amendment.id,)))
        return len(lessened)

    def _erase_event(self, entry: _Entry, reason: str) -> Tombstone:
        tombstone = Tombstone(hashlib.sha256(encode(Event, entry.event)).hexdigest(), self._clock.now(), reason)
        entry.event = replace(entry.event, body=tombstone)
        self._empty_quotes(entry.event.id)
        return tombstone

    def _erase_step(self, ref: StepRef, reason: str) -> Tombstone:
        step = self._steps[ref.turn][ref.n]
        tombstone = Tombstone(hashlib.sha256(encode(Step, step)).hexdigest(), self._clock.now(), reason)
        self._steps[ref.turn][ref.n] = replace(step, body=tombstone)
        if isinstance(step.body, Replied | ModelFailed) and step.body.request is not None:
            self._blobs[step.body.request] = None
        for timer in self._timers.values():
            if timer.set_by == ref:
                timer.reminder = replace(timer.reminder, about="")
        self._empty_quotes(str(ref))
        return tombstone

    def _empty_quotes(self, ref: str) -> None:
        self._blobs |= dict.fromkeys(self._quotes.pop(ref, ()))

    # -- Forks

    async def fork(self, at: StepRef, effects: Literal["world", "record"] = "record") -> Turn:
        original = await self.turn(at.turn)
        copied = self._steps[at.turn][: at.n + 1]
        if len(copied) != at.n + 1:
            raise NotFound(f"turn {at.turn} has no step {at.n}")
        if any(isinstance(step.body, Tombstone) for step in copied):
            raise Erased(f"turn {at.turn} was erased; there is nothing left to fork")
        new = TurnId(self._ids.new("t"))
        forked = replace(
            original, id=new, conversation=f"fork/{new}", forked_from=at, effects=effects, parent=None, state=State.RUNNING, ending=None,
            ended_at=None, created_at=self._clock.now(),
        )  # fmt: skip
        self._turns[new] = forked
        self._steps[new] = [replace(step, turn=new) for step in copied]
        return forked

    # -- Timers, Outbox

    async def pending(self, conversation: Conversation) -> tuple[Reminder, ...]:
        found = [t.reminder for t in self._timers.values() if t.is_set and t.reminder.conversation == conversation]
        return tuple(sorted(found, key=lambda r: r.at))

    async def outgoing(self, limit: int, without: Collection[str] = ()) -> tuple[Outgoing, ...]:
        found: list[Outgoing] = []
        places: set[Address] = set()
        for letter in self._outbox:
            if letter.state not in ("queued", "sending") or letter.message.to in places or self._waits_for_its_moment(letter):
                continue
            places.add(letter.message.to)
            is_open = letter.state == "queued" or letter.message.in_doubt
            if is_open and (letter.retry_at is None or letter.retry_at <= self._clock.now()) and letter.message.to.channel not in without:
                found.append(letter.message)
        return tuple(found[:limit])

    def _waits_for_its_moment(self, letter: _Letter) -> bool:
        return letter.not_before is not None and letter.not_before > self._clock.now()

    async def sending(self, message: Outgoing, piece: int) -> None:
        letter = self._letter(message)
        letter.state, letter.message = "sending", replace(letter.message, done=piece, in_doubt=False)

    async def progressed(self, message: Outgoing, piece: int, state: Delivery, ref: str = "", unsure: str = "") -> None:
        letter = self._letter(message)
        attempts = 0 if state == "queued" else letter.message.attempts + 1
        letter.state, letter.retry_at, letter.note = state, None, unsure
        letter.message = replace(letter.message, attempts=attempts, done=piece + 1, unsure=unsure, in_doubt=False)
        if ref:
            self._refs[message.to, ref] = message.key

    async def delivered(self, message: Outgoing, state: Delivery, note: str = "", retry_at: datetime | None = None) -> None:
        letter = self._letter(message)
        letter.state, letter.retry_at, letter.note = state, retry_at, note
        letter.message = replace(letter.message, attempts=letter.message.attempts + 1, in_doubt=state == "sending")

    async def postponed(self, message: Outgoing, note: str, retry_at: datetime | None = None) -> None:
        letter = self._letter(message)
        letter.state, letter.retry_at, letter.note = "sending" if message.in_doubt else "queued", retry_at, note
        letter.message = replace(letter.message, in_doubt=message.in_doubt)

    async def readdress(self, message: Outgoing, to: Address) -> None:
        letter = self._letter(message)
        letter.message = replace(letter.message, to=to)

    async def sent_as(self, channel: str, place: str, ref: str) -> Key | None:
        return self._refs.get((Address(channel, place), ref))

    async def mailings(self, limit: int, channel: str = "", state: str = "") -> tuple[Mailing, ...]:
        found = [letter for letter in reversed(self._outbox) if not isinstance(letter.message.content, Event)]
        wanted = [each for each in found if channel in ("", each.message.to.channel) and state in ("", each.state)]
        return tuple(map(_mailing, wanted[:limit]))

    # -- inside

    def _next_turn(self, conversation: Conversation, pins: Pins) -> Turn | None:
        for turn in sorted(self._turns.values(), key=lambda t: t.id):
            if turn.where == conversation and (turn.state is State.RUNNING or (turn.state is State.PARKED and turn.id in self._stopped)):
                return self._resume(turn)
        keeps_place = any(w.on == "model" for t, waits in self._waits.items() if self._turns[t].where == conversation for w in waits)
        for entry in self._events:
            if entry.is_taken or entry.event.where != conversation or (entry.turn is None and keeps_place):
                continue
            if entry.turn is None and not self._is_orphan(entry.event):
                return self._open(entry, pins)
            if entry.turn is not None and self._turns[entry.turn].state is State.PARKED:
                return self._resume(self._turns[entry.turn])
            entry.is_taken = entry.is_late = True
        return None

    def _is_orphan(self, event: Event) -> bool:
        parent = None if event.parent is None else self._turns.get(event.parent.turn)
        return parent is not None and parent.ending is not None and parent.ending.stops_children

    def _resume(self, turn: Turn) -> Turn:
        self._waits.pop(turn.id, None)
        self._turns[turn.id] = replace(turn, state=State.RUNNING)
        return self._turns[turn.id]

    def _open(self, entry: _Entry, pins: Pins) -> Turn:
        event, new = entry.event, TurnId(self._ids.new("t"))
        parent = event.parent
        above = None if parent is None else self._turns.get(parent.turn)
        root = above.root if above is not None else new if parent is None else parent.turn
        turn = Turn(
            id=new, conversation=event.conversation, space=event.space, event=event.id, principal=event.principal, agent=event.agent,
            root=root, state=State.RUNNING, created_at=self._clock.now(), label=event.label, pins=pins, parent=parent,
            job=event.job if above is None else above.job, origin=event.conversation if above is None else above.origin,
            origin_agent=event.agent if above is None else above.origin_agent,
        )  # fmt: skip
        entry.turn, entry.is_taken = new, True
        self._turns[new], self._steps[new] = turn, []
        return turn

    def _fence(self, claim: Claim) -> _Lease:
        lease = self._leases[claim.conversation]
        if (lease.epoch, lease.holder) != (claim.epoch, claim.worker):
            raise Fenced(f"conversation {claim.conversation} is held under another epoch than {claim.epoch}")
        return lease

    def _append(self, claim: Claim, steps: Sequence[Step], blobs: Sequence[Blob]) -> None:
        known = self._steps[claim.turn.id]
        if [s.n for s in steps] != list(range(len(known), len(known) + len(steps))):
            raise Fenced(f"steps {[s.n for s in steps]} do not follow step {len(known) - 1}")
        ledger = deepcopy(self._ledger)
        for step in steps:
            ledger.take(step)
        self._ledger = ledger
        self._rouse()
        for step in steps:
            known.append(step)
            if isinstance(step.body, PROGRESS):
                self._attempts[claim.turn.id] = 0
            self._apply(claim, step)
            self._announce(step.ref)
        for blob in blobs:
            self._blobs.setdefault(blob.hash, b"".join(blob.chunks))
            self._blob_of.setdefault(blob.hash, claim.turn.id)
        for step in steps:
            if isinstance(step.body, Replied | ModelFailed) and step.body.request is not None:
                for ref in step.body.context:
                    if ref.what == "quote":
                        self._quotes.setdefault(ref.ref, set()).add(step.body.request)

    def _rouse(self) -> None:
        """The waits of turns for which there is room now are over."""
        for turn in self._ledger.due:
            self._waits[turn] = [replace(wait, until=self._clock.now()) for wait in self._waits.get(turn, ())]
        self._ledger.due.clear()

    def _apply(self, claim: Claim, step: Step) -> None:
        match step.body:
            case Received(event=event):
                entry = self._entry(event)
                entry.turn, entry.is_taken = claim.turn.id, True
            case Happened(intent=origin, operations=operations) | Started(intent=origin, operations=operations):
                if isinstance(step.body, Happened):
                    self._withdraw(f"{claim.turn.id}:{origin}:")
                self._operate(claim, step, origin, operations)
            case Answered(question=question):
                self._withdraw(f"{claim.turn.id}:{question}:")
            case Granted():
                self._grants.take(step)
            case Asked(operations=operations):
                self._operate(claim, step, step.n, operations)
            case _:
                pass

    def _operate(self, claim: Claim, step: Step, origin: int, operations: tuple[Operation, ...]) -> None:
        again = f"{step.n}." if isinstance(step.body, Started) and step.body.goes_on else ""
        for i, operation in enumerate(operations):
            key = f"{claim.turn.id}:{origin}:{again}{i}"
            match operation:
                case SetTimer(timer, at, about):
                    reminder = Reminder(timer, claim.conversation, at, about, step.label)
                    self._timers.setdefault(timer, _Timer(reminder, claim.event, step.label, step.ref))
                case CancelTimer(timer):
                    if timer in self._timers:
                        self._timers[timer].is_set = False
                case Send(to, parts, not_before, asks):
                    self._send(claim, key, to, Said(parts, asks=asks), step.label)
                    self._outbox[-1].not_before = not_before
                case Post(agent, conversation, parts):
                    event = self._internal(claim, key, conversation, FromAgent(step.agent, parts), step.label)
                    self._post(claim, replace(event, agent=agent, parent=StepRef(claim.turn.id, origin)))
                case MakeHook(hook):
                    self._hooks.make(step.space, Hooked(hook, step.principal, step.label, self._clock.now()))
                case Automate(automation):
                    self._automations.put(step.space, automation, Kept(automation, step.principal, step.label, step.at), step.at)
                case Cease(automation):
                    self._automations.rows.pop((step.space, automation), None)
                case _:
                    pass

    def _withdraw(self, key: str) -> None:
        for letter in self._outbox:
            if letter.state == "queued" and self._waits_for_its_moment(letter) and letter.message.key.startswith(key):
                letter.state = "failed"

    def _end(self, claim: Claim, end: Ended) -> None:
        turn = replace(self._turns[claim.turn.id], state=end.ending.state, ending=end.ending, ended_at=self._clock.now(), label=end.label)
        self._turns[turn.id] = turn
        for entry in self._events:
            entry.is_late |= entry.turn == turn.id and not entry.is_taken
            entry.is_taken |= entry.turn == turn.id
        self._withdraw(f"{turn.id}:")
        if end.reply and claim.event.reply_to is not None:
            self._send(claim, f"{turn.id}:reply", claim.event.reply_to, Said(end.reply), end.label)
        for n, send in enumerate(end.told):
            self._send(claim, f"{turn.id}:told:{n}", send.to, Said(send.parts), end.label)
        if turn.parent is not None and turn.reports and turn.parent.turn in self._turns:
            text = "\n".join(part.text for part in end.reply if isinstance(part, Text))
            late = Late({"ending": end.ending.value, "text": text}, end.ending not in (Ending.ANSWERED, Ending.SILENT))
            home = self._turns[turn.parent.turn].conversation
            self._post(claim, replace(self._internal(claim, f"{turn.id}:report", home, late, end.label), resolves=turn.parent))
        if end.ending.stops_children:
            for child in [t for t in self._turns.values() if t.parent is not None and t.parent.turn == turn.id and t.state in OPEN]:
                stop = Stop(child.id, f"its parent {turn.id} ended")
                self._post(claim, self._internal(claim, f"{turn.id}:stop:{child.id}", child.conversation, stop, turn.label))

    async def _fire(self, now: datetime) -> None:
        for timer in self._timers.values():
            reminder = timer.reminder
            if timer.is_set and reminder.at <= now:
                timer.is_set = False
                late_s = max(0.0, (now - reminder.at).total_seconds())
                body = Fired(reminder.timer, reminder.about, reminder.at, late_s)
                await self.accept(
                    replace(
                        timer.event, id=EventId(self._ids.new("e")), source="timer", key=Key(reminder.timer), body=body, label=timer.label,
                        parent=None, resolves=None, occurred_at=reminder.at, received_at=now,
                    )
                )  # fmt: skip
        for turn, waits in list(self._waits.items()):
            for wait in [w for w in waits if w.until is not None and w.until <= now]:
                waits[waits.index(wait)] = replace(wait, until=None)
                assert wait.until is not None
                label = Label.of(Origin(Author.SERVICE, "timeout"))
                await self.accept(
                    replace(
                        self._entry(self._turns[turn].event).event, id=EventId(self._ids.new("e")), source="timeout", key=wait.step.key,
                        resolves=wait.step, parent=None, label=label, occurred_at=wait.until, received_at=now,
                        body=Fired(TimerId(str(wait.step)), "", wait.until),
                    )
                )  # fmt: skip

    def _internal(self, claim: Claim, key: str, conversation: str, body: FromAgent | Late | Stop, label: Label) -> Event:
        now = self._clock.now()
        return Event(
            id=EventId(self._ids.new("e")), source=INTERNAL, key=Key(key), space=claim.turn.space, conversation=conversation,
            principal=claim.turn.principal, agent=claim.turn.agent, body=body, label=label, occurred_at=now, received_at=now,
        )  # fmt: skip

    def _post(self, claim: Claim, event: Event) -> None:
        self._send(claim, event.key, Address(INTERNAL, event.conversation), event, event.label)

    def _send(self, claim: Claim, key: str, to: Address, content: Said | Event, label: Label) -> None:
        message = Outgoing(key=Key(key), conversation=claim.conversation, to=to, content=content, label=label, created_at=self._clock.now())
        self._outbox.append(_Letter(message, claim.turn.id))

    def _notice(self, claim: Claim) -> Noticed:
        newer = tuple(e.event for e in self._events if not e.is_taken and e.turn is None and e.event.where == claim.conversation)
        return Noticed(claim.turn.id in self._stopped, self._arrived(claim.turn), newer)

    def _arrived(self, turn: Turn) -> tuple[Event, ...]:
        return tuple(e.event for e in self._events if not e.is_taken and e.turn == turn.id)

    def _has_work(self, conversation: Conversation) -> bool:
        return any(not e.is_taken and e.event.where == conversation for e in self._events) or any(
            t.where == conversation and (t.state is State.RUNNING or (t.state is State.PARKED and t.id in self._stopped))
            for t in self._turns.values()
        )

    def _entry(self, event: EventId) -> _Entry:
        for entry in self._events:
            if entry.event.id == event:
                return entry
        raise NotFound(f"there is no event {event!r}")

    def _letter(self, message: Outgoing) -> _Letter:
        return next(letter for letter in self._outbox if letter.message.key == message.key)

    def _change(self, position: int) -> Change:
        name = self._log[position - 1]
        match name:
            case StepRef():
                return Change(Cursor(str(position)), self._steps[name.turn][name.n])
            case Erasure():
                return Change(Cursor(str(position)), name)
            case _Amended(id_):
                return Change(Cursor(str(position)), self._amendments[id_])
            case _:
                return Change(Cursor(str(position)), self._entry(name).event)

    def _announce(self, name: EventId | StepRef | Erasure | _Amended) -> None:
        self._log.append(name)
        self._news.set()
        self._news = asyncio.Event()
