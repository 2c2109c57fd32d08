"""How often somebody may be wrong.

Every wrong token or link counts against the address that it came from. On this machine the answer then comes later and later, but it comes:
a program with an old token must not lock the owner out. From elsewhere an address that was wrong too often is not listened to for some
minutes, right or wrong. The secrets have 256 bits, so this is against noise and floods, not against luck.

Only so many addresses are remembered; the longest unused one goes. Addresses of IPv6 count by their network of 64 bits, of which a home has
one.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address

from daimon.abi.ports import Clock

MOST_ADDRESSES = 1_024
FREE, LOCKED_S, WINDOW_S = 5, 300.0, 600.0
FIRST_S, LONGEST_S, DOUBLINGS = 0.02, 2.0, 10


@dataclass(frozen=True, slots=True)
class _Record:
    wrong: int
    first_s: float
    until_s: float = 0.0


class Attempts:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._of: OrderedDict[str, _Record] = OrderedDict()

    def locked_s(self, address: str) -> float:
        """How long this address is not listened to; 0: it is."""
        record = self._of.get(_network(address))
        return 0.0 if record is None else max(0.0, record.until_s - self._clock.monotonic())

    def wrong(self, address: str, is_local: bool) -> float:
        """Counts a failure. How long the answer is to wait."""
        now, key = self._clock.monotonic(), _network(address)
        record = self._of.pop(key, None)
        if record is None or now - record.first_s > WINDOW_S:
            record = _Record(0, now)
        record = replace(record, wrong=record.wrong + 1)
        if not is_local and record.wrong >= FREE:
            record = _Record(0, now, now + LOCKED_S)
        self._of[key] = record
        while len(self._of) > MOST_ADDRESSES:
            self._of.popitem(last=False)
        return min(LONGEST_S, FIRST_S * 2 ** min(record.wrong - FREE, DOUBLINGS)) if is_local and record.wrong > FREE else 0.0

    def right(self, address: str) -> None:
        self._of.pop(_network(address), None)


def _network(address: str) -> str:
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    return str(found.ipv4_mapped) if found.ipv4_mapped else found.exploded[:19]
