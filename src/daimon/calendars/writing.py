"""Changes of a calendar object. Pure: an object goes in, its new text comes out.

What Daimon does not know of an event stays as it is: alarms, links, properties of other programs. Each change bears the mark of the call
that made it, so that the same call finds it done. A single repetition that is changed becomes a part of its own beside the series; one
that is removed becomes an exception of it.
"""

from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from daimon.abi.calendar import Change, Days, Draft, Timed, When
from daimon.abi.errors import ToolFailed
from daimon.calendars.reading import MARK, Series, Span, address, event, many, occurrences, point
from daimon.calendars.recurrence import Point, rule_of

if TYPE_CHECKING:
    from icalendar import Event as Part

_OF_SERIES = ("RRULE", "RDATE", "EXDATE", "EXRULE")
_TEXTS = {"title": "SUMMARY", "place": "LOCATION", "text": "DESCRIPTION"}


@dataclass(frozen=True, slots=True)
class Stamp:
    """What every change bears."""

    mark: str
    now: datetime
    zone: tzinfo


def made(draft: Draft, uid: str, by: Stamp) -> bytes:
    """The text of a new event. Raises ToolFailed."""
    from icalendar import Calendar, vRecur
    from icalendar import Event as Part

    whole, part = Calendar(), Part()
    whole.add("PRODID", "-//Daimon//EN")
    whole.add("VERSION", "2.0")
    part.add("UID", uid)
    _say(part, {"title": draft.title, "place": draft.place, "text": draft.text})
    _set_when(part, draft.when)
    if draft.repeats:
        part.add("RRULE", vRecur.from_ical(_rule(draft.repeats)))
    _sign(part, by)
    whole.add_component(part)
    return _text(whole)


def marked(series: Series, key: str) -> str:
    """The call that changed it last."""
    return str(target(series, key).get(MARK, ""))


def target(series: Series, key: str) -> "Part":
    return series.others.get(key, series.first) if key else series.first


def changed(series: Series, key: str, change: Change, by: Stamp, owner: str) -> bytes:
    """The text of the object after a change of the whole (no key) or of one repetition. `owner`: whose guests they are."""
    part = series.first if not key else series.others.get(key) or _single(series, key, by.zone)
    when = _moved(event(part, "one", by.zone).when, change)
    if when is not None and not key:
        _check_series(series, when)
    _say(part, {"title": change.title, "place": change.place, "text": change.text})
    if when is not None:
        _set_when(part, when)
    if change.guests is not None:
        _invite(part, change.guests, owner)
    _sign(part, by)
    return _text(series.whole)


def without(series: Series, key: str, by: Stamp) -> bytes:
    """The text of the series without one repetition."""
    start = start_of(series, key, by.zone)
    if (other := series.others.get(key)) is not None:
        series.whole.subcomponents.remove(other)
    series.first.add("EXDATE", start)
    _sign(series.first, by)
    return _text(series.whole)


def _single(series: Series, key: str, zone: tzinfo) -> "Part":
    """A part of its own for one repetition, as the series has it."""
    start = start_of(series, key, zone)
    when = event(series.first, "one", zone, start).when
    part = deepcopy(series.first)
    for name in _OF_SERIES:
        part.pop(name, None)
    part.add("RECURRENCE-ID", start)
    _set_when(part, when)
    series.whole.add_component(part)
    return part


def start_of(series: Series, key: str, zone: tzinfo) -> Point:
    """When the repetition was first meant for. Raises ToolFailed if there is none."""
    if (other := series.others.get(key)) is not None:
        return point(other, "RECURRENCE-ID")
    at = _read_stamp(key, zone)
    near = Span(at - timedelta(days=2), at + timedelta(days=2), zone)
    for each in occurrences(series, "one", near):
        if each.id == f"one@{key}":
            return each.when.starts if isinstance(each.when, Timed) else each.when.first
    raise ToolFailed("not_found", "this repetition does not take place (any more); look again with calendar_events")


