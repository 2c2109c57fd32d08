"""When something takes place that takes place more than once. Pure.

The server is asked which events have to do with a span of time; the repetitions are counted out here. Servers differ in whether they can
do it, and one that does gives times without their zone. Rules are followed on the clock of the event's own zone, so that nine o'clock
stays nine o'clock when the clocks change.

A rule is a stranger's text, so it is followed day by day: each day from the first to the last of the span is asked once whether it belongs
to the rule. That takes as long as the span has days, whatever the rule says; a search for the next time that fits may take for ever (the
30th of February). What is not understood is a ValueError, and the event is shown once and says so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cached_property
from itertools import groupby, islice, product

EARLIEST = 1900
MOST = 2_000
"""So many repetitions of one event are looked at in one span."""
NOT_FOLLOWED = "its repetitions cannot be followed; only its first time is shown"
_MOST_CLOCKS = 6
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_A_DAY = timedelta(days=1)
_NUMBERS = {
    "INTERVAL": (1, 9_999), "COUNT": (1, 99_999), "BYMONTH": (1, 12), "BYMONTHDAY": (-31, 31), "BYYEARDAY": (-366, 366),
    "BYWEEKNO": (-53, 53), "BYSETPOS": (-366, 366), "BYHOUR": (0, 23), "BYMINUTE": (0, 59), "BYSECOND": (0, 59),
}  # fmt: skip
"""The parts of a rule that are numbers, and from where to where they go. None but a clock's is 0."""
_ONE = ("INTERVAL", "COUNT")
_OF_DAYS = ("BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO")
_CLOCK = ("BYHOUR", "BYMINUTE", "BYSECOND")

Point = date | datetime


@dataclass(frozen=True)
class Rule:
    parts: dict[str, str]

    @cached_property
    def numbers(self) -> dict[str, tuple[int, ...]]:
        return {name: _numbers(name, self.parts[name]) for name in _NUMBERS if name in self.parts}

    @cached_property
    def weekdays(self) -> tuple[tuple[int, int], ...]:
        """Each with its place in the month or year, such as -1 for the last; 0: every one."""
        return tuple(_weekday(each) for each in self.parts["BYDAY"].split(",")) if "BYDAY" in self.parts else ()

    @property
    def every(self) -> int:
        return self.numbers.get("INTERVAL", (1,))[0]

    @property
    def count(self) -> int | None:
        return self.numbers["COUNT"][0] if "COUNT" in self.numbers else None

    @property
    def text(self) -> str:
        return ";".join(f"{name}={value}" for name, value in self.parts.items())


def rule_of(text: str) -> Rule:
    """Raises ValueError for one that is not followed, with what is wrong."""
    pairs = [each.partition("=") for each in text.strip().removeprefix("RRULE:").split(";") if each]
    rule = Rule({name.strip().upper(): value.strip().upper() for name, _, value in pairs})
    parts = rule.parts
    if strange := sorted(parts.keys() - {*_NUMBERS, "FREQ", "UNTIL", "WKST", "BYDAY"}):
        raise ValueError(f"{strange[0][:20]!r} is no part of a rule")
    if parts.get("FREQ") not in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY"):
        raise ValueError(f"{text[:80]!r} repeats neither DAILY, WEEKLY, MONTHLY nor YEARLY")
    if any(place for place, _ in rule.weekdays) and parts["FREQ"] not in ("MONTHLY", "YEARLY"):
        raise ValueError(f"{parts['BYDAY'][:40]!r}: only in a month or a year a weekday has a place")
    if parts.get("WKST", "MO") not in _DAYS or ("BYWEEKNO" in parts and parts.get("WKST", "MO") != "MO"):
        raise ValueError(f"WKST={parts['WKST'][:20]}: weeks are counted from Monday here")
    clocks = 1
    for name in _CLOCK:
        clocks *= len(rule.numbers.get(name, (0,)))
    if clocks > _MOST_CLOCKS:
        raise ValueError(f"{text[:80]!r} repeats more than {_MOST_CLOCKS} times a day")
    _end(rule, UTC)
    return rule


def starts(rule: Rule, first: Point, since: datetime, until: datetime, zone: tzinfo) -> Iterator[Point]:
    """Each time of the rule, as the first was given (a day, or a time with its zone), at least of those between the two moments. Raises
    ValueError."""
    if first.year < EARLIEST:
        raise ValueError(f"it begins before {EARLIEST}")
    own = (first.tzinfo or zone) if isinstance(first, datetime) else zone
    clock = first.replace(tzinfo=None) if isinstance(first, datetime) else datetime.combine(first, time())
    last = until.astimezone(own).replace(tzinfo=None)
    end = _end(rule, own)
    begin = clock.date() if rule.count else max(clock.date(), since.astimezone(own).date() - _A_DAY)
    for each in islice(_followed(rule, clock, begin, last if end is None else min(last, end)), rule.count):
        yield each.replace(tzinfo=own) if isinstance(first, datetime) else each.date()


def moment(at: Point, zone: tzinfo | None) -> datetime:
    """When a day begins, or a time is, for the whole world. A time without a zone is one of `zone`."""
    if not isinstance(at, datetime):
        at = datetime.combine(at, time())
    return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)


def overlaps(begins: datetime, ends: datetime, since: datetime, until: datetime) -> bool:
    return begins < until and (ends > since or begins == ends >= since)


