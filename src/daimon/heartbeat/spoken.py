"""A schedule in words: what `plain.py` understood, said again in words that it understands. A cron line that nobody would say stays one."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from daimon.abi.automation import Automation, Cron, Days, Every, Once, When
from daimon.heartbeat.cron import Line, parse
from daimon.heartbeat.due import zone_of
from daimon.heartbeat.timewords import MONTHS, WEEKDAYS

NTH = {1: "first", 2: "second", 3: "third", 4: "fourth", -1: "last"}


def said(when: When, zone: ZoneInfo) -> str:
    match when:
        case Cron(text):
            return _cron(parse(text)) or text
        case Every(seconds):
            return _every(seconds)
        case Days(days, start, at):
            return _days(days, date.fromisoformat(start), at)
        case Once(at):
            return _moment(at, zone)


def said_of(automation: Automation) -> str:
    """With its zone, where that matters."""
    words = said(automation.when, zone_of(automation.timezone))
    return words if isinstance(automation.when, Every) else f"{words} ({automation.timezone})"


def _moment(at: datetime, zone: ZoneInfo) -> str:
    return f"once on {at.astimezone(zone):%Y-%m-%d at %H:%M}"


def _every(seconds: int) -> str:
    for unit, size in (("hour", 3_600), ("minute", 60)):
        if seconds % size == 0:
            return f"every {unit}" if seconds == size else f"every {seconds // size} {unit}s"
    return f"every {seconds} seconds"


def _days(days: int, start: date, at: str) -> str:
    if days % 7 == 0:
        weeks = "week" if days == 7 else f"{days // 7} weeks"
        return f"every {weeks} on {WEEKDAYS[start.isoweekday() % 7]} at {at}"
    return f"every other day at {at}" if days == 2 else f"every {days} days at {at}"


def _cron(line: Line) -> str | None:
    days = _which_days(line)
    if days is None or len(line.minutes) > 1 or len(line.hours) > 4:
        return None
    return f"{days} at {' and '.join(f'{hour}:{line.minutes[0]:02d}' for hour in line.hours)}"


def _which_days(line: Line) -> str | None:
    is_all_days, is_all_months = len(line.days) == 31, len(line.months) == 12
    if len(line.nth) == 1 and is_all_days and is_all_months and not line.weekdays:
        ((weekday, nth),) = line.nth
        return f"{NTH[nth]} {WEEKDAYS[weekday]} of the month" if nth in NTH else None
    if line.nth or line.either:
        return None
    if len(line.weekdays) < 7:
        return f"every {_weekdays(line.weekdays)}" if is_all_days and is_all_months and not line.has_last_day else None
    return _dates(line, is_all_days, is_all_months)


def _dates(line: Line, is_all_days: bool, is_all_months: bool) -> str | None:
    if line.has_last_day:
        return "last day of the month" if not line.days and is_all_months else None
    if is_all_days:
        return "every day" if is_all_months else None
    if is_all_months:
        return f"on the {' and '.join(map(_nth, sorted(line.days)))} of each month" if len(line.days) <= 4 else None
    if len(line.days) == len(line.months) == 1:
        return f"every year on {min(line.days)} {MONTHS[min(line.months) - 1]}"
    return None


def _weekdays(weekdays: frozenset[int]) -> str:
    if weekdays == {1, 2, 3, 4, 5}:
        return "weekday"
    if weekdays == {0, 6}:
        return "weekend"
    return " and ".join(WEEKDAYS[day] for day in sorted(weekdays, key=lambda day: day or 7))


def _nth(day: int) -> str:
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
