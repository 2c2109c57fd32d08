"""Calendars are read as they are: zones, repetitions, days, and what cannot be read."""

import asyncio
from datetime import date

import pytest
from tests.calendars.rig import CALL, DEADLINE_S, HOST, Server, at, vevent

from daimon.abi.calendar import Days, Event, Timed
from daimon.abi.errors import ToolFailed
from daimon.calendars.account import On
from daimon.calendars.discovery import calendars_at


def starts(events: tuple[Event, ...]) -> list[str]:
    return [each.when.starts.isoformat() if isinstance(each.when, Timed) else each.when.first.isoformat() for each in events]


async def test_an_event_comes_with_its_words_and_people(server: Server) -> None:
    people = ("ORGANIZER:mailto:Bob@x.org", "ATTENDEE;CN=Ada;PARTSTAT=ACCEPTED:mailto:ada@x.org")
    lines = ("DTSTART:20260316T080000Z", "DURATION:PT30M", "SUMMARY:Den\u202etist", "LOCATION:High Street\\, 5", *people)
    server.put("a", *vevent(*lines))
    (event,) = await server.events("2026-03-16", "2026-03-17")
    assert (event.title, event.place, event.organiser) == ("Dentist", "High Street, 5", "bob@x.org")
    assert (event.guests[0].address, event.guests[0].answer) == ("ada@x.org", "accepted")
    assert event.when == Timed(at("2026-03-16T09:00:00"), at("2026-03-16T09:30:00"))
    assert not event.is_own  # Bob wrote it


async def test_a_series_keeps_its_hour_when_the_clocks_change(server: Server) -> None:
    lines = ("DTSTART;TZID=Europe/Berlin:20260301T090000", "DTEND;TZID=Europe/Berlin:20260301T100000", "RRULE:FREQ=WEEKLY;BYDAY=SU")
    server.put("a", *vevent(*lines, "EXDATE;TZID=Europe/Berlin:20260322T090000"))
    events = await server.events("2026-03-15", "2026-04-06")
    assert starts(events) == ["2026-03-15T09:00:00+01:00", "2026-03-29T09:00:00+02:00", "2026-04-05T09:00:00+02:00"]
    assert {each.series for each in events} == {events[0].id.partition("@")[0]}
    assert len({each.id for each in events}) == 3


async def test_a_repetition_that_was_moved_stands_where_it_was_moved_to(server: Server) -> None:
    lines = ("DTSTART;TZID=Europe/Berlin:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=4", "SUMMARY:daily")
    moved = ("RECURRENCE-ID;TZID=Europe/Berlin:20260303T090000", "DTSTART:20260303T140000Z", "DURATION:PT1H", "SUMMARY:late")
    cancelled = ("RECURRENCE-ID;TZID=Europe/Berlin:20260304T090000", "DTSTART;TZID=Europe/Berlin:20260304T090000", "STATUS:CANCELLED")
    server.put("a", *vevent(*lines), *vevent(*moved), *vevent(*cancelled))
    events = await server.events("2026-03-01", "2026-03-31")
    assert [each.title for each in events] == ["daily", "late", "daily"]
    assert starts(events)[1:] == ["2026-03-03T14:00:00+00:00", "2026-03-05T09:00:00+01:00"]


async def test_days_and_times_without_a_zone_are_the_owners(server: Server) -> None:
    server.put("holiday", *vevent("DTSTART;VALUE=DATE:20260310", "DTEND;VALUE=DATE:20260313"))
    server.put("birthday", *vevent("DTSTART;VALUE=DATE:19800312", "RRULE:FREQ=YEARLY"))
    server.put("wall", *vevent("DTSTART:20260312T233000", "DURATION:PT15M"))
    events = await server.events("2026-03-12", "2026-03-13")
    assert {each.when for each in events} == {
        Days(date(2026, 3, 10), date(2026, 3, 12)),
        Days(date(2026, 3, 12), date(2026, 3, 12)),
        Timed(at("2026-03-12T23:30:00"), at("2026-03-12T23:45:00")),
    }


async def test_what_can_never_be_counted_out_is_shown_once_and_says_so(server: Server) -> None:
    server.put("a", *vevent("DTSTART:20260312T080000Z", "RRULE:FREQ=YEARLY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11;BYMINUTE=0,15,30,45"))
    (event,) = await server.events("2026-03-12", "2026-03-13")
    assert "cannot be followed" in event.note


async def test_the_calendar_is_found_from_the_address_of_the_server_alone(server: Server) -> None:
    server.put("a", *vevent("DTSTART:20260312T080000Z", "DURATION:PT1H"))
    assert len(await server.events("2026-03-12", "2026-03-13", url=f"http://{HOST}/")) == 1
    (second := server.work.parent / "home").mkdir()
    (second / ".Radicale.props").write_text('{"tag": "VCALENDAR", "D:displayname": "Home"}')
    account = server.calendars(url=f"http://{HOST}/")._account("work")
    async with asyncio.timeout(DEADLINE_S):
        places = await calendars_at(account, On(CALL.label))
    assert {each.title: each.url for each in places} == {
        "Work": f"http://{HOST}/{server.user}/work/",
        "Home": f"http://{HOST}/{server.user}/home/",
    }
    with pytest.raises(ToolFailed, match="must name one calendar"):
        await server.events("2026-03-12", "2026-03-13", url=f"http://{HOST}/")


@pytest.mark.parametrize(
    ("more", "reason", "words"),
    [
        ({"user": "eve"}, "locked_out", "does not let eve in"),
        ({"url": f"http://{HOST}/ada1/gone/", "user": "ada1"}, "not_found", "check its url"),
        ({"url": "http://elsewhere.test/"}, "", "elsewhere.test"),
    ],
)
async def test_a_server_that_gives_nothing_says_why(server: Server, more, reason: str, words: str) -> None:
    with pytest.raises(ToolFailed, match=words) as caught:
        await server.events("2026-03-12", "2026-03-13", **more)
    assert not reason or caught.value.reason == reason
    assert "battery" not in str(caught.value)


async def test_the_password_goes_out_by_the_vault_alone(server: Server) -> None:
    await server.events("2026-03-12", "2026-03-13")
    assert {use[0] for use in server.vault.uses} == {"cal"}
