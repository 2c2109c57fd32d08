"""Plain words to points in time, with a fixed now."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.models.timewords import find, is_moment
from daimon.models.when import when

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 11, 10, 0, tzinfo=BERLIN)
"""A Wednesday."""


def at(text: str, now: datetime = NOW) -> str | None:
    found = when(text, now, now.tzinfo or UTC)
    return f"{found.at:%Y-%m-%d %H:%M}" if found else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 20 minutes", "2026-11-11 10:20"),
        ("in 20min", "2026-11-11 10:20"),
        ("in twenty five minutes", "2026-11-11 10:25"),
        ("45 minutes from now", "2026-11-11 10:45"),
        ("in half an hour", "2026-11-11 10:30"),
        ("in a quarter of an hour", "2026-11-11 10:15"),
        ("in an hour", "2026-11-11 11:00"),
        ("in an hour and a half", "2026-11-11 11:30"),
        ("in two and a half hours", "2026-11-11 12:30"),
        ("in 1.5 hours", "2026-11-11 11:30"),
        ("in 1h30m", "2026-11-11 11:30"),
        ("in 2 hours and 15 minutes", "2026-11-11 12:15"),
        ("in a couple of hours", "2026-11-11 12:00"),
        ("in 3 days", "2026-11-14 10:00"),
        ("in 3 days at 17:00", "2026-11-14 17:00"),
        ("in a week", "2026-11-18 10:00"),
        ("in 2 weeks", "2026-11-25 10:00"),
        ("in a month", "2026-12-11 10:00"),
        ("in a year", "2027-11-11 10:00"),
        ("at 5pm", "2026-11-11 17:00"),
        ("at 5 p.m.", "2026-11-11 17:00"),
        ("5.30pm", "2026-11-11 17:30"),
        ("at 17:30", "2026-11-11 17:30"),
        ("at 9:30 PM today", "2026-11-11 21:30"),
        ("at 11", "2026-11-11 11:00"),
        ("at 12", "2026-11-11 12:00"),
        ("at 18", "2026-11-11 18:00"),
        ("at 9am", "2026-11-12 09:00"),
        ("at 09:30", "2026-11-12 09:30"),
        ("at 00:15", "2026-11-12 00:15"),
        ("half past 10", "2026-11-11 10:30"),
        ("at quarter to five pm", "2026-11-11 16:45"),
        ("at 7 o'clock in the evening", "2026-11-11 19:00"),
        ("at 3 in the afternoon", "2026-11-11 15:00"),
        ("noon", "2026-11-11 12:00"),
        ("at midnight", "2026-11-12 00:00"),
        ("tonight", "2026-11-11 20:00"),
        ("tonight at 9", "2026-11-11 21:00"),
        ("this afternoon", "2026-11-11 15:00"),
        ("this evening at 6", "2026-11-11 18:00"),
        ("today at 4pm", "2026-11-11 16:00"),
        ("tomorrow", "2026-11-12 09:00"),
        ("tommorow at 9", "2026-11-12 09:00"),
        ("tomorrow morning at 9", "2026-11-12 09:00"),
        ("tomorrow morning", "2026-11-12 09:00"),
        ("tomorrow evening", "2026-11-12 19:00"),
        ("tomorrow at noon", "2026-11-12 12:00"),
        ("at 8 tomorrow", "2026-11-12 08:00"),
        ("5pm tomorrow", "2026-11-12 17:00"),
        ("tomorrow 9", "2026-11-12 09:00"),
        ("the day after tomorrow at 14:00", "2026-11-13 14:00"),
        ("friday", "2026-11-13 09:00"),
        ("on friday at 10", "2026-11-13 10:00"),
        ("this friday at 10", "2026-11-13 10:00"),
        ("friday afternoon at 3", "2026-11-13 15:00"),
        ("on sat at 10", "2026-11-14 10:00"),
        ("Sunday, 5 pm", "2026-11-15 17:00"),
        ("next monday", "2026-11-16 09:00"),
        ("next monday at 8:30", "2026-11-16 08:30"),
        ("2027-01-05 14:00", "2027-01-05 14:00"),
        ("2027-01-05T14:00", "2027-01-05 14:00"),
        ("on 2027-01-05", "2027-01-05 09:00"),
        ("5 january at 9", "2027-01-05 09:00"),
        ("on the 5th of january 2028 at 9", "2028-01-05 09:00"),
        ("January 5th, 2pm", "2027-01-05 14:00"),
        ("15 november at 9:00", "2026-11-15 09:00"),
        ("on the 15th", "2026-11-15 09:00"),
        ("on the 3rd at 8 pm", "2026-12-03 20:00"),
        ("on the 31st", "2026-12-31 09:00"),
        ("29 february", "2028-02-29 09:00"),
    ],
)
def test_plain_words_name_a_time(text, expected):
    assert at(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "call mum",
        "at 5",
        "at 9",
        "at 5:30",
        "tomorrow at 5",
        "next friday",
        "wednesday",
        "today",
        "today at 8am",
        "this morning",
        "2025-01-05 14:00",
        "31 november",
        "2027-02-29",
        "at 25:00",
        "at 13 pm",
        "at 0 am",
        "tomorrow morning at 5pm",
        "tomorrow at midnight",
        "in 0 minutes",
        "in 999999 years",
        "in a few minutes",
        "in half a month",
        "later",
        "next week",
        "on monday next week",
        "a week from tomorrow",
        "every day at 9",
        "on mondays",
        "by friday",
        "before 5pm",
        "between 5pm and 6pm",
        "05/01 at 9am",
        "on 5.1.2027",
        "yesterday",
        "2 days ago",
        "2027-01-05T14:00Z",
        "at 5pm EST",
        "tomorrow and friday",
        "tomorrow at 5pm or 6pm",
        "meet me at 5 Main Street",
    ],
)
def test_what_is_no_single_time_to_come_is_none(text):
    assert at(text) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("to call mum tomorrow at 9", "to call mum"),
        ("tomorrow at 9 to call mum", "to call mum"),
        ("to take the 5pm train tomorrow", "to take the 5pm train"),
        ("for friday: the report", ": the report"),
        ("to buy 5 apples, tonight", "to buy 5 apples"),
    ],
)
def test_what_is_left_is_what_it_is_about(text, rest):
    found = when(text, NOW, BERLIN)
    assert found
    assert found.rest == rest
    assert find(text[found.start : found.end])


@pytest.mark.parametrize(
    ("text", "expected"), [("at 17:30", "2026-11-12 17:30"), ("noon", "2026-11-12 12:00"), ("tonight", None), ("at 9", None)]
)
def test_what_is_past_today_is_tomorrow_unless_it_may_be_meant_otherwise(text, expected):
    assert at(text, NOW.replace(hour=22)) == expected


@pytest.mark.parametrize(("day", "expected"), [(9, "2026-11-16 09:00"), (14, "2026-11-16 09:00"), (15, None)])
def test_next_monday_is_never_tomorrow(day, expected):
    assert at("next monday", NOW.replace(day=day)) == expected


SPRING = datetime(2027, 3, 27, 10, tzinfo=BERLIN)
AUTUMN = datetime(2026, 10, 24, 10, tzinfo=BERLIN)
"""On the next day the clock goes from 2:00 to 3:00, or from 3:00 back to 2:00."""


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        (SPRING, "tomorrow at 9", "2027-03-28T09:00:00+02:00"),
        (SPRING, "in 24 hours", "2027-03-28T11:00:00+02:00"),
        (SPRING, "in 1 day", "2027-03-28T10:00:00+02:00"),
        (SPRING, "in a week", "2027-04-03T10:00:00+02:00"),
        (SPRING, "tomorrow at 02:30", None),
        (SPRING, "tomorrow at 3 am", "2027-03-28T03:00:00+02:00"),
        (SPRING.replace(hour=2, minute=30), "in 1 day", "2027-03-28T03:30:00+02:00"),
        (SPRING.replace(day=28, hour=1, minute=30), "in an hour", "2027-03-28T03:30:00+02:00"),
        (AUTUMN, "tomorrow at 9", "2026-10-25T09:00:00+01:00"),
        (AUTUMN, "in 24 hours", "2026-10-25T09:00:00+01:00"),
        (AUTUMN, "in 1 day", "2026-10-25T10:00:00+01:00"),
        (AUTUMN, "tomorrow at 02:30", None),
        (AUTUMN, "tomorrow at 01:59", "2026-10-25T01:59:00+02:00"),
        (AUTUMN.replace(hour=2, minute=30), "in 1 day", "2026-10-25T02:30:00+02:00"),
        (AUTUMN.replace(day=25, hour=2, minute=30), "in an hour", "2026-10-25T02:30:00+01:00"),
        (AUTUMN.replace(day=25, hour=2, minute=30, fold=1), "in 20 minutes", "2026-10-25T02:50:00+01:00"),
    ],
)
def test_a_change_of_the_clock_is_respected(now, text, expected):
    found = when(text, now, BERLIN)
    assert (found and found.at.isoformat()) == expected


def test_now_may_be_in_another_zone():
    found = when("tomorrow at 9", datetime(2026, 11, 11, 23, 30, tzinfo=UTC), BERLIN)
    assert found
    assert found.at.isoformat() == "2026-11-13T09:00:00+01:00"


@pytest.mark.parametrize(("text", "claim"), [("tomorrow at 9", True), ("on friday", True), ("call mum tomorrow", False), ("hello", False)])
def test_a_text_that_is_only_a_time_is_known(text, claim):
    assert is_moment(text) is claim


PIECES = (
    "in at on the next this every 5 17:30 99 0 20 pm am minutes hours days month tomorrow friday january 5th noon midnight and a half an"
    " 2027-02-30 of quarter to past morning tonight 29 february 999999 years from now"
)
_PIECES = st.sampled_from(PIECES.split())


@given(
    st.text() | st.lists(_PIECES, max_size=8).map(" ".join),
    st.integers(0, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
)
def test_any_text_gives_a_time_to_come_or_none(text, now):
    found = when(text, now, BERLIN)
    if found:
        assert found.at.astimezone(UTC) > now.astimezone(UTC)
        assert found.at.utcoffset() is not None
        assert 0 <= found.start < found.end <= len(text)
        assert found.at - now < timedelta(days=366 * 10_000)
