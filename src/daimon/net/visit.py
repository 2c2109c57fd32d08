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
    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._made: deque[Attempt] = deque(maxlen=most)
        self._dropped = 0

    def begin(self, label: Label) -> "Visit":
        return Visit(self, self._clock.now(), label)

    def add(self, attempt: Attempt) -> None:
        self._dropped += len(self._made) == self._made.maxlen
        self._made.append(attempt)

    def taken(self) -> tuple[Attempt, ...]:
        """All since the last time, the oldest first. If there were too many, the first one says how many are missing."""
        made, dropped = tuple(self._made), self._dropped
        self._made.clear()
        self._dropped = 0
        if not dropped:
            return made
        reason = f"{dropped} attempts before these were dropped"
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
