"""One channel's way out: how many go at once, how fast, and whether anybody goes at all.

Each channel has its own, so that a dead one has nothing that another needs (a bulkhead). It is closed in three ways:

    broken      sends to several places failed in a row: after a pause one goes ahead for all, see `abi/breaker.py`
    down        its listening fell: sends may still get through, so one goes at a time
    locked out  the credential is refused: nobody goes, until it listens again or a long time has passed

A place that fails alone closes nothing: an address that does not exist is no reason to keep the others waiting. What waits here is still
on disk as queued, and forgotten with the process.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon.abi.breaker import Breaker
from daimon.abi.channel import Traits
from daimon.abi.ports import Clock, Random
from daimon.gateway.bucket import Bucket

MOST_WAITING = 64
"""So many places of one channel are served at a time; the others stay on disk."""
LOCKED_S = 600.0
MOST_BUCKETS = 1_000


class Line:
    def __init__(self, traits: Traits, clock: Clock, random: Random) -> None:
        self._traits = traits
        self._clock = clock
        self._slots = asyncio.Semaphore(max(1, traits.at_once))
        self._bucket = None if traits.rate is None else Bucket(traits.rate, clock)
        self._places: dict[str, Bucket] = {}
        self._breaker = Breaker(clock, random, first_s=0.0)
        self._failing: set[str] = set()
        """Places that failed, with no success of any since."""
        self._is_down = False
        self._locked_until: float | None = None
        self.waiting = 0
        """Places that are being served."""

    def room(self) -> int:
        """So many more places may be served now."""
        if self.wait_s() > 0:
            return 0
        return (1 if self._is_narrow else MOST_WAITING) - self.waiting

    def wait_s(self) -> float:
        """For how long nobody goes."""
        locked = 0.0 if self._locked_until is None else self._locked_until - self._clock.monotonic()
        return max(0.0, locked, self._breaker.wait_s() if self._breaker.is_open else 0.0)

    @property
    def why(self) -> str:
        """Why nobody goes, while that is so; else empty."""
        return self._breaker.reason if self._breaker.is_open else ""

    @asynccontextmanager
    async def admitted(self, place: str) -> AsyncIterator[None]:
        """Waits for its turn. Whoever is inside says how it went. A place that must go slowly waits outside: it takes nobody's slot."""
        await self._clock.sleep(self._place_pause(place))
        async with self._slots:
            await self._clock.sleep(0.0 if self._bucket is None else self._bucket.take())
            self._breaker.asking()
            try:
                yield
            finally:
                self._breaker.gave_up()  # means nothing where somebody has said how it went

    def went_well(self) -> None:
        self._failing.clear()
        self._locked_until = None
        self._breaker.succeeded()

    def went_wrong(self, place: str, why: str) -> None:
        is_known = place in self._failing and not self._breaker.is_open
        self._failing.add(place)
        if not is_known:
            self._breaker.failed(why, None)

    def lock(self) -> None:
        self._locked_until = self._clock.monotonic() + LOCKED_S

    def fell(self) -> None:
        """Its listening is down."""
        self._is_down = True

    def rose(self) -> None:
        """It listens again: whatever closed the line is over, as far as anybody knows."""
        self._is_down = False
        self.went_well()

    @property
    def is_down(self) -> bool:
        """Its listening is: whatever does not go out now is nobody's fault but the way's."""
        return self._is_down

    @property
    def _is_narrow(self) -> bool:
        return self._is_down or self._breaker.is_open or self._locked_until is not None

    def _place_pause(self, place: str) -> float:
        if self._traits.place_rate is None:
            return 0.0
        if place not in self._places:
            if len(self._places) >= MOST_BUCKETS:
                self._places = {name: bucket for name, bucket in self._places.items() if not bucket.is_full}
            self._places[place] = Bucket(self._traits.place_rate, self._clock)
        return self._places[place].take()
