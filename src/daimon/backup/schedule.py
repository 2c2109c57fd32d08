"""Backups by themselves, while a gateway runs: a look now and then, and a child process where one is due.

Due is a backup when the newest one is older than `backup.every` and something happened since (`state.py`); an idle week makes none. The
clock is asked each time, so a machine that slept does it when it wakes, and a backup that seems to be from the future, because the clock
was wrong then, holds up nothing. The first look is some minutes after the start: a gateway that lives for one question is not kept busy.

The work is done by a process of its own (`daimon backup --auto`), at low priority: packing gigabytes is no work for the process that
answers. It ends when the gateway ends in order; after a kill it finishes what it does, which harms nobody. A failure is said by
`daimon status` until one succeeds, and tried again at the next look.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from daimon.abi.errors import DaimonError
from daimon.abi.ports import Clock
from daimon.backup import shelf, state
from daimon.backup.plan import Plan
from daimon.machine.home import Home

FIRST_S = 300.0
LOOK_S = 1_800.0
STOP_S = 10.0
_LOG = logging.getLogger(__name__)
Make = Callable[[], Awaitable[None]]
"""Raises DaimonError."""


class Schedule:
    def __init__(self, home: Home, plan: Plan, clock: Clock, make: Make) -> None:
        self._home, self._plan, self._clock, self._make = home, plan, clock, make
        self.warnings: tuple[str, ...] = ()

    async def tend(self) -> None:
        if self._plan.every_s is None:
            return
        await self._clock.sleep(FIRST_S)
        while True:
            try:
                if await asyncio.to_thread(is_due, self._home, self._plan, self._clock):
                    await self._make()
                self.warnings = ()
            except Exception as failed:  # noqa: BLE001 - whatever is wrong with backups, the gateway goes on
                self._warn(f"no backup could be made: {failed}")
            await self._clock.sleep(min(LOOK_S, self._plan.every_s))

    def _warn(self, text: str) -> None:
        if (text,) != self.warnings:
            _LOG.warning("%s", text)
        self.warnings = (text,)


def is_due(home: Home, plan: Plan, clock: Clock) -> bool:
    """Blocks for a moment. False where nothing is there yet."""
    if plan.every_s is None or not home.journal.exists():
        return False
    now = clock.now()
    past = [each for each in shelf.listed(plan.to, plan.tag) if each.at <= now]
    if not past:
        return True
    if now - past[0].at < timedelta(seconds=plan.every_s):
        return False
    head = shelf.head_of(past[0])
    return head is None or head.state != state.of(home)


def child_of(home: Path) -> Make:
    """One backup by the schedule's rules, in a process of its own."""

    async def make() -> None:
        await ran(home, "backup", "--auto")

    return make


async def ran(home: Path, *words: str) -> bytes:
    """A command about backups in a process of its own, which ends with whoever waits for it; what it answered. Raises DaimonError."""
    said = ("-P", "-m", "daimon", "--home", str(home), *words, "--json")
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(sys.executable, *said, stdin=nothing, stdout=pipe, stderr=pipe)
    try:
        answer, complaint = await process.communicate()
    except asyncio.CancelledError:
        await _stop(process)
        raise
    if process.returncode:
        raise DaimonError(_reason(complaint))
    return answer


async def _stop(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_S)
        except TimeoutError:
            process.kill()
            await process.wait()


def _reason(said: bytes) -> str:
    text = said.decode("utf-8", "replace").strip()
    with suppress(ValueError, KeyError, TypeError, IndexError):
        return str(json.loads(text.splitlines()[-1])["error"]["message"])
    return text[-500:] or "the process that makes it ended without a word"
