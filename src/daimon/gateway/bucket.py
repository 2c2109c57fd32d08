"""How often something may be done: a bucket of tokens that fills as time goes by. Pure, on a clock; forgotten with the process."""

from daimon.abi.ports import Clock
from daimon.abi.tool import Rate


class Bucket:
    def __init__(self, rate: Rate, clock: Clock) -> None:
        self._rate = rate
        self._clock = clock
        self._tokens = float(rate.calls)
        self._at = clock.monotonic()

    def take(self) -> float:
        """Takes a token; returns for how many seconds whoever took it must wait. Those who come later wait longer."""
        self._fill()
        self._tokens -= 1
        return max(0.0, -self._tokens * self._rate.per_s / self._rate.calls)

    @property
    def is_full(self) -> bool:
        self._fill()
        return self._tokens >= self._rate.calls

    def _fill(self) -> None:
        now = self._clock.monotonic()
        self._tokens = min(float(self._rate.calls), self._tokens + (now - self._at) * self._rate.calls / self._rate.per_s)
        self._at = now
