"""Running what was intended, all at once, after the intents are on disk.

An outcome is written as soon as it is known while others still run; the last one waits for the next decision and shares its
commit. When the turn is stopped, what still runs is cancelled and its outcome says so. A fork takes outcomes from the record
of the turn that it came from, never from the world.
"""

import asyncio
from dataclasses import dataclass

from daimon.abi.errors import ToolFailed
from daimon.abi.label import EMPTY, Label
from daimon.abi.step import Happened, Intended, Started
from daimon.abi.tool import Effect
from daimon.kernel import asking, files, wall
from daimon.kernel.calls import call_for
from daimon.kernel.dispatch import UNCLEAR, Dispatch, How, refused
from daimon.kernel.grants import ran_on
from daimon.kernel.held import Holding, known_in, label_of
from daimon.kernel.log import Log
from daimon.kernel.offers import Wanted
from daimon.kernel.record import Record
from daimon.kernel.recovery import what_happened
from daimon.kernel.running import Running, Stopped
from daimon.kernel.situation import situation_of


@dataclass(frozen=True, slots=True)
class Doubt:
    """A call of which nobody knows whether it took effect: a question to the owner."""

    intent: int
    intended: Intended
    why: str


@dataclass(frozen=True, slots=True)
class Acting:
    dispatch: Dispatch
    record: Record

    async def act(self, running: Running, intents: tuple[int, ...]) -> None:
        log = running.log
        intents = await self._kept(log, tuple(n for n in intents if not self._is_held_back(log, n)))
        await log.commit()
        if not intents:
            return
        if log.progress.is_stopped:
            _cancelled(log, intents, "the turn was stopped before this began")
            raise Stopped
        tasks = {asyncio.ensure_future(self._run(log, n)): n for n in intents}
        try:
            await running.unless_stopped(_gather(log, self.dispatch.holding, set(tasks)))
        except Stopped:
            _cancelled(log, intents, "the turn was stopped while this ran; it may or may not have taken effect")
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _kept(self, log: Log, intents: tuple[int, ...]) -> tuple[int, ...]:
        """Makes a checkpoint where one of these changes files. Without one none of those runs: they could not be taken back."""
        changing = tuple((n, intended) for n in intents if (intended := log.progress.intent(n)) and self.dispatch.changes_files(intended))
        if not changing or log.claim.turn.effects == "record":
            return intents
        try:
            calls, first = tuple(intended for _, intended in changing), call_for(log, changing[0][0])
            made = await files.kept(self.dispatch.checkpoints, first, calls, self.dispatch.redactor)
        except ToolFailed as failed:
            for n, intended in changing:
                log.add(refused(n, intended, failed.reason, f"no checkpoint could be made before it: {failed}", retryable=failed.retryable))
            return tuple(n for n in intents if n not in dict(changing))
        if made is not None:
            log.add(made)
        return intents

    def _is_held_back(self, log: Log, n: int) -> bool:
        """Does it wait for somebody to stop it? That it does is written with the decision to run it."""
        intended = log.progress.intent(n)
        manifest = None if intended is None else self.dispatch.known().get(intended.tool)
        return intended is not None and manifest is not None and asking.wait_for_second_thoughts(log, Wanted(n, intended, manifest))

    async def _run(self, log: Log, n: int) -> Happened | Started | Doubt:
        intended = log.progress.intent(n)
        assert isinstance(intended, Intended)
        if log.claim.turn.effects == "record":
            return await self.record.outcome(log.claim.turn, n, intended)
        if _has_lost_its_grant(log, n, intended):
            before = "; it may have taken effect before" if n in log.progress.rerun else ""
            return refused(n, intended, "denied", f"what it was allowed by was revoked, or has run out{before}")
        if (asked := log.progress.resumed(n)) is not None:
            word = log.progress.words.pop(n, None)
            return await self.dispatch.go_on(n, intended, await situation_of(log, self.dispatch, n), asked.handle, word)
        how: How = "reran" if n in log.progress.rerun else "ran"
        outcome = await self.dispatch.run(n, intended, await situation_of(log, self.dispatch, n), how)
        if isinstance(outcome, Happened) and outcome.code in UNCLEAR:
            return await self._settled(log, n, intended, outcome)
        return outcome

    async def _settled(self, log: Log, n: int, intended: Intended, unclear: Happened) -> Happened | Started | Doubt:
        """After a time-out or a crash of the tool nobody knows whether it took effect. The same rules as after a crash of ours."""
        match intended.effect:
            case Effect.PURE:
                return unclear
            case Effect.IDEMPOTENT:
                again = await self.dispatch.run(n, intended, await situation_of(log, self.dispatch, n), "reran")
                is_no_help = isinstance(again, Happened) and again.code in (*UNCLEAR, "rate_limited", "tool_changed")
                return Doubt(n, intended, "A second try did not help.") if is_no_help else again
            case Effect.VERIFIABLE:
                try:
                    return await self.dispatch.verify(n, intended, await situation_of(log, self.dispatch, n)) or unclear
                except ToolFailed as silent:
                    return Doubt(n, intended, f"Asking whether it did failed: {silent}")
            case Effect.UNSAFE:
                return Doubt(n, intended, "It cannot be repeated safely.")


def _has_lost_its_grant(log: Log, n: int, intended: Intended) -> bool:
    """It was allowed ahead of time, by nobody else since, and is not any more."""
    grant = ran_on(intended.gate.by)
    is_standing = grant is None or any(known.id == grant for known in log.desk.grants.current(log.now()))
    return not is_standing and not log.progress.is_asked_for(n)


async def _gather(log: Log, holding: Holding, tasks: "set[asyncio.Future[Happened | Started | Doubt]]") -> None:
    while tasks:
        done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for outcome in sorted((task.result() for task in done), key=lambda o: o.intent):
            match outcome:
                case Started() if holding.is_used_up(log, outcome):
                    log.add(_used_up(log, holding, outcome.intent))
                case Started():
                    log.add(asking.announce(log, outcome), log.progress.label.joined(_passed_on(log, outcome)))
                case Happened():
                    opened = wall.opened(log, outcome)
                    log.add(opened, log.progress.label.joined(opened.result.label))
                case Doubt(intent, intended, why):
                    asking.ask(log, what_happened(intended, why), (intent,))
        if tasks:
            await log.commit()


def _used_up(log: Log, holding: Holding, n: int) -> Happened:
    intended = log.progress.intent(n)
    assert intended is not None
    message = f"this turn has had {holding.closed_answers} closed answers, which is all that it may (context.closed_answers)"
    return refused(n, intended, "too_many_answers", message)


def _passed_on(log: Log, started: Started) -> Label:
    """The label of the held values that a call was given, and of what it says that it passes on: what it set going carries them."""
    intended = log.progress.intent(started.intent)
    given = EMPTY if intended is None else label_of(known_in(log, intended.arguments).values())
    return given if started.carries is None else given.joined(started.carries)


def _cancelled(log: Log, intents: tuple[int, ...], why: str) -> None:
    for n in intents:
        intended = log.progress.intent(n)
        if intended is not None and not log.progress.is_settled(n) and not log.progress.is_outside(n):
            log.add(refused(n, intended, "cancelled", why, "cancelled"))
