"""Fresh names that sort by age: a prefix, 48 bits of milliseconds, 80 random bits, in Crockford's base 32.

Two ids of one millisecond still sort in the order in which they were made: the random part of the second is that of the first plus
one. A clock that jumps back does not break the order inside a process: time never goes below the last one used.
"""

import threading

from daimon.abi.ports import Clock, Random

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 80
_DIGITS = 26
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]
_SHIFTS = range(5 * (_DIGITS - 2), -1, -10)


class SortableIds:
    def __init__(self, clock: Clock, random: Random) -> None:
        self._clock = clock
        self._random = random
        self._last = 0
        self._lock = threading.Lock()

    def go_on_after(self, last: str) -> None:
        """Later ids sort after this one, even if the clock was set back since it was made."""
        with self._lock:
            self._last = max(self._last, _number(last))

    def new(self, prefix: str) -> str:
        with self._lock:
            ms = int(self._clock.now().timestamp() * 1000)
            if ms > self._last >> _RANDOM_BITS:
                self._last = ms << _RANDOM_BITS | int.from_bytes(self._random.bytes(_RANDOM_BITS // 8), "big") >> 1
            else:
                self._last += 1
            return prefix + _base32(self._last)


def _number(id_: str) -> int:
    value = 0
    for digit in id_[-_DIGITS:]:
        if digit not in _ALPHABET:
            return 0
        value = value * 32 + _ALPHABET.index(digit)
    return value if len(id_) > _DIGITS else 0


def _base32(value: int) -> str:
    pairs = [_PAIRS[value >> shift & 1023] for shift in _SHIFTS]
    return "".join(pairs)
