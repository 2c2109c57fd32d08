"""Attempts: under way (`Visit`), and made (`Log`). Each is recorded once, at its end, whoever ends it."""

from collections import deque
from datetime import datetime

from daimon.abi.box import Attempt
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.ports import Clock
from daimon.net.refusal import Outcome
from daimon.net.site import Site
from daimon.net.stream import Stream

_LONGEST = 512
"""Of a path so much is kept."""


class Log:
    """What left and what did not are kept apart, so that nobody hides the one behind any number of the other."""

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._left: deque[tuple[int, Attempt]] = deque(maxlen=most)
        self._turned_away: deque[tuple[int, Attempt]] = deque(maxlen=most)
        self._count = 0
        self._dropped = 0

    def begin(self, label: Label) -> "Visit":
        return Visit(self, self._clock.now(), label)

    def add(self, attempt: Attempt) -> None:
        has_left = attempt.outcome == "passed" or attempt.sent_bytes > 0 or bool(attempt.secrets)
        kept = self._left if has_left else self._turned_away
        self._dropped += len(kept) == kept.maxlen
        self._count += 1
        kept.append((self._count, attempt))

    def taken(self) -> tuple[Attempt, ...]:
        """All since the last time, the oldest first. If there were too many, the first one says how many are missing."""
        made = tuple(attempt for _, attempt in sorted((*self._left, *self._turned_away), key=lambda pair: pair[0]))
        dropped, self._dropped = self._dropped, 0
        self._left.clear()
        self._turned_away.clear()
        if not dropped:
            return made
        reason = f"{dropped} attempts were dropped, the oldest of their kind"
        return Attempt(made[0].at, "", 0, "", "", "refused", reason, label=UNLABELLED), *made


class Visit:
    def __init__(self, log: Log, at: datetime, label: Label) -> None:
        self._log = log
        self._at = at
        self._stream: Stream | None = None
        self._sent = 0
        self._received = 0
        self.site = Site("", 0)
        self.method = ""
        self.path = ""
        self.secrets: set[str] = set()
        self.label = label
        self.is_over = False

    def names(self, site: Site, method: str, path: str) -> None:
        self.site, self.method, self.path = site, method, path

    def watches(self, stream: Stream) -> None:
        """Bytes through this stream are counted from now on."""
        self._stream = stream
        self._sent, self._received = stream.sent, stream.received

    def finish(self, outcome: Outcome, reason: str = "") -> None:
        if self.is_over:
            return
        self.is_over = True
        sent = self._stream.sent - self._sent if self._stream else 0
        received = self._stream.received - self._received if self._stream else 0
        path, secrets = self.path[:_LONGEST], tuple(sorted(self.secrets))
        site = self.site
        self._log.add(Attempt(self._at, site.host, site.port, self.method, path, outcome, reason, sent, received, secrets, self.label))
