"""Times of calendars: from the model's words to spans, and back, on the owner's clock."""

import re
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from daimon.abi.calendar import Days, Timed, When
from daimon.abi.errors import ToolFailed

LONGEST_DAYS = 400
AT = "2026-01-31T09:00 on the owner's clock or with an offset, or 2026-01-31 for whole days."
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _point(text: str, home: ZoneInfo) -> date | datetime:
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ToolFailed("bad_time", f"{text!r} is no time; write {AT}") from None
    return at.replace(tzinfo=home) if at.tzinfo is None else at.astimezone(home)


def maybe(text: str | None, home: ZoneInfo) -> date | datetime | None:
    return None if text is None else _point(text, home)


def span(since: str, until: str, home: ZoneInfo) -> tuple[datetime, datetime]:
    first, last = _point(since, home), _point(until, home)
    begins = first if isinstance(first, datetime) else datetime.combine(first, time(), home)
    ends = last if isinstance(last, datetime) else datetime.combine(last + timedelta(days=1), time(), home)
    if not begins < ends <= begins + timedelta(days=LONGEST_DAYS):
        raise ToolFailed("bad_time", f"from {since} to {until} is no time, or more than {LONGEST_DAYS} days; ask for a shorter one")
    return begins, ends


def when_of(start: str, end: str | None, home: ZoneInfo) -> When:
    begins = _point(start, home)
    ends = _point(end, home) if end else None
    if isinstance(begins, datetime):
        last = begins + timedelta(hours=1) if ends is None else ends
        if isinstance(last, datetime) and last > begins:
            return Timed(begins, last)
    elif ends is None or (not isinstance(ends, datetime) and ends >= begins):
        return Days(begins, begins if ends is None else ends)
    raise ToolFailed("bad_time", f"an event cannot begin at {start} and end at {end}; both are times, or both are days, in order")


def edges(when: When, home: ZoneInfo) -> tuple[datetime, datetime]:
    if isinstance(when, Timed):
        return when.starts.astimezone(home), when.ends.astimezone(home)
    return datetime.combine(when.first, time(), home), datetime.combine(when.last + timedelta(days=1), time(), home)


def merged(spans: Iterable[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    found: list[tuple[datetime, datetime]] = []
    for begins, ends in sorted(spans):
        if found and begins <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ends))
        else:
            found.append((begins, ends))
    return found


def shown(at: datetime, home: ZoneInfo) -> str:
    return at.astimezone(home).isoformat(timespec="minutes")
