"""A home that nobody runs, held by this process, with its journal and what it is written with."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from daimon.abi.event import Event
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home
from daimon.machine.ids import SortableIds

PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Held:
    journal: SqliteJournal
    clock: SystemClock
    random: SystemRandom
    ids: SortableIds


@asynccontextmanager
async def holding(home: Home) -> AsyncIterator[Held]:
    async with AsyncExitStack() as stack:
        take(stack, home)
        clock, random = SystemClock(), SystemRandom()
        ids = SortableIds(clock, random)
        journal = await SqliteJournal.open(home.journal, clock, ids)
        stack.push_async_callback(journal.close)
        ids.go_on_after(await journal.newest())
        yield Held(journal, clock, random, ids)


def take(stack: AsyncExitStack, home: Home) -> None:
    """Another command is done in a moment, and is waited for. Raises HomeBusy."""
    stack.callback(os.umask, os.umask(0o077))  # all that is made from here on holds the owner's words
    home.ensure()
    stack.callback(os.close, home.lock(PATIENCE_S))


class Asleep:
    """Nobody to wake: the next start looks for work by itself."""

    async def wake(self, event: Event) -> None:
        return
