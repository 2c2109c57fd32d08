"""Real randomness."""

import os
import random


class SystemRandom:
    def __init__(self) -> None:
        self._random = random.SystemRandom()

    def bytes(self, n: int) -> bytes:
        return os.urandom(n)

    def uniform(self) -> float:
        return self._random.random()
