"""Plain words to a point in time: `tomorrow morning at 9` and a now give an aware date, or nothing.

Invariant: no guess. What can be meant in two ways, is over, or does not exist gives None, and whoever asked asks the person. In particular:

- `at 5` may be morning or afternoon: None. From 7 to 12 it is the morning's, today as long as that is ahead, or on the day that is named.
- a time that is past today is tomorrow's (`at 17:30`, `noon`); a named day or `today` that is past is None.
- `next friday` said on a Wednesday, or `friday` said on a Friday: None.
- minutes and hours are elapsed time; days, weeks and months keep the time on the clock, also over a change of summer time.
- a clock time that does not exist on the day of such a change, or exists twice: None.
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TypeVar

from daimon.models.moment import Clock, Date, DayPart, DaysAhead, Midnight, Moment, Offset, Piece, Weekday
from daimon.models.timewords import find

_DEFAULT = Clock(9, 0, "24")
_MORNING_FROM = 7
_Day = DaysAhead | Weekday | Date
P = TypeVar("P", bound=Piece)


@dataclass(frozen=True, slots=True)
class Found:
    at: datetime
    start: int
    end: int
    rest: str
    """The text without the time."""


def when(text: str, now: datetime, zone: tzinfo) -> Found | None:
    """`now` is aware. The result is in `zone` and after `now`."""
    moment = find(text)
    at = resolve(moment, now, zone) if moment else None
    if moment is None or at is None:
        return None
    ((start, end),) = moment.spans
    return Found(at, start, end, moment.cut_from(text))


def resolve(moment: Moment, now: datetime, zone: tzinfo) -> datetime | None:
    if not moment.is_definite:
        return None
    try:
        at = _resolve(set(moment.pieces), now.astimezone(zone).replace(microsecond=0))
    except (ValueError, OverflowError):  # the 31st of November, the year 12000
        return None
    # In one zone Python compares what the clocks show, and those go back once a year.
    return at if at is not None and at.astimezone(UTC) > now.astimezone(UTC) else None


def _resolve(pieces: set[Piece], now: datetime) -> datetime | None:
    offsets, clocks, parts = _of(pieces, Offset), _of(pieces, Clock), _of(pieces, DayPart)
    days: list[_Day] = [*_of(pieces, DaysAhead), *_of(pieces, Weekday), *_of(pieces, Date)]
    if max(len(offsets) + len(days), len(clocks) + len(_of(pieces, Midnight)), len(parts)) > 1:
        return None
    if Midnight() in pieces:
        return _on(now.date() + timedelta(days=1), time(0), now) if pieces <= {Midnight(), DaysAhead(0), DayPart.NIGHT} else None
    if offsets:
        return _after(offsets[0], clocks, parts, now)
    if not days:
        return _next(clocks, parts, now)
    day = _day(days[0], now.date())
    if day is None or (day == now.date() and not clocks and not parts):
        return None
    clock = _clock(clocks, parts)
    return _on(day, clock, now) if clock else None


def _of(pieces: set[Piece], kind: type[P]) -> list[P]:
    return [p for p in pieces if isinstance(p, kind)]


def _after(offset: Offset, clocks: list[Clock], parts: list[DayPart], now: datetime) -> datetime | None:
    day = _months_later(now.date(), offset.months) + timedelta(days=offset.days)
    if clocks or parts:
        clock = _clock(clocks, parts)
        return _on(day, clock, now) if clock and not offset.seconds and day > now.date() else None
    shifted = datetime.combine(day, now.time(), now.tzinfo).replace(fold=now.fold if day == now.date() else 0)
    return (shifted.astimezone(UTC) + timedelta(seconds=offset.seconds)).astimezone(now.tzinfo)


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _next(clocks: list[Clock], parts: list[DayPart], now: datetime) -> datetime | None:
    """No day was named: today, or tomorrow when that is past."""
    clock = _clock(clocks, parts)
    if clock is None:
        return None
    today = _on(now.date(), clock, now)
    if datetime.combine(now.date(), clock) > now.replace(tzinfo=None):
        return today
    is_bare = bool(clocks) and clocks[0].half is None and not parts
    return None if is_bare else _on(now.date() + timedelta(days=1), clock, now)


def _clock(clocks: list[Clock], parts: list[DayPart]) -> time | None:
    if not clocks:
        return time(parts[0].hour if parts else _DEFAULT.hour)
    clock = clocks[0]
    if clock.half is None:
        hours = {clock.hour, clock.hour % 12 + 12} if parts else {clock.hour} if clock.hour >= _MORNING_FROM else set()
    elif clock.half == "24":
        hours = {clock.hour}
    else:
        hours = {clock.hour % 12 + (12 if clock.half == "pm" else 0)} if 1 <= clock.hour <= 12 else set()
    fitting = [hour for hour in hours if not parts or hour in parts[0].hours]
    return time(fitting[0], clock.minute) if len(fitting) == 1 else None


def _day(piece: _Day, today: date) -> date | None:
    match piece:
        case DaysAhead(days):
            return today + timedelta(days=days)
        case Weekday():
            return _weekday(piece, today)
        case Date():
            return _date(piece, today)


def _weekday(piece: Weekday, today: date) -> date | None:
    ahead = (piece.day - today.weekday()) % 7
    is_over = piece.day < today.weekday()
    is_clear = {"": ahead > 0, "this": ahead > 0 and not is_over, "next": ahead == 0 or (is_over and ahead > 1)}[piece.which]
    return today + timedelta(days=ahead or 7) if is_clear else None


def _date(piece: Date, today: date) -> date | None:
    """What is left out is the next that fits: the 31st, the 29th of February."""
    if piece.month is not None and piece.year is not None:
        return date(piece.year, piece.month, piece.day)
    firsts = (_months_later(today.replace(day=1), n) for n in range(8 * 12 + 1))
    fitting = (first for first in firsts if piece.month in (None, first.month) and 1 <= piece.day <= monthrange(first.year, first.month)[1])
    return next((day for first in fitting if (day := first.replace(day=piece.day)) >= today), None)


def _on(day: date, clock: time, now: datetime) -> datetime | None:
    """None where the clock is changed: at that time it is either skipped or passed twice."""
    at = datetime.combine(day, clock, now.tzinfo)
    return at if at.utcoffset() == at.replace(fold=1).utcoffset() else None
