"""What was done by whom, written down.

Every entry of the API that is an act comes here when it is over, with how it ended; so do sign-ins, and those that failed. What it was done
to is named by its id. A secret is never among it: bodies are not looked at.

Strangers can make failures happen. Of those only so many an hour are written, so that they cannot push out what matters.
"""

from collections import deque
from collections.abc import Mapping
from contextlib import suppress

from daimon.abi.access import Access, Act, Caller
from daimon.abi.errors import JournalFailed
from daimon.abi.plain import clean
from daimon.abi.ports import Clock
from daimon.gateway.entry import Entry

MOST_ON = 200
MOST_FAILURES, HOUR_S = 60, 3_600.0


class Acts:
    def __init__(self, access: Access, clock: Clock) -> None:
        self._access, self._clock = access, clock
        self._failures: deque[float] = deque(maxlen=MOST_FAILURES)

    async def record(self, caller: Caller, entry: Entry, path: Mapping[str, str], outcome: str) -> None:
        await self.note(caller, f"{entry.method} {entry.path}", " ".join(map(str, path.values())), outcome)

    async def note(self, caller: Caller, did: str, on: str, outcome: str = "done") -> None:
        await self._access.note(Act(self._clock.now(), caller.id, caller.name, did, clean(on)[:MOST_ON], outcome))

    async def failed(self, address: str, did: str, outcome: str) -> None:
        """Somebody who is not in tried something. That it cannot be written must not keep them from hearing no."""
        now = self._clock.monotonic()
        if len(self._failures) == MOST_FAILURES and now - self._failures[0] < HOUR_S:
            return
        self._failures.append(now)
        with suppress(JournalFailed):
            await self._access.note(Act(self._clock.now(), "nobody", address or "this machine", did, "", outcome))
