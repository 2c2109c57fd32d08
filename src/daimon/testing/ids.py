"""Names and chance that are the same in every run."""

import hashlib
from itertools import count


class CountingIds:
    def __init__(self) -> None:
        self._count = count(1)

    def new(self, prefix: str) -> str:
        return f"{prefix}{next(self._count):06d}"


class SeededRandom:
    def __init__(self, seed: int = 0) -> None:
        self._state = hashlib.sha256(str(seed).encode()).digest()

    def bytes(self, n: int) -> bytes:
        out = b""
        while len(out) < n:
            self._state = hashlib.sha256(self._state).digest()
            out += self._state
        return out[:n]

    def uniform(self) -> float:
        return int.from_bytes(self.bytes(8), "big") / 2**64
