"""Leaves a host alone that cannot be reached, so that a box which tries again and again fails at once and costs nothing."""

from collections import OrderedDict
from dataclasses import dataclass

from daimon.abi.ports import Clock
from daimon.net.bounds import Bounds
from daimon.net.refusal import Refusal

_HOSTS = 256


@dataclass(frozen=True, slots=True)
class _Record:
    failures: int
    until: float


class Rest:
    def __init__(self, clock: Clock, bounds: Bounds) -> None:
        self._clock = clock
        self._bounds = bounds
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def check(self, host: str) -> None:
        """Raises Refusal while the host rests. After that whoever comes first tries it for all, since one more failure sends it to rest."""
        record = self._records.get(host)
        left = record.until - self._clock.monotonic() if record else 0.0
        if record and left > 0:
            raise Refusal(502, f"{host} failed {record.failures} times in a row; it is tried again in {left:.0f} s")

    def failed(self, host: str) -> None:
        record = self._records.pop(host, _Record(0, 0.0))
        failures = record.failures + 1
        until = self._clock.monotonic() + self._bounds.rest_s if failures >= self._bounds.failures else 0.0
        self._records[host] = _Record(failures, until)
        while len(self._records) > _HOSTS:
            self._records.popitem(last=False)

    def succeeded(self, host: str) -> None:
        self._records.pop(host, None)
