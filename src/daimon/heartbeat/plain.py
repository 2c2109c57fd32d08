"""Plain words to a schedule: `every weekday at 8`, `in 2 hours`, `last friday of the month`, or a cron line.

The times are taken out first (`timewords.py`); what is left is tried on one reader after the other, each of which knows one way of speaking
and answers None for any other. Nothing is guessed: what no reader knows is refused, with what was understood of it and with what would be.
Without a time of day, days begin at nine. `spoken.py` says a schedule in words again, in words that are understood here.
"""

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo

from daimon.abi.automation import Cron, Days, Every, Once, When
from daimon.abi.errors import BadInput
from daimon.heartbeat import cron
from daimon.heartbeat.due import MOST_DAYS, SHORTEST_S, zone_of
from daimon.heartbeat.hints import hint, with_hours
from daimon.heartbeat.moments import resolved
from daimon.heartbeat.timewords import MONTHS, NUMBERS, ORDINALS, WEEKDAYS, At, count, normal, times_in, weekdays_in

NINE = At(9, 0)
UNITS = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
EXAMPLES = (
    "every weekday at 8", "every 3 hours", "every 15 minutes", "daily at 7:30 pm", "every monday and thursday at 18:00",
    "on the 1st of each month at 9", "last friday of the month at 16:00", "tomorrow at 9", "in 2 hours", "2026-12-24 18:00",
    "every other day at 6", "every 2 weeks on monday at 9", "every 30 minutes from 9 to 17 on weekdays", "every hour",
    "every year on 24 december at 18:00", "last day of the month at 9", "0 8 * * 1-5",
)  # fmt: skip
KNOWN = frozenset(
    {*WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *MONTHS, *ORDINALS, *NUMBERS, "every", "daily", "hourly", "weekly", "monthly", "yearly"}
    | {"weekday", "weekdays", "weekend", "weekends", "at", "on", "in", "and", "of", "the", "from", "to", "between", "tomorrow", "today"}
    | {"minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "year", "noon", "midnight"}
)


@dataclass(frozen=True, slots=True)
class Words:
    """What is to be understood: the words without their times."""

    rest: str
    times: tuple[At, ...]
    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    @property
    def at(self) -> At:
        if len(self.times) > 1:
            raise BadInput(f"{' and '.join(map(str, self.times))} are several times; this can have one. Make an automation for each")
        return self.times[0] if self.times else NINE

    def moment(self, day: date) -> datetime:
        return resolved(datetime.combine(day, time(self.at.hour, self.at.minute)), self.zone)


def understood(text: str, now: datetime, timezone: str) -> When:
    """Raises BadInput."""
    if not text.strip():
        raise BadInput(f"a schedule is missing; for example {EXAMPLES[0]!r}, {EXAMPLES[1]!r} or {EXAMPLES[7]!r}")
    if len(text) > 200:
        raise BadInput(f"a schedule of {len(text)} characters is too long; for example {EXAMPLES[0]!r}")
    if re.match(r"\s*@|\s*[\d*?/,-]+\s+[\d*?/,-]+(?:\s+[\w*?/,#-]+){3,4}\s*$", text):
        line = " ".join(cron.parse(text).text.split())
        return Cron(cron.NICKNAMES.get(line.lower(), line))
    if "*" in text and re.fullmatch(r"\s*[\d*?/,-]+(?:\s+[\d*?/,-]+){1,3}\s*", text):
        cron.parse(text)  # says how many fields there must be
    rest, times = times_in(with_hours(normal(text)))
    words = Words(rest, times, now, zone_of(timezone))
    for reader in READERS:
        if (found := reader(words)) is not None:
            return found
    raise BadInput(_not_understood(text, words, timezone))


def _each_day(words: Words) -> When | None:
    days = re.fullmatch(r"(?:every day|daily|every (?P<list>.+)|on (?P<on>.+s)|(?P<bare>[a-z ]+s)|weekly on (?P<week>.+))", words.rest)
    if days is None:
        return None
    given = days["list"] or days["on"] or days["bare"] or days["week"]
    wanted = weekdays_in(given) if given else ()
    return None if wanted is None else _cron(words, "* *", wanted)


def _cron(words: Words, days: str, weekdays: tuple[int, ...] | str = ()) -> Cron:
    times = words.times or (NINE,)
    if len({at.minute for at in times}) > 1:
        raise BadInput(f"{' and '.join(map(str, times))} do not fall on the same minute; make an automation for each")
    hours = ",".join(str(at.hour) for at in sorted(set(times)))
    week = weekdays if isinstance(weekdays, str) else _ranged(weekdays)
    return Cron(cron.parse(f"{times[0].minute} {hours} {days} {week}").text)


def _ranged(weekdays: tuple[int, ...]) -> str:
    if len(weekdays) in (0, 7):
        return "*"
    return "1-5" if weekdays == (1, 2, 3, 4, 5) else ",".join(map(str, weekdays))


def _interval(words: Words) -> When | None:
    found = re.fullmatch(r"(?:every (?:(?P<n>\w+) )?(?P<unit>minute|hour)s?|(?P<hourly>hourly))", words.rest)
    n = count(found["n"]) if found else None
    if found is None or n is None:
        return None
    if words.times:
        at = words.times[0]
        raise BadInput(f"an interval has no time of day, but {at} stands there. Try {words.rest!r}, or 'daily at {at}'")
    seconds = n * UNITS[found["unit"] or "hour"]
    if not SHORTEST_S <= seconds <= MOST_DAYS * UNITS["day"]:
        raise BadInput(f"{words.rest!r} is no interval between a minute and {MOST_DAYS} days. Try 'every 15 minutes'")
    return Every(seconds, words.now.astimezone(UTC).replace(microsecond=0))


def _within(words: Words) -> When | None:
    """`every 30 minutes from 9 to 17 on weekdays`: a cron line."""
    span = r"(?:from|between) (?P<a>\d{1,2}) (?:to|and) (?P<b>\d{1,2})"
    pattern = rf"every (?:(?P<n>\w+) )?(?P<unit>minute|hour)s? {span}(?: (?:on )?(?P<days>.+))?"
    found = None if words.times else re.fullmatch(pattern, words.rest)
    n, days = (count(found["n"]), weekdays_in(found["days"]) if found["days"] else ()) if found else (None, None)
    if found is None or n is None or days is None:
        return None
    first, last, every_minute = int(found["a"]), int(found["b"]), found["unit"] == "minute"
    if every_minute and (60 % n or last <= first):
        raise BadInput(f"{words.rest!r}: minutes must divide the hour, and the end come after the beginning. Try 15, 20 or 30 minutes")
    line = f"*/{n} {first}-{last - 1}" if every_minute else f"0 {first}-{last}/{n}"
    return Cron(cron.parse(f"{line} * * {_ranged(days)}".replace("*/1 ", "* ").replace("/1 ", " ")).text)


def _days(words: Words) -> When | None:
    found = re.fullmatch(r"every (?:(?P<n>\w+) )?(?P<unit>day|week)s?(?: on (?P<day>\w+))?|(?P<weekly>weekly)", words.rest)
    n = count(found["n"]) if found else None
    if found is None or n is None:
        return None
    weekday = weekdays_in(found["day"]) if found["day"] else ()
    if weekday is None or len(weekday) > 1 or (weekday and found["unit"] == "day"):
        return None
    days = n * (1 if found["unit"] == "day" else 7)
    if not 1 <= days <= MOST_DAYS:
        raise BadInput(f"{words.rest!r}: between 1 and {MOST_DAYS} days are possible")
    start = words.today
    if weekday:
        start += timedelta(days=(weekday[0] - start.isoweekday()) % 7)
    if words.moment(start) <= words.now:
        start += timedelta(days=7 if weekday else 1)
    return Days(days, start.isoformat(), f"{words.at.hour:02d}:{words.at.minute:02d}")


def _monthly(words: Words) -> When | None:
    text = re.sub(r"\b(?:of )?(?:the |every )month\b|^monthly\b", "", words.rest)
    if text == words.rest:
        return None
    text = " ".join(text.replace("every", "").replace("the", "").split()).removeprefix("on ").strip()
    if text in ("", "last day"):
        return _cron(words, "1 *" if not text else "L *")
    if found := re.fullmatch(rf"({'|'.join(ORDINALS)}) (\w+)", text):
        weekday, nth = weekdays_in(found[2]), ORDINALS[found[1]]
        if found[2] == "day" and nth > 0:
            return _cron(words, f"{nth} *")
        if weekday is None or len(weekday) != 1:
            return None
        return _cron(words, "* *", f"{weekday[0]}L" if nth < 0 else f"{weekday[0]}#{nth}")
    days = [_day(each) for each in text.split(" and ")]
    if wrong := [day for day in days if day is not None and not 1 <= day <= 31]:
        raise BadInput(f"no month has a day {wrong[0]}. Try 'last day of the month', or a day from 1 to 31")
    return _cron(words, f"{','.join(map(str, days))} *") if all(days) else None


def _day(word: str) -> int | None:
    if word in ORDINALS:
        return ORDINALS[word] if ORDINALS[word] > 0 else None
    found = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|\.)?", word)
    return int(found[1]) if found else None


