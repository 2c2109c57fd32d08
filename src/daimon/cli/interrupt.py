"""Ctrl-C as a request, not as a stroke of lightning.

A KeyboardInterrupt that may come at any line breaks whatever it hits: a half-read answer, a half-built schema. Here it is raised only
inside a `window`, which stands around waiting: for a key, for news, for a gateway to come back. One that comes elsewhere is kept for the
next window. If that does not open for a while and somebody presses again, something hangs, and it is raised after all.

Signals reach the main thread only, so windows are for the main thread too.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType, TracebackType

HANGS_S = 3.0


class Interrupt(AbstractContextManager["Interrupt"]):
    def __init__(self, hangs_s: float = HANGS_S) -> None:
        self._hangs_s = hangs_s
        self._is_open = False
        self._kept_at: float | None = None
        self._is_ours = False

    def __enter__(self) -> "Interrupt":
        self._is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # who ignores it (nohup, &) goes on doing so
        if self._is_ours:
            signal.signal(signal.SIGINT, self._came)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def window(self) -> Iterator[None]:
        self._is_open = True
        try:
            if self._kept_at is not None:
                raise KeyboardInterrupt
            yield
        finally:
            self._is_open, self._kept_at = False, None

    def sleep(self, seconds: float) -> None:
        with self.window():
            time.sleep(seconds)

    def _came(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._is_open or (self._kept_at is not None and now - self._kept_at >= self._hangs_s):
            self._is_open, self._kept_at = False, None  # one window, one interruption
            raise KeyboardInterrupt
        self._kept_at = self._kept_at or now
