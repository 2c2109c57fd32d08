"""Changes reach the server once, over what was read, and leave alone what they do not name."""

import asyncio
from datetime import date

import pytest
from tests.calendars.rig import CALL, Server, at, calling, vevent

from daimon.abi.calendar import Change, Days, Draft, Timed
from daimon.abi.errors import ToolFailed

DENTIST = Draft(title="Dentist", when=Timed(at("2026-03-16T09:00"), at("2026-03-16T09:30")), place="High Street 5")
WEEKLY = Draft(title="Jour fixe", when=Timed(at("2026-03-22T09:00"), at("2026-03-22T10:00")), repeats="FREQ=WEEKLY;COUNT=3")


async def test_the_same_call_made_twice_adds_one_event(server: Server) -> None:
    first = await server.calendars().add(DENTIST, CALL)
    again = await server.calendars().add(DENTIST, CALL)  # after a crash: nobody remembers the first
    other = await server.calendars().add(DENTIST, calling("t1:9"))
    assert first.event == again.event != other.event
    assert [each.title for each in await server.events("2026-03-16", "2026-03-17")] == ["Dentist", "Dentist"]


async def test_a_change_made_twice_is_made_once_and_keeps_what_it_does_not_name(server: Server) -> None:
    alarm = ("BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", "DESCRIPTION:x", "END:VALARM")
    server.put("a", *vevent("DTSTART:20260316T080000Z", "DTEND:20260316T083000Z", "SUMMARY:Dentist", "X-OTHER:kept", *alarm))
    (event,) = await server.events("2026-03-16", "2026-03-17")
    change = Change(start=at("2026-03-20T10:00"))
    for _ in range(2):
        done = await server.calendars().change(event.id, change, CALL)
    assert done.event.when == Timed(at("2026-03-20T10:00"), at("2026-03-20T10:30"))
    text = server.texts()["a"]
    assert "SEQUENCE:1" in text  # the second time nothing was written
    assert "X-OTHER:kept" in text
    assert "VALARM" in text
    assert "VTIMEZONE" in text
    (moved,) = await server.events("2026-03-20", "2026-03-21")
    assert (moved.id, moved.title) == (event.id, "Dentist")


async def test_what_somebody_else_changed_meanwhile_is_not_overwritten(server: Server) -> None:
    calendars = server.calendars()
    event = (await calendars.add(DENTIST, CALL)).event
    changes = [calendars.change(event.id, Change(place=f"Room {i}"), calling(f"t2:{i}")) for i in range(4)]
    results = await asyncio.gather(*changes, return_exceptions=True)
    failed = [each for each in results if isinstance(each, ToolFailed)]
    assert {each.reason for each in failed} <= {"changed"}
    assert all(each.retryable for each in failed)
    done = [each.event.place for each in results if not isinstance(each, BaseException)]
    (now,) = await server.events("2026-03-16", "2026-03-17")
    assert now.place in done


async def test_one_repetition_is_changed_and_another_removed_while_the_rest_stays(server: Server) -> None:
    await server.calendars().add(WEEKLY, CALL)
    first, second, third = await server.events("2026-03-20", "2026-04-10")
    await server.calendars().change(second.id, Change(start=at("2026-03-30T14:00"), title="moved"), calling("t2:1"))
    await server.calendars().remove(third.id, (), calling("t2:2"))
    events = await server.events("2026-03-20", "2026-04-10")
    assert [(each.id, each.title) for each in events] == [(first.id, "Jour fixe"), (second.id, "moved")]
    assert events[1].when == Timed(at("2026-03-30T14:00"), at("2026-03-30T15:00"))
    assert await server.calendars().is_gone(third.id, CALL)
    assert not await server.calendars().is_gone(second.id, CALL)


async def test_a_whole_series_can_be_renamed_but_not_moved_to_other_days(server: Server) -> None:
    series = (await server.calendars().add(WEEKLY, CALL)).event.id
    await server.calendars().change(series, Change(title="Weekly", start=at("2026-03-22T11:00")), calling("t2:1"))
    events = await server.events("2026-03-20", "2026-04-10")
    assert [each.when.starts.hour for each in events if isinstance(each.when, Timed)] == [11, 11, 11]
    with pytest.raises(ToolFailed, match="delete the series"):
        await server.calendars().change(series, Change(start=at("2026-03-23T11:00")), calling("t2:2"))


async def test_whole_days_stay_whole_days(server: Server) -> None:
    done = await server.calendars().add(Draft(title="Away", when=Days(date(2026, 3, 10), date(2026, 3, 12))), CALL)
    await server.calendars().change(done.event.id, Change(start=date(2026, 3, 20)), calling("t2:1"))
    (event,) = await server.events("2026-03-20", "2026-03-21")
    assert event.when == Days(date(2026, 3, 20), date(2026, 3, 22))


async def test_whoever_will_be_told_must_have_been_named(server: Server) -> None:
    calendars = server.calendars(address="ada@x.org")
    event = (await calendars.add(DENTIST, CALL)).event.id
    await calendars.change(event, Change(guests=("Bob@x.org",)), calling("t2:1"))
    assert "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob@x.org" in next(iter(server.texts().values())).replace("\r\n ", "")
    for attempt in (calendars.change(event, Change(title="x"), calling("t2:2")), calendars.remove(event, (), calling("t2:3"))):
        with pytest.raises(ToolFailed, match="has guests"):
            await attempt
    await calendars.change(event, Change(start=at("2026-03-17T09:00"), guests=("bob@x.org", "eve@x.org")), calling("t2:4"))
    await calendars.remove(event, ("bob@x.org", "eve@x.org"), calling("t2:5"))
    assert not server.texts()


async def test_somebody_elses_event_is_not_changed_but_may_be_thrown_away(server: Server) -> None:
    server.put("a", *vevent("DTSTART:20260316T080000Z", "DURATION:PT1H", "ORGANIZER:mailto:bob@x.org", "ATTENDEE:mailto:ada@x.org"))
    (event,) = await server.events("2026-03-16", "2026-03-17", address="ada@x.org")
    with pytest.raises(ToolFailed, match="somebody else invited"):
        await server.calendars(address="ada@x.org").change(event.id, Change(title="x"), CALL)
    await server.calendars(address="ada@x.org").remove(event.id, (), CALL)
    assert not server.texts()


@pytest.mark.parametrize(
    ("rule", "words"),
    [("FREQ=SECONDLY", "repeats neither"), ("FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7", "times a day"), ("weekly", "no part of a rule")],
)
async def test_a_rule_that_nobody_can_follow_is_not_written(server: Server, rule: str, words: str) -> None:
    with pytest.raises(ToolFailed, match=words):
        await server.calendars().add(Draft(title="x", when=DENTIST.when, repeats=rule), CALL)
    assert not server.texts()


async def test_a_calendar_that_is_only_read_is_only_read(server: Server) -> None:
    with pytest.raises(ToolFailed, match="only read"):
        await server.calendars(is_changeable=False).add(DENTIST, CALL)
    assert await server.events("2026-03-16", "2026-03-17", is_changeable=False) == ()
