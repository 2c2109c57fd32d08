"""Words for times, days and numbers, in English and some German: what `plain.py` makes schedules of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from daimon.abi.errors import BadInput

WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10, "twelve": 12, "other": 2,
    "second": 2, "third": 3, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
GERMAN = {
    "jeden": "every", "jede": "every", "jedes": "every", "alle": "every", "täglich": "daily", "taeglich": "daily", "stündlich": "hourly",
    "werktags": "weekdays", "werktag": "weekday", "wochentag": "weekday", "wochenende": "weekend", "um": "at", "uhr": "", "und": "and",
    "montag": "monday", "dienstag": "tuesday", "mittwoch": "wednesday", "donnerstag": "thursday", "freitag": "friday",
    "samstag": "saturday", "sonntag": "sunday", "montags": "mondays", "dienstags": "tuesdays", "mittwochs": "wednesdays",
    "donnerstags": "thursdays", "freitags": "fridays", "samstags": "saturdays", "sonntags": "sundays", "minute": "minute",
    "minuten": "minutes", "stunde": "hour", "stunden": "hours", "tag": "day", "tage": "days", "tagen": "days", "woche": "week",
    "wochen": "weeks", "monat": "month", "monats": "month", "jahr": "year", "morgen": "tomorrow", "heute": "today", "mittags": "noon",
    "mitternacht": "midnight", "ersten": "first", "zweiten": "second", "zweite": "second", "dritten": "third", "letzten": "last",
    "zwei": "two", "drei": "three", "sechs": "six", "zwölf": "twelve", "einer": "one", "des": "of the", "im": "of the",
    "von": "from", "bis": "to", "am": "on", "januar": "january", "februar": "february", "märz": "march", "mai": "may",
    "juni": "june", "juli": "july", "oktober": "october", "dezember": "december",
}  # fmt: skip
SHORT = {
    **{name[:3]: name for name in (*WEEKDAYS, *MONTHS)}, "tues": "tuesday", "weds": "wednesday", "thur": "thursday", "thurs": "thursday",
    "sept": "september", "mins": "minutes", "min": "minutes", "hrs": "hours", "hr": "hour", "h": "hours", "each": "every",
    "everyday": "daily", "tmrw": "tomorrow",
}  # fmt: skip
TIME = r"(?:\d{1,2}(?::\d{2})?(?: ?[ap]m)?|noon|midnight)"
TIMES = re.compile(rf"\bat (?P<at>{TIME}(?:(?: and |, ?){TIME})*)(?![\w:.-])")
BARE = re.compile(r"(?<![\w:.-])(?P<at>\d{1,2}:\d{2}(?: ?[ap]m)?|\d{1,2} ?[ap]m|noon|midnight)(?![\w:.-])")


@dataclass(frozen=True, slots=True, order=True)
class At:
    hour: int
    minute: int

    def __str__(self) -> str:
        return f"{self.hour}:{self.minute:02d}"


def normal(text: str) -> str:
    """Small letters, English words, single spaces."""
    text = re.sub(r"(\d{4}-\d{2}-\d{2})t(?=\d)", r"\1 ", text.strip().lower().rstrip(".!"))
    text = re.sub(r"\b([ap])\.m\b\.?", r"\1m", text)
    words = (GERMAN.get(word, word) for word in re.sub(r",(?=\s)|,(?=[a-z])", " and ", text).split())
    text = re.sub(r"\band and\b", "and", " ".join(" ".join(SHORT.get(word, word) for word in words).split()))
    return re.sub(r"\b(from|between) (\d{1,2}):00 (to|and) (\d{1,2}):00\b", r"\1 \2 \3 \4", text)


def times_in(text: str) -> tuple[str, tuple[At, ...]]:
    """The text without its times, and these."""
    found = TIMES.search(text) or BARE.search(text)
    if found is None:
        return text, ()
    times = tuple(_time(each) for each in re.split(r" and |, ?", found["at"]))
    return " ".join(f"{text[: found.start()]} {text[found.end() :]}".split()), times


def _time(word: str) -> At:
    if word in ("noon", "midnight"):
        return At(12 if word == "noon" else 0, 0)
    found = re.fullmatch(r"(\d{1,2})(?::(\d{2}))? ?([ap]m)?", word)
    assert found is not None
    hour, minute, half = int(found[1]), int(found[2] or 0), found[3]
    if minute > 59:
        raise BadInput(f"{word!r} is no time of day: there are 60 minutes. Try '{hour}:59'")
    if half:
        if not 1 <= hour <= 12:
            raise BadInput(f"{word!r} is no time of day: am and pm go with hours from 1 to 12. Try '{hour % 12 or 12} {half}'")
        return At(hour % 12 + (12 if half == "pm" else 0), minute)
    if hour > 23:
        raise BadInput(f"{word!r} is no time of day: hours go from 0 to 23. Try '{0 if hour == 24 else 23}:{minute:02d}'")
    return At(hour, minute)


def count(word: str | None) -> int | None:
    """`three`, `3`, or nothing for one."""
    if not word:
        return 1
    return int(word) if word.isdecimal() and len(word) < 7 else NUMBERS.get(word)


def weekdays_in(text: str) -> tuple[int, ...] | None:
    """`monday and thursday`, `weekdays`; None: something else stands there. 0 is Sunday."""
    found = list(_weekdays(text))
    known = {day for day in found if day is not None}
    return tuple(sorted(known)) if known and None not in found else None


def _weekdays(text: str) -> Iterator[int | None]:
    for word in re.split(r" and (?:on )?|, ?| ", text):
        if word in ("weekday", "weekdays"):
            yield from range(1, 6)
        elif word in ("weekend", "weekends"):
            yield from (0, 6)
        else:
            yield WEEKDAYS.index(day) if (day := word.removesuffix("s")) in WEEKDAYS else None
