"""So many at a time to one host, and none while it wants to be left alone.

A host that is slow holds only those who want it: the others have places of their own. One that failed several times in a row is left
alone for a while, each time longer; one that said when to come back (`Retry-After`) until then. What is known of a host is kept for so
many of them, the one that was wanted longest ago goes first.

It does not know requests. Calling order: `of`, then `place` around each try, then `succeeded` or `failed`; without either, nothing is
learnt.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from daimon.abi.errors import WebFailed
from daimon.abi.ports import Clock

AT_ONCE = 4
AT_ONCE_IN_ALL = 32
FAILURES = 5
REST_S = 30.0
LONGEST_REST_S = 600.0
LONGEST_TOLD_S = 3_600.0
"""A host that asks for more patience than this is tried after it all the same."""
KEPT = 512


@dataclass(slots=True, eq=False)
class Host:
    name: str
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    failures: int = 0
    until: float = 0.0
    why: str = ""
    wanted: int = 0
    """By so many, who wait or have a place."""


class Hosts:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._hosts: OrderedDict[str, Host] = OrderedDict()
        self._all = asyncio.Semaphore(AT_ONCE_IN_ALL)

    def of(self, name: str) -> Host:
        host = self._hosts.pop(name, None) or Host(name)
        self._hosts[name] = host
        while len(self._hosts) > KEPT and (idle := next((key for key, each in self._hosts.items() if not each.wanted), None)):
            del self._hosts[idle]
        return host

    @asynccontextmanager
    async def place(self, host: Host) -> AsyncIterator[None]:
        """Waits for one. Raises WebFailed while the host rests."""
        self._check(host)
        host.wanted += 1
        try:
            async with host.places, self._all:
                self._check(host)  # others may have found out while this one waited
                yield
        finally:
            host.wanted -= 1

    def succeeded(self, host: Host) -> None:
        host.failures, host.until, host.why = 0, 0.0, ""

    def failed(self, host: Host, why: str, told_s: float | None = None) -> None:
        """`told_s`: the host itself said how long."""
        host.failures += 1
        host.why = why
        over = host.failures - FAILURES
        own = min(LONGEST_REST_S, REST_S * 2.0**over) if over >= 0 else 0.0
        told = 0.0 if told_s is None else min(told_s, LONGEST_TOLD_S)
        host.until = max(host.until, self._clock.monotonic() + max(own, told))

    def _check(self, host: Host) -> None:
        left = host.until - self._clock.monotonic()
        if left > 0:
            raise WebFailed("resting", f"{host.name} is left alone for {left:.0f} s more: {host.why}")
