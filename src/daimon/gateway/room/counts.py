"""What stands at the edge of every page: how much waits for the owner, how much is under way.

It is the first that a page reads, so it also says from where on to listen: whoever begins at `cursor` hears of all that came after the page
was read, however long the line took to open.
"""

from dataclasses import dataclass

from daimon.abi.access import Right
from daimon.abi.ids import HOME_SPACE
from daimon.abi.ports import Cursor, Followed
from daimon.abi.turn import State
from daimon.gateway.entry import Call, Entry
from daimon.kernel.questions import open_questions

MOST = 100
"""More are not counted: nobody reads the difference."""


@dataclass(frozen=True, slots=True)
class Counts:
    questions: int
    running: int
    is_fresh: bool
    """Nothing was ever said to it."""
    rights: tuple[Right, ...]
    """Of whoever asks: a page offers what its device may do."""
    cursor: Cursor
    """Where to begin on the WebSocket: no change that is missing here came before it."""


@dataclass(frozen=True, slots=True)
class CountRoutes:
    archive: Followed

    def all(self) -> tuple[Entry, ...]:
        return (Entry("GET", "/v1/room/counts", self._counts, Counts, "How much waits for the owner, how much is under way", Right.READ),)

    async def _counts(self, call: Call[None, None]) -> Counts:
        cursor = await self.archive.end()  # first: what comes meanwhile is heard of twice rather than never
        asked = await open_questions(self.archive, HOME_SPACE)
        running = await self.archive.turns(HOME_SPACE, MOST, None, State.RUNNING)
        some = running or await self.archive.turns(HOME_SPACE, 1)
        return Counts(len(asked), len(running), not some, tuple(sorted(call.caller.rights)), cursor)
