"""Whether this gateway should be given work, in one word for machines and one line for people: what `GET /readyz` answers.

    starting    not all has been started yet
    ready       connections succeed, channels take in, and what is taken in can be written down
    ending      it was told to end; whoever can choose should go elsewhere

`healthz` says that the process runs; this says more, and so it may say no: a gateway that rests its turns or whose disk is full runs well
and must not be restarted. It knows nothing of HTTP, and its lines hold no word of the owner.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from daimon.abi.errors import JournalFailed, JournalFull

LONGEST_S = 2.0
State = Literal["starting", "ready", "ending"]


class Readiness:
    def __init__(self, probe: Callable[[], Awaitable[None]]) -> None:
        """`probe` raises JournalFailed where nothing can be written down."""
        self._probe = probe
        self.state: State = "starting"

    async def missing(self) -> str:
        """What keeps it from being ready; empty if nothing does."""
        if self.state == "starting":
            return "starting: not everything has been started yet"
        if self.state == "ending":
            return "ending: it was told to end; what is handed in now is kept and answered after the next start"
        try:
            async with asyncio.timeout(LONGEST_S):
                await self._probe()
        except JournalFull:
            return "full: the disk has no space for the journal"
        except JournalFailed:
            return "stopped: the journal cannot be written"
        except TimeoutError:
            return f"slow: the journal did not answer within {LONGEST_S:g} s"
        return ""
