"""Which conversation runs next, and who watches over its turn.

The dispatcher says which conversation to look at; the journal's claim decides. A watcher beside each turn renews its lease
and looks for a stop or a newer message; a sweep asks the journal for what no wake-up told us: fired timers, conversations
that a crash left behind.

A turn that raises is a bug of ours: it is ended with a recorded decision, never retried for ever. One that was claimed twenty
times without recording a step kills the process each time, and is given up. `Fenced` ends the work on the spot. A failing
journal ends the process; a full disk only makes everybody wait.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from daimon.abi.errors import Fenced, JournalDamaged, JournalFailed, JournalFull
from daimon.abi.event import Event, Stop
from daimon.abi.ids import Conversation
from daimon.abi.plain import clean
from daimon.abi.ports import Busy, Claim, Clock, Damaged, Dispatcher, Done, Idle, Journal, More, NotYet, Released, RetryAt
from daimon.abi.turn import Ending, Pins, State
from daimon.kernel.feed import Changed, Feed
from daimon.kernel.log import FULL_RETRY_S, Log
from daimon.kernel.running import Running
from daimon.kernel.turn import Turns

SWEEP_S = 5.0
MOST_ATTEMPTS = 20
MOST_AT_ONCE = 256
DAMAGED_RETRY_S = 60.0


class Scheduler:
    def __init__(self, journal: Journal, dispatcher: Dispatcher, turns: Turns, feed: Feed, clock: Clock, pins: Callable[[], Pins]) -> None:
        self._journal = journal
        self._dispatcher = dispatcher
        self._turns = turns
        self._feed = feed
        self._clock = clock
        self._pins = pins
        self._running: dict[Conversation, Running] = {}
        self._poked = asyncio.Event()
        self._is_draining = False
        self.ttl_s = 30.0

    async def serve(self, slots: int) -> None:
        """Runs until cancelled, or until the journal fails."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._dispatcher.serve(self._handle, slots), name="dispatcher")
            tasks.create_task(self._sweep(), name="sweep")

    async def wake(self, event: Event) -> None:
        """This was accepted. A running turn is only disturbed by what may end it; it sees the rest with its next write."""
        where = event.where
        running = self._running.get(where)
        if running is not None and (isinstance(event.body, Stop) or self._turns.newer == "interrupt"):
            running.nudged.set()
        await self._dispatcher.wake(where)

    def poke(self) -> None:
        """Something may be due earlier than the next sweep."""
        self._poked.set()

    @property
    def running(self) -> int:
        return len(self._running)

    async def drain(self, seconds: float) -> None:
        """No new turns; those under way get this long to rest."""
        self._is_draining = True
        deadline = self._clock.monotonic() + seconds
        while self._running and self._clock.monotonic() < deadline:
            await self._clock.sleep(0.05)

    async def _handle(self, conversation: Conversation) -> Done | RetryAt:
        try:
            while not self._is_draining:
                match await self._journal.claim(conversation, "local", self.ttl_s, self._pins()):
                    case Claim() as claim:
                        if isinstance(await self._run(claim), Released):
                            return Done()
                        if (await self._dispatcher.stats()).waiting:  # others first: a long queue here must not starve them
                            await self._dispatcher.wake(conversation)
                            return Done()
                    case Damaged(turn):
                        self._feed.publish(Changed(conversation, turn, State.FAILED, Ending.FAILED))
                    case Busy():
                        return RetryAt(self._clock.now() + timedelta(seconds=self.ttl_s))
                    case Idle() | NotYet():
                        return Done()
        except JournalFull:
            return RetryAt(self._clock.now() + timedelta(seconds=FULL_RETRY_S))
        except JournalDamaged:
            return RetryAt(self._clock.now() + timedelta(seconds=DAMAGED_RETRY_S))  # one row is no reason to end; a broken file is
        return Done()

    async def _run(self, claim: Claim) -> More | Released:
        log = Log(self._journal, self._clock, self._feed, claim, self._turns.desk, self.poke)
        running = self._running[claim.conversation] = Running(log)
        self._feed.publish(Changed(claim.conversation, claim.turn.id, State.RUNNING))
        watcher = asyncio.ensure_future(self._watch(running))
        try:
            if claim.attempts > MOST_ATTEMPTS:
                return await self._turns.give_up(log, f"the process died {MOST_ATTEMPTS} times in a row at this step")
            return await self._turns.run(running, self._pins())
        except Fenced:
            return Released()
        except JournalFailed:
            raise
        except Exception as bug:  # noqa: BLE001 - the turn supervisor: a bug ends one turn, not the system
            return await self._give_up(log, bug)
        finally:
            watcher.cancel()
            await asyncio.wait({watcher})
            del self._running[claim.conversation]
            self.poke()

    async def _give_up(self, log: Log, bug: Exception) -> More | Released:
        try:
            return await self._turns.give_up(log.restarted(), f"an error in Daimon itself: {clean(f'{type(bug).__name__}: {bug}')}")
        except JournalFailed:
            raise
        except Exception:  # noqa: BLE001 - fenced, or broken twice: the next claim sees it again, and gives it up after a while
            return Released()

    async def _watch(self, running: Running) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.ttl_s / 3):
                    await running.nudged.wait()
            running.nudged.clear()
            try:
                noticed = await self._journal.renew(running.log.claim, self.ttl_s)
            except Fenced:
                running.stop()
                return
            except JournalFull:
                continue  # nobody else can claim it either
            if noticed.is_stopped:
                running.log.progress.is_stopped = True
                running.stop()
            elif self._turns.may_interrupt(running.log, noticed.newer):
                running.log.progress.is_interrupted = True
                running.stop()

    async def _look(self) -> float:
        """Wakes what is due; says how long to wait until the next look."""
        try:
            due = await self._journal.due(self._clock.now(), MOST_AT_ONCE)
        except JournalFull:
            return FULL_RETRY_S
        for conversation in due.conversations:
            if conversation not in self._running:
                await self._dispatcher.wake(conversation)
        return SWEEP_S if due.next_at is None else min(SWEEP_S, (due.next_at - self._clock.now()).total_seconds())

    async def _sweep(self) -> None:
        while True:
            self._poked.clear()
            pause = await self._look()
            sleeping = asyncio.ensure_future(self._clock.sleep(max(0.0, pause)))
            poked = asyncio.ensure_future(self._poked.wait())
            try:
                await asyncio.wait({sleeping, poked}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleeping.cancel()
                poked.cancel()