def _followed(rule: Rule, first: datetime, begin: date, last: datetime) -> Iterator[datetime]:
    """On one clock, in order, from the day that is to be begun with."""
    whole = _period_begins(rule, begin) if "BYSETPOS" in rule.numbers else begin  # what came before counts for places in a set
    days = (whole + _A_DAY * i for i in range((last.date() - whole).days + 1))
    fitting = (day for day in days if _fits(rule, day, first.date()))
    for _, period in groupby(fitting, key=lambda day: _period(rule, day)):
        times = [datetime.combine(day, at) for day, at in product(period, _clocks(rule, first.time()))]
        yield from (each for each in _placed(rule, times) if first <= each <= last)


def _placed(rule: Rule, times: list[datetime]) -> list[datetime]:
    places = rule.numbers.get("BYSETPOS")
    if places is None:
        return times
    chosen = {place - 1 if place > 0 else len(times) + place for place in places}
    return [each for i, each in enumerate(times) if i in chosen]


def _fits(rule: Rule, day: date, first: date) -> bool:
    steps = _period(rule, day) - _period(rule, first)
    return steps % rule.every == 0 and _in_weekdays(rule, day) and _in_numbers(rule, day) and _like_the_first(rule, day, first)


def _period(rule: Rule, day: date) -> int:
    """The number of the day, week, month or year that it is in."""
    match rule.parts["FREQ"]:
        case "DAILY":
            return day.toordinal()
        case "WEEKLY":
            return (day.toordinal() - 1 - _DAYS.index(rule.parts.get("WKST", "MO"))) // 7
        case "MONTHLY":
            return day.year * 12 + day.month
        case _:
            return day.isocalendar().year if "BYWEEKNO" in rule.parts else day.year


def _period_begins(rule: Rule, day: date) -> date:
    while _period(rule, day - _A_DAY) == _period(rule, day):
        day -= _A_DAY
    return day


def _in_numbers(rule: Rule, day: date) -> bool:
    return all(not _names(name, day).isdisjoint(wanted) for name, wanted in rule.numbers.items() if name in _OF_DAYS)


def _names(name: str, day: date) -> set[int]:
    """The numbers of a day: from the beginning, and from the end."""
    match name:
        case "BYMONTH":
            return {day.month}
        case "BYMONTHDAY":
            return {day.day, day.day - _length(day) - 1}
        case "BYYEARDAY":
            nth = day.timetuple().tm_yday
            return {nth, nth - date(day.year, 12, 31).timetuple().tm_yday - 1}
        case _:
            year, week, _ = day.isocalendar()
            return {week, week - date(year, 12, 28).isocalendar().week - 1}


def _in_weekdays(rule: Rule, day: date) -> bool:
    if not rule.weekdays:
        return True
    in_month = rule.parts["FREQ"] == "MONTHLY" or "BYMONTH" in rule.numbers
    nth, whole = (day.day, _length(day)) if in_month else (day.timetuple().tm_yday, date(day.year, 12, 31).timetuple().tm_yday)
    places = {0, (nth - 1) // 7 + 1, -((whole - nth) // 7 + 1)}
    return any(weekday == day.weekday() and place in places for place, weekday in rule.weekdays)


def _like_the_first(rule: Rule, day: date, first: date) -> bool:
    """Of what a rule leaves open, the first time decides."""
    if rule.weekdays or {"BYMONTHDAY", "BYYEARDAY"} & rule.numbers.keys() or rule.parts["FREQ"] == "DAILY":
        return True
    if rule.parts["FREQ"] == "WEEKLY" or "BYWEEKNO" in rule.numbers:
        return day.weekday() == first.weekday()
    is_month_open = rule.parts["FREQ"] == "YEARLY" and "BYMONTH" not in rule.numbers
    return day.day == first.day and (not is_month_open or day.month == first.month)


def _clocks(rule: Rule, usual: time) -> list[time]:
    hours, minutes, seconds = (
        sorted(rule.numbers.get(name, (at,))) for name, at in zip(_CLOCK, (usual.hour, usual.minute, usual.second), strict=True)
    )
    return [time(*each) for each in product(hours, minutes, seconds)]


def _end(rule: Rule, zone: tzinfo) -> datetime | None:
    """Of the rule, on the clock of the zone. Raises ValueError."""
    said = rule.parts.get("UNTIL", "")
    if not said:
        return None
    if len(said) == 8:
        return datetime.strptime(f"{said}T235959", "%Y%m%dT%H%M%S")  # noqa: DTZ007 - on the clock of the zone
    end = datetime.strptime(said.removesuffix("Z"), "%Y%m%dT%H%M%S")  # noqa: DTZ007 - its zone follows
    return end.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None) if said.endswith("Z") else end


def _numbers(name: str, text: str) -> tuple[int, ...]:
    least, most = _NUMBERS[name]
    words = text.split(",")
    if not all(re.fullmatch(r"[+-]?\d{1,5}", each) for each in words) or (name in _ONE and len(words) > 1):
        raise ValueError(f"{name}={text[:40]} is no number")
    found = tuple(sorted({int(each) for each in words}))
    if found[0] < least or found[-1] > most or (0 in found and name not in _CLOCK):
        raise ValueError(f"{name}={text[:40]} is not from {least} to {most}")
    return found


def _weekday(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", text)
    if found is None or abs(int(found[1] or 1)) > 53 or int(found[1] or 1) == 0:
        raise ValueError(f"{text[:20]!r} is no weekday such as MO, 1MO or -1FR")
    return int(found[1] or 0), _DAYS.index(found[2])


def _length(day: date) -> int:
    """How many days its month has."""
    after = date(day.year + day.month // 12, day.month % 12 + 1, 1) if (day.year, day.month) < (9999, 12) else date.max
    return (after - _A_DAY).day if after != date.max else 31
