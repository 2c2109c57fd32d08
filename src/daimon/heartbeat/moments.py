"""When a cron line is due, as moments: what a day means on which the clock is changed.

Two rules, and one word decides which. A line that is due *each hour* (`*` as its hour) follows the clock on the wall: it is due at every
moment at which the clock shows a fitting minute, so what is due every fifteen minutes stays that, in the hour that comes twice as well. Any
other line names times of a day, and each is due once a day: a time that does not exist (spring) is due at the first moment after the gap,
a time that comes twice (autumn) is due the first time.

`next_after` is strictly after. Moments go in and come out in UTC; seconds and zones with odd seconds play no part.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from daimon.heartbeat.cron import Line

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


def next_after(line: Line, moment: datetime, zone: ZoneInfo) -> datetime | None:
    """None: never again."""
    return _by_the_clock(line, moment, zone) if line.is_each_hour else _by_the_day(line, moment, zone)


def resolved(wall: datetime, zone: ZoneInfo) -> datetime:
    """The moment at which a clock there shows this, for the first time; in a gap, the first moment after it."""
    there = wall.replace(tzinfo=zone, fold=0)
    moment = there.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == wall:
        return moment
    return _end_of_gap(there.replace(fold=1).astimezone(UTC), moment, zone)


def _end_of_gap(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    offset = after.astimezone(zone).utcoffset()
    low, high = int(before.timestamp()), int(after.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return datetime.fromtimestamp(high, UTC)


def _by_the_day(line: Line, moment: datetime, zone: ZoneInfo) -> datetime | None:
    # What the wall shows now is early enough: a clock time before it never comes after now.
    wall = moment.astimezone(zone).replace(tzinfo=None)
    return next((found for each in _walls(line, wall) if (found := resolved(each, zone)) > moment), None)


def _walls(line: Line, start: datetime) -> Iterator[datetime]:
    for day in line.dates(start.date()):
        for hour in line.hours:
            for minute in line.minutes:
                wall = datetime.combine(day, time(hour, minute))
                if wall >= start.replace(second=0, microsecond=0):
                    yield wall


def _by_the_clock(line: Line, moment: datetime, zone: ZoneInfo) -> datetime | None:
    at = moment.astimezone(UTC).replace(second=0, microsecond=0) + MINUTE
    while True:
        wall = at.astimezone(zone)
        day = _next_date(line, wall.date())
        if day is None:
            return None
        if day > wall.date():
            at = max(at + MINUTE, resolved(datetime.combine(day, time()), zone))
        elif wall.minute in line.minutes:
            return at
        else:
            at += MINUTE


def _next_date(line: Line, start: date) -> date | None:
    return next(line.dates(start), None)