def _yearly(words: Words) -> When | None:
    found = re.fullmatch(r"(?:every year|yearly|every)(?: on)? (?:the )?(.+)", words.rest)
    named = _named_day(found[1]) if found else None
    if named is None or named[2]:
        return None
    day, month, longest = named[0], calendar.month_name[named[1]], cron.LONGEST[named[1] - 1]
    if not 1 <= day <= longest:
        raise BadInput(f"there is no {day} {month} in any year. Try 'every year on {28 if longest < 30 else longest} {month.lower()}'")
    return _cron(words, f"{day} {named[1]}")


def _once(words: Words) -> When | None:
    if found := re.fullmatch(r"in (?P<n>\w+) (?P<unit>minute|hour|day|week)s?", words.rest):
        n = count(found["n"])
        return None if n is None else Once(_ahead(words, n, found["unit"]))
    day = _date(words)
    if day is None:
        return None
    at = words.moment(day)
    if at <= words.now:
        said = f"{day} {words.at.hour:02d}:{words.at.minute:02d}"
        raise BadInput(f"{said} is over (it is {words.now.astimezone(words.zone):%Y-%m-%d %H:%M}). Try 'tomorrow at {words.at}'")
    return Once(at)


def _ahead(words: Words, n: int, unit: str) -> datetime:
    """Minutes and hours are time that passes; days and weeks keep the time on the clock."""
    if n * UNITS[unit] > MOST_DAYS * UNITS["day"]:
        raise BadInput(f"{words.rest!r} is further away than {MOST_DAYS} days")
    if unit in ("minute", "hour"):
        return words.now.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=n * UNITS[unit])
    day = words.today + timedelta(seconds=n * UNITS[unit])
    wall = words.now.astimezone(words.zone).replace(tzinfo=None, microsecond=0)
    return words.moment(day) if words.times else resolved(datetime.combine(day, wall.time()), words.zone)


