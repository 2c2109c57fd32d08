"""Real randomness, fetched from the system a page at a time."""

import os
import random
import threading

_PAGE = 4_096


class SystemRandom:
    def __init__(self) -> None:
        self._random = random.SystemRandom()
        self._lock = threading.Lock()
        self._page = b""
        self._used = 0

    def bytes(self, n: int) -> bytes:
        with self._lock:
            if self._used + n > len(self._page):
                self._page, self._used = os.urandom(max(n, _PAGE)), 0
            self._used += n
            return self._page[self._used - n : self._used]

    def uniform(self) -> float:
        return self._random.random()
