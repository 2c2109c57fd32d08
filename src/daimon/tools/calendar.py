"""Hands for calendars: look, see free time, add, change, invite, delete.

They are several tools because they are several questions to the policy. Looking reads what is private, and what strangers wrote there.
Adding and changing touch the owner's own time and nobody else. Inviting writes to people, so the guests are destinations; deleting is for
good. What a calendar says of times is a closed answer: it can sway nobody. Ids are made by the driver and hold no words.

Neither adding nor changing is asked about, whoever had a word in it: that would be a question about nearly every appointment that is moved,
since looking for it brings what others wrote there. So a change tells what was there before, which is on record and can be put back, and a
model that somebody else talked into it fills or moves a calendar only so fast.

Times are given and told on the owner's clock. A call that is made again after a crash finds what it did (`abi/calendar.py`).
"""

import re
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field, JsonValue

from daimon.abi.calendar import Calendars, Change, Draft
from daimon.abi.errors import ToolFailed
from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Rate, Result, ResultLabel, Tool
from daimon.tools.calendar_times import AT, edges, maybe, merged, shown, span, when_of
from daimon.tools.calendar_told import closed, done_as, has, labels_of, told_of
from daimon.tools.schema import tool

TIMEOUT_S = 60.0
ADDS, CHANGES = Rate(60, 3_600.0), Rate(30, 3_600.0)
"""More than a person has a day of; so little that it can be mended by hand."""
_When = Annotated[str, Field(min_length=10, max_length=40)]
_Name = Annotated[str, Field(max_length=32)]
_Id = Annotated[str, Field(min_length=3, max_length=80)]
_Title = Annotated[str, Field(min_length=1, max_length=200)]
_Place = Annotated[str, Field(max_length=300)]
_Text = Annotated[str, Field(max_length=4_000)]
_Guest = Annotated[str, Field(min_length=3, max_length=200)]
_ADDRESS = re.compile(r"[^\s@<>,;:\"]+@[^\s@<>,;:\"]+")
_RESULT = ResultLabel(Author.STRANGER, "calendar")


def calendar_tools(calendars: Calendars, zone: str, is_shared: bool = False) -> tuple[Tool, ...]:
    """`is_shared`: somebody else sees what is written into one of them."""
    home = ZoneInfo(zone)
    return (*_looking(calendars, home), *_writing(calendars, home, is_shared), _inviting(calendars, home), _deleting(calendars))


def _looking(calendars: Calendars, home: ZoneInfo) -> tuple[Tool, ...]:
    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=_RESULT, timeout_s=TIMEOUT_S)
    async def calendar_events(
        call: Call,
        since: Annotated[_When, ArgumentRole.TIME, AT],
        until: Annotated[_When, ArgumentRole.TIME, "The end, like since; of a day: with all of it."],
        query: Annotated[_Place, ArgumentRole.QUERY, "Only those with this in title, place or text."] = "",
        calendar: Annotated[_Name, ArgumentRole.TARGET, "Left out: all."] = "",
    ) -> Result:
        """List what stands in the owner's calendars, with ids for changing it."""
        first, last = span(since, until, home)
        found = await calendars.events(first, last, calendar, call)
        events = [each for each in found.events if has(each, query)]
        data: dict[str, JsonValue] = {"events": [told_of(each, home) for each in events]}
        return Result({**data, "note": found.note} if found.note else data, touched=found.touched, labels=labels_of(events))

    @tool(effect=Effect.PURE, capabilities={Capability.READS_PRIVATE}, result=_RESULT, timeout_s=TIMEOUT_S)
    async def calendar_free(
        call: Call, since: Annotated[_When, ArgumentRole.TIME, AT], until: Annotated[_When, ArgumentRole.TIME, "The end, like since."]
    ) -> Result:
        """Tell when the owner is busy, in times alone."""
        first, last = span(since, until, home)
        found = await calendars.events(first, last, "", call)
        busy = merged(edges(each.when, home) for each in found.events if each.is_busy)
        data: list[JsonValue] = [{"start": shown(begins, home), "end": shown(ends, home)} for begins, ends in busy]
        return Result({"busy": data}, touched=found.touched, labels={"": closed(found.events)})

    return calendar_events, calendar_free


