"""Running what was intended, all at once, after the intents are on disk.

An outcome is written as soon as it is known while others still run; the last one waits for the next decision and shares its
commit. When the turn is stopped, what still runs is cancelled and its outcome says so. A fork takes outcomes from the record
of the turn that it came from, never from the world.
"""

import asyncio
from dataclasses import dataclass

from daimon.abi.step import Happened, Intended, Started
from daimon.kernel import asking
from daimon.kernel.calls import call_for
from daimon.kernel.dispatch import Dispatch, How, refused
from daimon.kernel.log import Log
from daimon.kernel.record import Record
from daimon.kernel.running import Running, Stopped


@dataclass(frozen=True, slots=True)
class Acting:
    dispatch: Dispatch
    record: Record

    async def act(self, running: Running, intents: tuple[int, ...]) -> None:
        log = running.log
        await log.commit()
        tasks = {asyncio.ensure_future(self._run(log, n)): n for n in intents}
        try:
            await running.unless_stopped(_gather(log, set(tasks)))
        except Stopped:
            _cancelled(log, intents)
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _run(self, log: Log, n: int) -> Happened | Started:
        intended = log.progress.intent(n)
        assert isinstance(intended, Intended)
        if log.claim.turn.effects == "record":
            return await self.record.outcome(log.claim.turn, n, intended)
        how: How = "reran" if n in log.progress.rerun else "ran"
        return await self.dispatch.run(n, intended, call_for(log, n), how)


async def _gather(log: Log, tasks: "set[asyncio.Future[Happened | Started]]") -> None:
    while tasks:
        done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for outcome in sorted((task.result() for task in done), key=lambda o: o.intent):
            if isinstance(outcome, Started):
                log.add(asking.announce(log, outcome))
            else:
                log.add(outcome, log.progress.label.joined(outcome.result.label))
        if tasks:
            await log.commit()


def _cancelled(log: Log, intents: tuple[int, ...]) -> None:
    for n in intents:
        intended = log.progress.intent(n)
        if intended is not None and not log.progress.is_settled(n) and log.progress.started(n) is None:
            log.add(
                refused(n, intended, "cancelled", "the turn was stopped while this ran; it may or may not have taken effect", "cancelled")
            )
