"""Vectors as they are kept: little-endian float32, of unit length. And why one is not taken.

A vector with a NaN in it would be nearest to nothing for ever, a zero likewise, one of another dimension cannot be compared at all: such
answers stop here, before they are stored. Plain Python, since whoever asks an embedder need not have numpy.
"""

import math
import struct
from collections.abc import Sequence

TOLERANCE = 1e-3
_SIZE = 4


def pack(numbers: Sequence[float]) -> bytes:
    """Of unit length. Raises ValueError for what has no direction: a NaN in it, an infinity, nothing but zeros, nothing at all."""
    length = math.hypot(*numbers)
    if not math.isfinite(length) or length == 0:
        raise ValueError(f"a vector of {len(numbers)} numbers with the length {length}")
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def fault(vector: bytes, dimension: int) -> str:
    """What is wrong with it, in words; empty: nothing."""
    if len(vector) != dimension * _SIZE:
        return f"a vector has {len(vector) / _SIZE:g} numbers, not {dimension}"
    length = math.hypot(*struct.unpack(f"<{dimension}f", vector))
    return "" if abs(length - 1) <= TOLERANCE else f"a vector has the length {length:g}, not 1"