def _writing(calendars: Calendars, home: ZoneInfo, is_shared: bool) -> tuple[Tool, ...]:
    writes = {Capability.WRITES, Capability.READS_PRIVATE} | ({Capability.SENDS} if is_shared else set())

    @tool(effect=Effect.IDEMPOTENT, capabilities=writes, result=_RESULT, timeout_s=TIMEOUT_S, rate=ADDS)
    async def calendar_add(  # noqa: PLR0913 - what an event is made of
        call: Call,
        title: Annotated[_Title, ArgumentRole.TITLE, "What it is."],
        start: Annotated[_When, ArgumentRole.TIME, AT],
        end: Annotated[_When | None, ArgumentRole.TIME, "Like start. Left out: an hour later, or the same day."] = None,
        place: Annotated[_Place, ArgumentRole.CONTENT, "Where."] = "",
        text: Annotated[_Text, ArgumentRole.CONTENT, "More about it."] = "",
        repeats: Annotated[_Place, ArgumentRole.TIME, "A rule of iCalendar: FREQ=WEEKLY;BYDAY=MO"] = "",
        calendar: Annotated[_Name, ArgumentRole.TARGET, "Left out: the usual one."] = "",
    ) -> Result:
        """Put an event into the owner's calendar. To invite people to it, use calendar_invite afterwards."""
        draft = Draft(title=title, when=when_of(start, end, home), calendar=calendar, place=place, text=text, repeats=repeats)
        return done_as(await calendars.add(draft, call), call, home)

    @tool(effect=Effect.IDEMPOTENT, capabilities=writes, result=_RESULT, timeout_s=TIMEOUT_S, rate=CHANGES)
    async def calendar_change(  # noqa: PLR0913
        call: Call,
        event: Annotated[_Id, ArgumentRole.TARGET, "Its id; with @ it is one repetition, without it the whole series."],
        start: Annotated[_When | None, ArgumentRole.TIME, "The new beginning. " + AT] = None,
        end: Annotated[_When | None, ArgumentRole.TIME, "Left out: as long as it was, if start is given."] = None,
        title: Annotated[_Title | None, ArgumentRole.TITLE, "Left out: as it is, like all else."] = None,
        place: Annotated[_Place | None, ArgumentRole.CONTENT, "Where."] = None,
        text: Annotated[_Text | None, ArgumentRole.CONTENT, "More about it."] = None,
    ) -> Result:
        """Move or change an event that has no guests. Says what it was, to be put back."""
        change = Change(title=title, start=maybe(start, home), end=maybe(end, home), place=place, text=text)
        return done_as(await calendars.change(event, change, call), call, home)

    return calendar_add, calendar_change


def _inviting(calendars: Calendars, home: ZoneInfo) -> Tool:
    @tool(
        effect=Effect.IDEMPOTENT, capabilities={Capability.READS_PRIVATE, Capability.SENDS}, result=_RESULT, timeout_s=TIMEOUT_S,
        is_rare=True,
    )  # fmt: skip
    async def calendar_invite(
        call: Call,
        event: Annotated[_Id, ArgumentRole.TARGET, "Its id."],
        guests: Annotated[list[_Guest], ArgumentRole.DESTINATION, "All its guests from now on, by mail address.", Field(max_length=50)],
        start: Annotated[_When | None, ArgumentRole.TIME, "A new beginning, which they are told."] = None,
        end: Annotated[_When | None, ArgumentRole.TIME, "Left out: as long as it was."] = None,
    ) -> Result:
        """Invite people to an event, or change one that has guests. The server writes to them."""
        change = Change(guests=_addresses(guests), start=maybe(start, home), end=maybe(end, home))
        return done_as(await calendars.change(event, change, call), call, home)

    return calendar_invite


def _deleting(calendars: Calendars) -> Tool:
    async def gone(call: Call, event: str, guests: list[str]) -> Result | None:
        return Result({"deleted": event}, labels={"": call.label}) if await calendars.is_gone(event, call) else None

    @tool(
        effect=Effect.VERIFIABLE, capabilities={Capability.READS_PRIVATE, Capability.DELETES, Capability.SENDS}, result=_RESULT,
        timeout_s=TIMEOUT_S, verify=gone, is_rare=True,
    )  # fmt: skip
    async def calendar_delete(
        call: Call,
        event: Annotated[_Id, ArgumentRole.TARGET, "Its id; with @ it is one repetition, without it the whole series."],
        guests: Annotated[list[_Guest], ArgumentRole.DESTINATION, "All its guests, who are told.", Field(max_length=50)] = [],  # noqa: B006
    ) -> Result:
        """Delete an event."""
        done = await calendars.remove(event, _addresses(guests), call)
        return Result({"deleted": event}, touched=done.touched, labels={"": call.label})

    return calendar_delete


def _addresses(guests: list[str]) -> tuple[str, ...]:
    if wrong := next((each for each in guests if not _ADDRESS.fullmatch(each)), None):
        raise ToolFailed("bad_address", f"{wrong!r} is no mail address; write it as name@example.org")
    return tuple(guests)