def _read_stamp(key: str, zone: tzinfo) -> datetime:
    try:
        at = datetime.strptime(key.removesuffix("Z"), "%Y%m%dT%H%M%S" if "T" in key else "%Y%m%d")  # noqa: DTZ007 - its zone follows
    except ValueError:
        raise ToolFailed("bad_id", f"{key[:40]!r} names no repetition; use an id as calendar_events gave it") from None
    return at.replace(tzinfo=UTC if key.endswith("Z") else zone)


def _check_series(series: Series, when: When) -> None:
    """A rule names days: of a whole series only the time of day can be changed, and only while no repetition is special."""
    if not series.is_repeated:
        return
    first = point(series.first, "DTSTART")
    day = when.starts.date() if isinstance(when, Timed) else when.first
    is_same_day = day == (first.date() if isinstance(first, datetime) else first)
    if not is_same_day or series.others or "EXDATE" in series.first or isinstance(when, Timed) is not isinstance(first, datetime):
        text = "the time of a whole series can be changed only on its first day, and only if all its repetitions are alike"
        raise ToolFailed("series", f"{text}; change single repetitions by their own ids, or delete the series and add another")


def _moved(old: When, change: Change) -> When | None:
    """As long as it was, unless an end is given. Raises ToolFailed."""
    if change.start is None and change.end is None:
        return None
    begins, ends = (old.starts, old.ends) if isinstance(old, Timed) else (old.first, old.last)
    start = begins if change.start is None else change.start
    end: date | datetime
    if change.end is not None:
        end = change.end
    elif isinstance(start, datetime):
        end = start + (old.ends - old.starts) if isinstance(old, Timed) else start + timedelta(hours=1)
    else:
        end = start if isinstance(old, Timed) else start + (old.last - old.first)
    if isinstance(start, datetime) and isinstance(end, datetime) and start < end:
        return Timed(start, end)
    if not isinstance(start, datetime) and not isinstance(end, datetime) and start <= end:
        return Days(start, end)
    raise ToolFailed("bad_time", f"an event from {begins} to {ends} cannot go from {start} to {end}; give start and end, in order")


def _set_when(part: "Part", when: When) -> None:
    for name in ("DTSTART", "DTEND", "DURATION"):
        part.pop(name, None)
    if isinstance(when, Days):
        part.add("DTSTART", when.first)
        part.add("DTEND", when.last + timedelta(days=1))
    else:
        part.add("DTSTART", when.starts)
        part.add("DTEND", when.ends)


def _say(part: "Part", texts: dict[str, str | None]) -> None:
    for name, text in texts.items():
        if text is not None:
            part.pop(_TEXTS[name], None)
            if text:
                part.add(_TEXTS[name], text)


def _invite(part: "Part", guests: tuple[str, ...], owner: str) -> None:
    """Whoever was a guest before keeps their answer."""
    from icalendar import vCalAddress

    known = {address(each): each for each in many(part, "ATTENDEE")}
    part.pop("ATTENDEE", None)
    for guest in dict.fromkeys(each.lower() for each in guests):
        entry: Any = known.get(guest)
        if entry is None:
            entry = vCalAddress(f"mailto:{guest}")
            entry.params.update({"PARTSTAT": "NEEDS-ACTION", "RSVP": "TRUE"})
        part.add("ATTENDEE", entry)
    part.pop("ORGANIZER", None)
    part.add("ORGANIZER", vCalAddress(f"mailto:{owner}"))


def _sign(part: "Part", by: Stamp) -> None:
    sequence = part.pop("SEQUENCE", 0 if "DTSTAMP" in part else -1)
    for name in (MARK, "DTSTAMP", "LAST-MODIFIED"):
        part.pop(name, None)
    part.add("SEQUENCE", int(sequence) + 1)
    for name in ("DTSTAMP", "LAST-MODIFIED"):
        part.add(name, by.now.astimezone(UTC).replace(microsecond=0))
    part.add(MARK, by.mark)


def _rule(text: str) -> str:
    try:
        return rule_of(text).text
    except ValueError as wrong:
        raise ToolFailed("bad_rule", f"{wrong}; write a rule such as FREQ=WEEKLY;BYDAY=MO") from wrong


def _text(whole: Any) -> bytes:
    """With the zones that its times name: other programs may not know them."""
    whole.add_missing_timezones()
    found: bytes = whole.to_ical()
    return found
