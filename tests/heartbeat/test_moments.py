"""Cron on days when the clock is changed, compared with somebody who looks at the clock every minute."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daimon.heartbeat.cron import parse
from daimon.heartbeat.moments import next_after

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca")
LINES = ("30 2 * * *", "*/15 * * * *", "7 1-3 29 2,3,10,11 1")
MINUTE = timedelta(minutes=1)


def watched(line: str, start: datetime, minutes: int, zone: ZoneInfo) -> Iterator[datetime]:
    """What somebody would do who looks at the clock every minute: for a line of each hour, whenever it shows a fitting time; for any other,
    when the clock shows or has passed a fitting time that it had not reached before."""
    cron = parse(line)
    reached = start.astimezone(zone).replace(tzinfo=None)
    at = start
    for _ in range(minutes):
        at += MINUTE
        wall = at.astimezone(zone).replace(tzinfo=None)
        if cron.is_each_hour:
            if wall.minute in cron.minutes and cron.fits(wall.date()):
                yield at
            continue
        is_due = False
        while reached < wall:
            reached += MINUTE
            is_due |= reached.minute in cron.minutes and reached.hour in cron.hours and cron.fits(reached.date())
        if is_due:
            yield at


def computed(line: str, start: datetime, minutes: int, zone: ZoneInfo) -> Iterator[datetime]:
    due = next_after(parse(line), start, zone)
    while due is not None and due <= start + minutes * MINUTE:
        yield due
        due = next_after(parse(line), due, zone)


@pytest.mark.parametrize("zone", ZONES)
def test_a_leap_year_minute_by_minute(zone: str) -> None:
    start, minutes = datetime(2028, 1, 1, tzinfo=UTC), 366 * 24 * 60
    for line in LINES[:1] if zone != "Europe/Berlin" else LINES:
        assert list(computed(line, start, minutes, ZoneInfo(zone))) == list(watched(line, start, minutes, ZoneInfo(zone))), line


@lru_cache
def changes(zone: str) -> tuple[datetime, ...]:
    """Moments at which the clock there is changed."""
    found, at = [], datetime(2024, 1, 1, tzinfo=UTC)
    while at.year < 2030:
        after = at + timedelta(hours=1)
        if at.astimezone(ZoneInfo(zone)).utcoffset() != after.astimezone(ZoneInfo(zone)).utcoffset():
            found.append(at)
        at = after
    return tuple(found) or (datetime(2026, 3, 29, tzinfo=UTC),)


field = {
    "minute": st.sampled_from(["*", "*/7", "0", "30", "0,29,59", "15-45/10", "59"]),
    "hour": st.sampled_from(["*", "*/2", "0", "1", "2", "3", "0-3", "1,2", "22-23", "2-3"]),
    "day": st.sampled_from(["*", "*", "*", "L", "29,30,31", "1-7"]),
    "weekday": st.sampled_from(["*", "*", "sun", "sat,sun", "1-5", "0L", "sun#1"]),
}


@given(st.sampled_from(ZONES), st.integers(0, 100), st.tuples(*field.values()), st.integers(0, 2_000))
@settings(max_examples=80, deadline=None)
def test_around_every_change_of_the_clock(zone: str, which: int, words: tuple[str, ...], before: int) -> None:
    line = f"{words[0]} {words[1]} {words[2]} * {words[3]}"
    all_changes = changes(zone)
    start, minutes = all_changes[which % len(all_changes)] - timedelta(minutes=before), 4_000
    assert list(computed(line, start, minutes, ZoneInfo(zone))) == list(watched(line, start, minutes, ZoneInfo(zone)))


@given(st.sampled_from(ZONES), st.integers(0, 36_000_000), st.tuples(*field.values()))
@settings(max_examples=200, deadline=None)
def test_it_is_always_after_and_nothing_lies_between(zone: str, minutes: int, words: tuple[str, ...]) -> None:
    line, at = parse(f"{words[0]} {words[1]} {words[2]} * {words[3]}"), datetime(2020, 1, 1, tzinfo=UTC) + minutes * MINUTE
    due = next_after(line, at, ZoneInfo(zone))
    assert due is not None
    assert due > at
    assert next_after(line, due - timedelta(microseconds=1), ZoneInfo(zone)) == due


def test_a_time_that_does_not_exist_is_due_once_after_the_gap() -> None:
    berlin, eve = ZoneInfo("Europe/Berlin"), datetime(2027, 3, 27, 12, tzinfo=UTC)
    found = list(computed("30 2 * * *", eve, 3 * 24 * 60, berlin))
    assert [due.astimezone(berlin).strftime("%d %H:%M") for due in found] == ["28 03:00", "29 02:30", "30 02:30"]


def test_a_time_that_comes_twice_is_due_the_first_time_only() -> None:
    berlin, eve = ZoneInfo("Europe/Berlin"), datetime(2027, 10, 30, 12, tzinfo=UTC)
    found = list(computed("30 2 * * *", eve, 2 * 24 * 60, berlin))
    assert [due.strftime("%d %H:%M") for due in found] == ["31 00:30", "01 01:30"]


def test_a_day_that_was_left_out_is_made_up_for_at_the_next_midnight() -> None:
    apia = ZoneInfo("Pacific/Apia")  # there was no 30 December 2011
    found = list(computed("0 8 30 12 *", datetime(2011, 12, 1, tzinfo=UTC), 60 * 24 * 60, apia))
    assert [str(due.astimezone(apia)) for due in found] == ["2011-12-31 00:00:00+14:00"]
