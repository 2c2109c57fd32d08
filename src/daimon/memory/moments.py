"""Times as the file keeps them: whole microseconds, UTC."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(at: datetime) -> int:
    """A time without a zone, which only a hand-made row can have, is taken as UTC."""
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def moment(us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=us)
