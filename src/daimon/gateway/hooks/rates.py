"""How often: buckets that fill up again with time.

A hook's own limit counts only what was signed, so strangers cannot use it up. An address is counted only for what it got wrong, and only
where a proxy names it: without that name all who call look alike, and shutting one out would shut out all.
"""

from collections import OrderedDict

MOST_ADDRESSES = 4_096
WRONG_PER_MINUTE = 60


class Bucket:
    def __init__(self, per_minute: float) -> None:
        self._per_s = per_minute / 60
        self._most = max(1.0, per_minute)
        self._left = self._most
        self._at: float | None = None

    def wait_s(self, now: float) -> float:
        """Until the next one; 0: at once."""
        self._fill(now)
        return 0.0 if self._left >= 1 else (1 - self._left) / self._per_s

    def take(self, now: float) -> float:
        """The same, and takes one if it may."""
        if (wait := self.wait_s(now)) == 0.0:
            self._left -= 1
        return wait

    def _fill(self, now: float) -> None:
        passed = 0.0 if self._at is None else max(0.0, now - self._at)
        self._left, self._at = min(self._most, self._left + passed * self._per_s), now


class Wrongdoers:
    """Those who showed bad signatures. The longest unseen are forgotten."""

    def __init__(self, per_minute: float = WRONG_PER_MINUTE) -> None:
        self._per_minute = per_minute
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait_s(self, address: str, now: float) -> float:
        bucket = self._buckets.get(address)
        return 0.0 if bucket is None else bucket.wait_s(now)

    def note(self, address: str, now: float) -> None:
        if not address:
            return
        self._buckets.setdefault(address, Bucket(self._per_minute)).take(now)
        self._buckets.move_to_end(address)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
