"""Rate limits in this process: so many calls in so many seconds, by key."""

from collections import deque

from daimon.abi.ports import Clock, Granted, WaitFor


class LocalLimiter:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: dict[str, deque[float]] = {}

    async def acquire(self, key: str, calls: int, per_s: float) -> Granted | WaitFor:
        now = self._clock.monotonic()
        recent = self._calls.setdefault(key, deque())
        while recent and recent[0] <= now - per_s:
            recent.popleft()
        if len(recent) >= calls:
            return WaitFor(recent[0] + per_s - now)
        recent.append(now)
        return Granted()
