"""Times as the file keeps them: whole microseconds, UTC.

Whatever has a zone may name a moment before the first year or after the last one. It becomes the first or last day that every zone can
show: a date nobody means must not be what stops everything after it.
"""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime(1, 1, 3, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime(9999, 12, 29, tzinfo=UTC) - _EPOCH) // _MICROSECOND


def micros(at: datetime) -> int:
    """A time without a zone, which only a hand-made row can have, is taken as UTC."""
    return _within(((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND)


def moment(us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=_within(us))


def _within(us: int) -> int:
    return min(max(us, _FIRST), _LAST)
