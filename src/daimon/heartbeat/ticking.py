"""The heart: sleeps until the next tick is due, looks, and wakes a model only with a change.

Each round reads the automations from the journal, asks `missed.py` what is due of each, and starts a task for it; one that is still at it
is left alone. A tick is recorded before anything follows from it, with its event in the same transaction, so whatever is killed in between
nothing runs twice and nothing is forgotten: what is not on record is due again.

Rounds follow each other when something is due, when somebody pokes, and at least every half minute, since the clock on the wall may jump.
Watchers run side by side, some at a time, each within a time (`looking.py`): one that hangs holds up nobody else. Nothing raises out of
`serve`: what fails is recorded with its tick, and what cannot be recorded is tried again with the next round.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from daimon.abi.automation import Automations, Kept, Outcome, Tick
from daimon.abi.cleaning import cleaned
from daimon.abi.errors import DaimonError, NotFound, WatchFailed
from daimon.abi.event import Address, Event
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, PrincipalId
from daimon.abi.money import Limit
from daimon.abi.plain import clean
from daimon.abi.ports import Archive, Clock, Ids
from daimon.abi.turn import State
from daimon.abi.watch import Look
from daimon.heartbeat import missed
from daimon.heartbeat.beat import event_of
from daimon.heartbeat.looking import Looking

LONGEST_NAP_S = 30.0
MOST_AT_ONCE = 16
OPEN = (State.RUNNING, State.PARKED)
_LOG = logging.getLogger(__name__)


class Records(Automations, Archive, Protocol):
    """The journal, as automations see it."""


async def _the_owner(to: Address | None) -> PrincipalId:
    return OWNER


@dataclass(frozen=True, slots=True)
class Around:
    """What a tick touches outside."""

    wake: Callable[[Event], Awaitable[None]]
    """It was accepted."""
    redact: Callable[[str], str]
    """Takes known secrets out of what is written down."""
    limits: dict[str, Limit]
    """What each automation may cost a day, where it says so. Kept up to date here, read where calls are paid."""
    whom: Callable[[Address | None], Awaitable[PrincipalId]] = _the_owner
    """Who reads at a place: its turn serves them, so that nothing of the owner's comes into what they are told."""