def _date(words: Words) -> date | None:
    rest, today = words.rest.removeprefix("once ").removeprefix("on ").removeprefix("the ").strip(), words.today
    if rest in ("today", "tomorrow"):
        return today + timedelta(days=rest == "tomorrow")
    if not rest and words.times:
        return today if words.moment(today) > words.now else today + timedelta(days=1)
    if rest in WEEKDAYS:
        ahead = (WEEKDAYS.index(rest) - today.isoweekday()) % 7
        day = today + timedelta(days=ahead)
        return day if words.moment(day) > words.now else day + timedelta(days=7)
    if found := re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", rest):
        return _existing(int(found[1]), int(found[2]), int(found[3]))
    named = _named_day(rest)
    if named is None:
        return None
    nearest = date(today.year, named[1], min(max(named[0], 1), calendar.monthrange(today.year, named[1])[1]))
    following = today.year if words.moment(nearest) > words.now else today.year + 1
    return _existing(named[2] or following, named[1], named[0])


def _named_day(text: str) -> tuple[int, int, int] | None:
    """`24 december`, `december 24th 2027`: day, month, year or 0."""
    month = "|".join(MONTHS)
    found = re.fullmatch(rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<m>{month})(?: (?P<y>\d{{4}}))?", text) or re.fullmatch(
        rf"(?P<m>{month}) (?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: (?P<y>\d{{4}}))?", text
    )
    return (int(found["d"]), MONTHS.index(found["m"]) + 1, int(found["y"] or 0)) if found else None


def _existing(year: int, month: int, day: int) -> date:
    if not 1 <= month <= 12 or not 1 <= year <= 9_000:
        raise BadInput(f"there is no month {month} of {year}. Try '{min(max(year, 1), 9_000)}-{min(max(month, 1), 12):02d}-{day:02d}'")
    longest = calendar.monthrange(year, month)[1]
    if not 1 <= day <= longest:
        nearest = f"{year}-{month:02d}-{min(max(day, 1), longest):02d}"
        raise BadInput(f"there is no {day} {calendar.month_name[month]} {year}: it has {longest} days. Try '{nearest}' with the same time")
    return date(year, month, day)


READERS: tuple[Callable[[Words], When | None], ...] = (_interval, _within, _each_day, _days, _monthly, _yearly, _once)


def _not_understood(text: str, words: Words, timezone: str) -> str:
    if better := hint(normal(text)):
        return f"{text!r} is no schedule that is understood here: {better}"
    tries = [f"{mended!r}"] if (mended := _mended(text, words, timezone)) else []
    near = get_close_matches(normal(text), EXAMPLES, n=3, cutoff=0.3) or EXAMPLES[:3]
    tries += [f"{each!r}" for each in near if f"{each!r}" not in tries]
    understood_part = f" Understood was the time {' and '.join(map(str, words.times))}, but not {words.rest!r}." if words.times else ""
    return f"{text!r} is no schedule that is understood here.{understood_part} Try {', '.join(tries[:3])}"


def _mended(text: str, words: Words, timezone: str) -> str | None:
    """The same with the words that nobody knows replaced by those that they look like, if that can be understood."""
    mended = [
        word if word in KNOWN or not word.isalpha() else next(iter(get_close_matches(word, KNOWN, n=1, cutoff=0.7)), word)
        for word in normal(text).split()
    ]
    if (better := " ".join(mended)) == normal(text):
        return None
    try:
        understood(better, words.now, timezone)
    except BadInput:
        return None
    return better
