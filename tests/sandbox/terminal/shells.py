"""A shell in a box, for tests, and what its commands printed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from daimon.sandbox.box import RunningBox
from daimon.sandbox.terminal.kept import Kept
from daimon.sandbox.terminal.printing import Printing
from daimon.sandbox.terminal.session import Finish, Session
from daimon.sandbox.terminal.state import State

DEADLINE_S = 60.0


class Shell:
    def __init__(self, session: Session, kept: Kept) -> None:
        self.session, self.kept, self._number = session, kept, 0
        self.printing = Printing.nowhere()

    async def run(self, text: str, timeout_s: float = 30.0) -> tuple[Finish, str]:
        self._number += 1
        self.printing = Printing(self.kept.begin(f"o{self._number}"))
        async with asyncio.timeout(timeout_s + DEADLINE_S):
            finish = await self.session.run(text, timeout_s, self.printing)
        self.kept.finish(self.printing.keeping)
        return finish, self.printing.text(100_000).text

    async def says(self, text: str) -> str:
        finish, printed = await self.run(text)
        assert (finish.end, finish.code) == ("exited", 0), (text, finish, printed)
        return printed.strip()

    async def has_printed(self, what: bytes) -> bool:
        return what in self.printing.since(0)

    async def has_running(self, *lines: str) -> bool:
        """These and nothing else. Until a job has become another program it is called as its shell is."""
        return sorted(job.line for job in await self.session.jobs()) == [*lines]


@asynccontextmanager
async def shell(box: RunningBox, place: Path, saved: State | None = None) -> AsyncIterator[Shell]:
    session = await Session.begin(box, {"AGENT_ID": "self", "AGENT_TASK": "t1"}, saved or State())
    try:
        yield Shell(session, Kept(place / "outputs"))
    finally:
        await session.close()


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not await holds():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.01)