class Ticking:
    def __init__(self, records: Records, looking: Looking, around: Around, clock: Clock, ids: Ids) -> None:
        self._records = records
        self._looking = looking
        self._around = around
        self._clock = clock
        self._ids = ids
        self._poked = asyncio.Event()
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._trouble = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*((f"automations: {self._trouble}",) if self._trouble else ()), *self._looking.warnings)

    def poke(self) -> None:
        """Something changed."""
        self._poked.set()

    def can_watch(self, kind: str) -> bool:
        return kind in self._looking.watchers

    async def serve(self) -> None:
        """Runs until cancelled."""
        try:
            while True:
                self._poked.clear()
                await self._nap(await self._guarded_round())
        finally:
            for task in self._busy.values():
                task.cancel()
            if self._busy:
                await asyncio.wait(set(self._busy.values()))

    async def settle(self) -> None:
        """Everything that is due now, done; for who plays with the clock."""
        await self._guarded_round()
        while self._busy:
            await asyncio.wait(set(self._busy.values()))
            await asyncio.sleep(0)

    async def run(self, kept: Kept) -> Tick:
        """Now, because somebody wants it: paused or not, and behind whatever goes on."""
        at = self._clock.now()
        return await self._tick(kept, Tick(automation=kept.automation.id, due=at, at=at, outcome="ran", why="by hand", by_hand=True))

    async def _guarded_round(self) -> float:
        try:
            pause = await self._round()
        except Exception as failed:  # noqa: BLE001 - whatever is wrong with automations, the gateway goes on
            self._say(failed)
            return LONGEST_NAP_S
        self._trouble = ""
        return pause

    async def _round(self) -> float:
        """Starts what is due; says for how long nothing else is."""
        now, pause = self._clock.now(), LONGEST_NAP_S
        all_kept = await self._records.automations(HOME_SPACE)
        self._note(all_kept)
        for kept in all_kept:
            name = kept.automation.id
            if name in self._busy:
                continue
            if not (plan := missed.plan(kept, now)).is_empty:
                self._busy[name] = asyncio.ensure_future(self._carry_out(kept, plan))
            elif (at := missed.wakes_at(kept)) is not None:
                pause = min(pause, max(0.0, (at - now).total_seconds()))
        return pause

    def _note(self, all_kept: tuple[Kept, ...]) -> None:
        self._looking.forget({kept.automation.id for kept in all_kept})
        limits = {a.id: Limit(a.tokens, a.cost) for a in (kept.automation for kept in all_kept) if (a.tokens, a.cost) != (None, None)}
        if limits != self._around.limits:
            self._around.limits.clear()
            self._around.limits.update(limits)

    async def _carry_out(self, kept: Kept, plan: missed.Plan) -> None:
        name = kept.automation.id
        try:
            async with self._slots:
                await self._carry(kept, plan)
        except Exception as failed:  # noqa: BLE001 - the supervisor of one automation: the others go on, and it is due again
            self._say(failed)
            await self._clock.sleep(LONGEST_NAP_S)
        finally:
            del self._busy[name]
            self.poke()

    async def _carry(self, kept: Kept, plan: missed.Plan) -> None:
        name, now = kept.automation.id, self._clock.now()
        for i, due in enumerate(plan.missed):
            why = "nobody ran then" + (f", {plan.left_out}" if plan.left_out and i == 0 else "")
            outcome: Outcome = "skipped" if kept.automation.is_paused else "missed"
            tick = Tick(automation=name, due=due, at=now, outcome=outcome, why="paused" if kept.automation.is_paused else why)
            await self._records.tick(HOME_SPACE, tick)
        for n, due in enumerate(plan.runs):
            kept = await self._again(kept) if n else kept
            late_s = (now - due).total_seconds()
            why = f"caught up {late_s:.0f} s late" if late_s > missed.GRACE.total_seconds() else ""
            # Where several are caught up they queue: the one before is no reason to skip the next.
            unhindered = replace(kept, event="") if len(plan.runs) > 1 else kept
            await self._tick(unhindered, Tick(automation=name, due=due, at=now, outcome="ran", why=why))

    async def _again(self, kept: Kept) -> Kept:
        """As it stands after a tick, if nobody changed it."""
        found = await self._records.automations(HOME_SPACE)
        return next((each for each in found if (each.automation.id, each.version) == (kept.automation.id, kept.version)), kept)

    async def _tick(self, kept: Kept, tick: Tick) -> Tick:
        """What became of it, on record."""
        if why := await self._why_not(kept, tick):
            return await self._record(kept, replace(tick, outcome="skipped", why=why))
        look: Look | None = None
        if kept.automation.watch is not None:
            try:
                look = await self._looking.look(kept)
            except WatchFailed as failed:
                return await self._record(kept, replace(tick, outcome="failed", why=_words(tick.why, self._told(str(failed)))))
        return await self._ran(kept, tick, look)

    async def _why_not(self, kept: Kept, tick: Tick) -> str:
        if tick.by_hand:
            return ""
        if kept.automation.is_paused:
            return "paused"
        return self._looking.resting(kept.automation.id) or await self._still_going(kept)

    async def _still_going(self, kept: Kept) -> str:
        """Why the last event stands in the way. Events of one automation follow each other, so `wait` only has to hand one over; but no
        more than one waits."""
        if not kept.event:
            return ""
        with suppress(NotFound):  # it was aged out
            await self._records.event(EventId(kept.event))
            turn = await self._records.turn_of(EventId(kept.event))
            if turn is None:
                return "the last one has not begun yet"
            if turn.state in OPEN and kept.automation.overlap == "skip":
                what = "waits for an answer or a moment" if turn.state is State.PARKED else "is still running"
                return f"the turn of the last one {what} ({turn.id})"
        return ""

    async def _ran(self, kept: Kept, tick: Tick, look: Look | None) -> Tick:
        note = _words(tick.why, "" if look is None else self._told(look.note))
        if look is not None and look.change is None:
            return await self._record(kept, replace(tick, outcome="unchanged", why=note), state=look)
        now = self._clock.now()
        event = event_of(kept, tick.due, now, self._ids.new("e"), look, await self._around.whom(kept.automation.to))
        event = replace(cleaned(event, self._around.redact), label=cleaned(event.label, self._around.redact))
        return await self._record(kept, replace(tick, why=note, event=event.id), event, look)

    async def _record(self, kept: Kept, tick: Tick, event: Event | None = None, state: Look | None = None) -> Tick:
        accepted = await self._records.tick(HOME_SPACE, tick, event, None if state is None else state.state, kept.version)
        if event is not None and accepted is not None and accepted.is_new:
            await self._around.wake(event)
        elif event is not None:
            return replace(tick, outcome="skipped", why="it was changed meanwhile, or is on record", event="")
        return tick

    async def _nap(self, seconds: float) -> None:
        sleeping = asyncio.ensure_future(self._clock.sleep(seconds))
        poked = asyncio.ensure_future(self._poked.wait())
        try:
            await asyncio.wait({sleeping, poked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            poked.cancel()

    def _told(self, text: str) -> str:
        return self._around.redact(clean(text))[:500]

    def _say(self, failed: Exception) -> None:
        told = self._told(str(failed) if isinstance(failed, DaimonError) else f"{type(failed).__name__}: {failed}")
        if told != self._trouble:
            _LOG.warning("automations: %s", told)
        self._trouble = told


def _words(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
