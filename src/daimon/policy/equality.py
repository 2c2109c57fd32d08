"""When two values are one: numbers to the cent, texts whatever their spelling, large ids to the last digit."""

from collections.abc import Iterable

from daimon.abi.fields import Scalar
from daimon.policy.names import canonical
from daimon.policy.records import plain
from daimon.policy.words import folded

CENT = 0.005
EXACT = 2.0**53
"""From here on two whole numbers can be one float."""


def same(given: Iterable[Scalar], wanted: Iterable[Scalar]) -> bool:
    left = list(given)
    for each in wanted:
        match = next((i for i, value in enumerate(left) if equal(value, each)), None)
        if match is None:
            return False
        del left[match]
    return not left


def equal(a: Scalar, b: Scalar) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b or folded(plain(a)) == folded(plain(b))
    if not (isinstance(a, str) and isinstance(b, str)) and (x := as_number(a)) is not None and (y := as_number(b)) is not None:
        return _is_near(x, y) if max(abs(x), abs(y)) < EXACT else plain(a) == plain(b)
    return canonical(plain(a)) == canonical(plain(b))


def _is_near(x: float, y: float) -> bool:
    """To the cent; of what is less than a cent or two, to the hundredth part."""
    return x == y or abs(x - y) < min(CENT, 0.02 * min(abs(x), abs(y)))


def as_number(value: Scalar) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except ValueError:
        return None
