"""Cron lines: five fields become sets of numbers, and a date is asked whether it fits.

    minute (0-59)  hour (0-23)  day of month (1-31, L)  month (1-12, jan-dec)  day of week (0-7, sun-sat; 5L, fri#2)

Each field is `*`, a number, a name, a range `8-18`, a step `*/15` or `8-18/2`, or a list of these. `?` is `*`. `L` as a day is the last one
of the month; `friL` is the last Friday, `fri#2` the second. Where the day of month *and* the day of week are given (neither has a `*`),
one of them is enough, as in every cron; otherwise both must fit.

Pure, and knows no time zone: what a line means on a day when the clock is changed stands in `moments.py`. A line that can never come
true is refused here, with what is wrong and a line that would work.
"""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from functools import lru_cache

from daimon.abi.errors import BadInput

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
NICKNAMES = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}  # fmt: skip
FURTHEST_YEARS = 40
"""Nothing that comes true at all is further away: a 29 February that is a Monday is 28 years from the last one, 40 round 2100."""
ITEM = re.compile(r"(?P<first>\*|\?|[a-z]+|\d{1,9})(?:-(?P<last>[a-z]+|\d{1,9}))?(?:/(?P<step>\d{1,9}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()


FIELDS = (
    Field("minute", 0, 59),
    Field("hour", 0, 23),
    Field("day of month", 1, 31),
    Field("month", 1, 12, MONTHS),
    Field("day of week", 0, 7, WEEKDAYS),
)


@dataclass(frozen=True, slots=True)
class Line:
    """A cron line that was understood."""

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    nth: frozenset[tuple[int, int]] = frozenset()
    """Weekdays of the month: (5, 2) is the second Friday, (5, -1) the last."""
    has_last_day: bool = False
    either: bool = False
    """Day of month or day of week: one of them is enough."""

    @property
    def is_each_hour(self) -> bool:
        return len(self.hours) == 24

    def fits(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        length = calendar.monthrange(day.year, day.month)[1]
        by_month = day.day in self.days or (self.has_last_day and day.day == length)
        weekday = day.isoweekday() % 7
        by_week = weekday in self.weekdays or (weekday, (day.day + 6) // 7) in self.nth
        by_week = by_week or ((weekday, -1) in self.nth and day.day + 7 > length)
        return by_month or by_week if self.either else by_month and by_week

    def dates(self, start: date) -> Iterator[date]:
        """All that fit, from `start` on. They end after `FURTHEST_YEARS` years without one."""
        day, left = start, FURTHEST_YEARS * 366
        while left and day < date.max - timedelta(days=32):
            if day.month not in self.months:
                after = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
                left = max(0, left - (after - day).days)
                day = after
                continue
            if self.fits(day):
                left = FURTHEST_YEARS * 366
                yield day
            day, left = day + timedelta(days=1), left - 1


@lru_cache(maxsize=512)
def parse(text: str) -> Line:
    """Raises BadInput: which field, what is wrong with it, and a line that would work."""
    line = " ".join(text.lower().split())
    words = NICKNAMES.get(line, line).split(" ")
    if len(words) != len(FIELDS):
        raise BadInput(_wrong_count(text, words))
    days_word, weekdays_word = words[2], words[4]
    minutes, hours, _, months, _ = (_numbers(words, n) if n not in (2, 4) else frozenset[int]() for n in range(5))
    days, has_last_day = _days(words)
    weekdays, nth = _weekdays(words)
    either = not any(word.startswith(("*", "?")) for word in (days_word, weekdays_word))
    found = Line(text, tuple(sorted(minutes)), tuple(sorted(hours)), days, months, weekdays, nth, has_last_day, either)
    _require_possible(found, words)
    return found


def _wrong_count(text: str, words: list[str]) -> str:
    want = "a cron line has five fields (minute, hour, day of month, month, day of week)"
    if words[0].startswith("@"):
        nearest = (get_close_matches(words[0], NICKNAMES, 1) or ["@daily"])[0]
        return f"{text!r} is no schedule; of these words there are {', '.join(NICKNAMES)}. Try {nearest!r}"
    if len(words) == 6:
        return f"{text!r} has six fields; {want} and knows no seconds. Try {' '.join(words[1:])!r}"
    if len(words) < 5 and words != [""]:
        return f"{text!r} has {len(words)} fields; {want}. Try {' '.join([*words, *['*'] * (5 - len(words))])!r}"
    return f"{text!r} is no cron line: {want}. Try '0 8 * * 1-5' (every weekday at 8)"


def _days(words: list[str]) -> tuple[frozenset[int], bool]:
    items = words[2].split(",")
    if "l" not in items:
        return _numbers(words, 2), False
    rest = ",".join(item for item in items if item != "l")
    return _numbers([*words[:2], rest, *words[3:]], 2) if rest else frozenset(), True


def _weekdays(words: list[str]) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    plain, nth = [], set()
    for item in words[4].split(","):
        if found := re.fullmatch(r"([a-z]{3}|[0-7])(?:#([1-5])|(l))", item):
            nth.add((_number(found[1], 4, words) % 7, -1 if found[3] else int(found[2])))
        else:
            plain.append(item)
    numbers = _numbers([*words[:4], ",".join(plain)], 4) if plain else frozenset()
    return frozenset(n % 7 for n in numbers), frozenset(nth)


def _numbers(words: list[str], n: int) -> frozenset[int]:
    field, found = FIELDS[n], set[int]()
    for item in words[n].split(","):
        match = ITEM.fullmatch(item)
        if match is None:
            raise BadInput(_wrong(words, n, f"{item!r} is nothing that a {field.name} can be", _nearest(item, field)))
        found.update(_range(words, n, match))
    return frozenset(found)


def _range(words: list[str], n: int, item: re.Match[str]) -> range:
    field, step = FIELDS[n], int(item["step"] or 1)
    if not 1 <= step <= field.high:
        base = item[0].split("/")[0]
        raise BadInput(_wrong(words, n, f"a step of {step} is none for a {field.name}", str(field.low) if base in ("*", "?") else base))
    if item["first"] in ("*", "?"):
        if item["last"] is not None:
            raise BadInput(_wrong(words, n, f"{item[0]!r} is no range", "*"))
        return range(field.low, field.high + 1 if n != 4 else 7, step)
    first = _number(item["first"], n, words)
    last = _number(item["last"], n, words) if item["last"] else field.high if item["step"] else first
    if last == 0 and n == 4 and first:
        last = 7  # fri-sun
    if last < first:
        instead = f"{first}-{field.high if n != 4 else 6},{field.low}-{last}"
        raise BadInput(_wrong(words, n, f"the range {item[0]!r} ends before it begins", instead))
    return range(first, last + 1, step)


def _number(word: str, n: int, words: list[str]) -> int:
    field = FIELDS[n]
    if word.isdecimal():
        number = int(word)
    elif word[:3] in field.names and len(word) >= 3:
        number = field.names.index(word[:3]) + field.low
    else:
        known = f"; names are {', '.join(field.names)}" if field.names else ""
        raise BadInput(_wrong(words, n, f"{word!r} is no {field.name}{known}", _nearest(word, field)))
    if not field.low <= number <= field.high:
        nearest = str(min(max(number, field.low), field.high))
        raise BadInput(_wrong(words, n, f"{number} is no {field.name} ({field.low} to {field.high})", words[n].replace(word, nearest)))
    return number


def _nearest(word: str, field: Field) -> str:
    """What may have been meant. Of minutes and hours never all of them: a wrong word is no reason to run sixty times as often."""
    if word[:3] in field.names:
        return word[:3]
    if digits := re.search(r"\d{1,9}", word):
        return str(min(max(int(digits[0]), field.low), field.high))
    if close := get_close_matches(word[:20], field.names, 1):
        return close[0]
    return "*" if field.name not in ("minute", "hour") else str(field.low)


def _wrong(words: list[str], n: int, what: str, instead: str) -> str:
    """The next line that would work is the same one with another word in this field."""
    line = " ".join([*words[:n], instead, *words[n + 1 :]])
    return f"cron line {' '.join(words)!r}: {what}. Try {line!r}"


def _require_possible(line: Line, words: list[str]) -> None:
    longest = max(LONGEST[month - 1] for month in line.months)
    if line.has_last_day or line.either or not line.days or min(line.days) <= longest:
        return
    months = " or ".join(calendar.month_name[month] for month in sorted(line.months))
    safe = min(longest, 28 if line.months == {2} else longest)
    instead = " ".join([*words[:2], str(safe), *words[3:]])
    last = " ".join([*words[:2], "L", *words[3:]])
    raise BadInput(
        f"cron line {' '.join(words)!r}: there is no {min(line.days)} {months}, so it would never be due. "
        f"Try {instead!r}, or {last!r} for the last day of the month"
    )
