"""What stands in a calendar object: one event, or a series with those of its repetitions that are different. Pure.

An object is an iCalendar text. Its first event says what and when; further ones with a RECURRENCE-ID stand in place of single repetitions.
`icalendar` reads it, and is loaded with the first object. What it cannot read is a ValueError; whoever lists many leaves that one out and
says so. Words are cleaned of signs that nobody sees, and cut: whose words they are is decided by who asks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from daimon.abi.calendar import Days, Event, Guest, Timed, When
from daimon.abi.invisible import visible
from daimon.abi.text import clean
from daimon.calendars.recurrence import MOST, NOT_FOLLOWED, Point, moment, overlaps, rule_of, starts

if TYPE_CHECKING:
    from icalendar import Calendar
    from icalendar import Event as Part

LONGEST = 4_000
MOST_BYTES = 1024 * 1024
_SHORT = 300
MARK = "X-DAIMON-CALL"
"""In an event that Daimon wrote: the call that did it last."""


@dataclass(frozen=True, slots=True)
class Span:
    since: datetime
    until: datetime
    zone: tzinfo
    """The owner's: of times and days that have none."""


@dataclass(frozen=True, slots=True)
class Series:
    """An object, taken apart."""

    whole: "Calendar"
    first: "Part"
    others: "dict[str, Part]"
    """By the time that each stands in place of, as in ids."""

    @property
    def is_repeated(self) -> bool:
        return "RRULE" in self.first or "RDATE" in self.first


def read(text: bytes) -> Series:
    """Raises ValueError."""
    from icalendar import Calendar
    from icalendar import Event as Part

    if len(text) > MOST_BYTES:
        raise ValueError(f"an event has more than {MOST_BYTES >> 20} MB")
    try:
        whole = Calendar.from_ical(text)
        parts = [each for each in whole.subcomponents if isinstance(each, Part)]
        first = next((each for each in parts if "RECURRENCE-ID" not in each), None) or parts[0]
        point(first, "DTSTART")
        others = {stamp(point(each, "RECURRENCE-ID")): each for each in parts if "RECURRENCE-ID" in each and each is not first}
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as broken:
        raise ValueError(f"it cannot be read as an event: {broken}") from None
    return Series(whole, first, others)


def occurrences(series: Series, id_: str, span: Span) -> Iterator[Event]:
    """Those in the span. Raises ValueError where times cannot be read."""
    length, note, times = _length(series.first, span.zone), "", list[Point]()
    if series.is_repeated:
        try:
            times = _times(series, span)
        except (ValueError, TypeError, OverflowError):
            note = NOT_FOLLOWED
    for each in times or ([] if series.is_repeated and not note else [point(series.first, "DTSTART")]):
        if (key := stamp(each)) in series.others:
            continue
        begins = moment(each, span.zone)
        if overlaps(begins, begins + length, span.since, span.until):
            found = event(series.first, id_, span.zone, each)
            yield replace(found, id=f"{id_}@{key}", series=id_) if series.is_repeated and not note else replace(found, note=note)
    for key, other in series.others.items():
        begins = moment(point(other, "DTSTART"), span.zone)
        if overlaps(begins, begins + _length(other, span.zone), span.since, span.until) and not is_cancelled(other):
            yield replace(event(other, id_, span.zone), id=f"{id_}@{key}", series=id_)


def event(part: "Part", id_: str, zone: tzinfo, start: Point | None = None) -> Event:
    """What one part of an object says, at a time of its own or at this one."""
    organiser = part.get("ORGANIZER")
    return Event(
        id=id_,
        calendar=id_.partition(".")[0],
        when=_when(part, zone, start),
        title=_words(part, "SUMMARY", _SHORT),
        place=_words(part, "LOCATION", _SHORT),
        text=_words(part, "DESCRIPTION", LONGEST),
        organiser=address(organiser) if organiser is not None else "",
        guests=tuple(_guest(each) for each in many(part, "ATTENDEE")),
        is_busy=_words(part, "TRANSP", 20).upper() != "TRANSPARENT" and not is_cancelled(part),
    )


def stamp(at: Point) -> str:
    """A time as it stands in an id. A time without a zone stands there without one."""
    if not isinstance(at, datetime):
        return at.strftime("%Y%m%d")
    return moment(at, at.tzinfo).strftime("%Y%m%dT%H%M%SZ") if at.tzinfo else at.strftime("%Y%m%dT%H%M%S")


def many(part: "Part", name: str) -> list[Any]:
    found = part.get(name, [])
    return found if isinstance(found, list) else [found]


def address(value: object) -> str:
    return tidy(str(value), _SHORT).removeprefix("mailto:").removeprefix("MAILTO:").lower()


def is_cancelled(part: "Part") -> bool:
    return _words(part, "STATUS", 20).upper() == "CANCELLED"


def tidy(text: str, most: int) -> str:
    shown = visible(clean(text))[0].strip()
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def _guest(value: Any) -> Guest:
    parameters = getattr(value, "params", {})
    answer = str(parameters.get("PARTSTAT", "")).lower()
    known = answer if answer in ("accepted", "declined", "tentative") else ""
    return Guest(address(value), tidy(str(parameters.get("CN", "")), _SHORT), known)


def _words(part: "Part", name: str, most: int) -> str:
    found = many(part, name)
    return tidy(str(found[0]), most) if found else ""


def point(part: "Part", name: str) -> Point:
    found = many(part, name)
    at = getattr(found[0], "dt", None) if found else None
    if not isinstance(at, date):
        raise ValueError(f"it has no {name}")
    return at


def _length(part: "Part", zone: tzinfo) -> timedelta:
    start = point(part, "DTSTART")
    if "DTEND" in part:
        length = moment(point(part, "DTEND"), zone) - moment(start, zone)
    elif "DURATION" in part:
        length = getattr(part["DURATION"], "dt", timedelta())
    else:
        length = timedelta() if isinstance(start, datetime) else timedelta(days=1)
    return max(length, timedelta())


def _when(part: "Part", zone: tzinfo, start: Point | None) -> When:
    at = point(part, "DTSTART") if start is None else start
    length = _length(part, zone)
    if isinstance(at, datetime):
        begins = at if at.tzinfo else at.replace(tzinfo=zone)
        return Timed(begins, (moment(begins, zone) + length).astimezone(begins.tzinfo))
    days = round(length / timedelta(days=1))
    return Days(at, at + timedelta(days=max(days, 1) - 1))


def _times(series: Series, span: Span) -> list[Point]:
    """All its times up to the end of the span that are not taken out, and that may still be under way in it."""
    first, length = point(series.first, "DTSTART"), _length(series.first, span.zone)
    added = [each.dt for value in many(series.first, "RDATE") for each in value.dts if isinstance(each.dt, date)]
    taken = {stamp(each.dt) for value in many(series.first, "EXDATE") for each in value.dts}
    found: dict[str, Point] = {stamp(each): each for each in (first, *added)}
    for value in many(series.first, "RRULE"):
        for each in starts(rule_of(value.to_ical().decode()), first, span.since - length, span.until, span.zone):
            if moment(each, span.zone) + length >= span.since:
                found[stamp(each)] = each
            if len(found) > MOST:
                break
    return sorted((at for key, at in found.items() if key not in taken), key=lambda at: moment(at, span.zone))
