"""What a model is told of events, and whose words each part is."""

from collections.abc import Iterable
from zoneinfo import ZoneInfo

from pydantic import JsonValue

from daimon.abi.calendar import Days, Done, Event
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.tool import Call, Result
from daimon.tools.calendar_times import shown

_CLOSED = ("start", "end", "is_all_day")
_OURS = ("event", "series", "calendar")


def told_of(event: Event, home: ZoneInfo) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {"event": event.id, "calendar": event.calendar, "title": event.title}
    if isinstance(event.when, Days):
        told |= {"start": event.when.first.isoformat(), "end": event.when.last.isoformat(), "is_all_day": True}
    else:
        told |= {"start": shown(event.when.starts, home), "end": shown(event.when.ends, home)}
    told |= {"series": event.series, "place": event.place, "text": event.text, "organiser": event.organiser, "note": event.note}
    told["guests"] = [f"{each.address} {each.answer}".strip() for each in event.guests]
    return {name: value for name, value in told.items() if value or name in ("title", "start", "end")}


def _was(before: Event, now: Event, home: ZoneInfo) -> dict[str, JsonValue]:
    """What is empty was not there."""
    old, new = ({"title": "", "place": "", "text": "", **told_of(each, home)} for each in (before, now))
    return {name: old[name] for name in ("title", "start", "end", "place", "text") if old[name] != new[name]}


def has(event: Event, query: str) -> bool:
    return query.casefold() in " ".join((event.title, event.place, event.text, event.organiser)).casefold()


def _label(event: Event) -> Label:
    source = f"calendar:{event.calendar}"
    return owned(source) if event.is_own else Label.of(Origin(Author.STRANGER, source), readers=(OWNER,))


def labels_of(events: list[Event]) -> dict[str, Label]:
    """Few patterns for many events: what most of them are, and those that are better."""
    service = Label.of(Origin(Author.SERVICE, "calendar"), readers=(OWNER,))
    strangers = [each for each in events if not each.is_own]
    if not strangers:
        return {"": service} | ({"/events/*": owned(f"calendar:{events[0].calendar}")} if events else {})
    words = Label.of(*(origin for each in strangers for origin in _label(each).origins), readers=(OWNER,))
    labels = {"": service, "/events/*": words}
    labels |= {f"/events/*/{name}": words.limited() for name in _CLOSED}
    labels |= {f"/events/*/{name}": service for name in _OURS}
    return labels | {f"/events/{i}": _label(each) for i, each in enumerate(events) if each.is_own}


def closed(events: Iterable[Event]) -> Label:
    service = Origin(Author.SERVICE, "calendar")
    return Label.of(service, *(origin for each in events for origin in _label(each).limited().origins), readers=(OWNER,))


def done_as(done: Done, call: Call, home: ZoneInfo) -> Result:
    """What it is now, and what of it was another thing. Words that the model did not give are whose they were."""
    data: dict[str, JsonValue] = {"done": told_of(done.event, home)}
    if done.before is not None and (was := _was(done.before, done.event, home)):
        data["was"] = was
    return Result(data, touched=done.touched, labels={"": _label(done.event).joined(call.label)})
