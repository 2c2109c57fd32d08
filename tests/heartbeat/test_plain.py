"""Schedules in plain words: understood, said again in words that mean the same, refused with a better way to say it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.abi.automation import Automation, Cron, Days, Every, Once, When
from daimon.abi.errors import BadInput
from daimon.heartbeat.due import next_due, preview, put_off, require_valid, zone_of
from daimon.heartbeat.plain import EXAMPLES, understood
from daimon.heartbeat.spoken import said, said_of

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)  # a Monday, 10:00 in Berlin
ZONE = "Europe/Berlin"


def once(text: str) -> Once:
    return Once(datetime.fromisoformat(text).replace(tzinfo=zone_of(ZONE)).astimezone(UTC))


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("every weekday at 8", Cron("0 8 * * 1-5")),
        ("every 3 hours", Every(10_800, NOW)),
        ("Every 15 minutes.", Every(900, NOW)),
        ("hourly", Every(3_600, NOW)),
        ("daily at 7:30 pm", Cron("30 19 * * *")),
        ("at 8 every weekday", Cron("0 8 * * 1-5")),
        ("every day at 8 and 20", Cron("0 8,20 * * *")),
        ("every monday and thursday at 18:00", Cron("0 18 * * 1,4")),
        ("Mondays, Thursdays at 6 p.m.", Cron("0 18 * * 1,4")),
        ("on the 1st of each month at 9", Cron("0 9 1 * *")),
        ("on the 1st and 15th of each month at 9", Cron("0 9 1,15 * *")),
        ("last friday of the month", Cron("0 9 * * 5L")),
        ("second tuesday of each month at noon", Cron("0 12 * * 2#2")),
        ("last day of the month at 23:59", Cron("59 23 L * *")),
        ("every year on 24 december at 18:00", Cron("0 18 24 12 *")),
        ("every 30 minutes from 9 to 17 on weekdays", Cron("*/30 9-16 * * 1-5")),
        ("every hour between 9:00 and 17:00", Cron("0 9-17 * * *")),
        ("tomorrow at 9", once("2026-11-17T09:00")),
        ("at 9", once("2026-11-17T09:00")),
        ("today at 18:00", once("2026-11-16T18:00")),
        ("friday at 9", once("2026-11-20T09:00")),
        ("in 2 hours", Once(NOW + timedelta(hours=2))),
        ("in 2 days at 9", once("2026-11-18T09:00")),
        ("2026-12-24 18:00", once("2026-12-24T18:00")),
        ("2026-12-24T18:00", once("2026-12-24T18:00")),
        ("24 december at 6 pm", once("2026-12-24T18:00")),
        ("1 march at 9", once("2027-03-01T09:00")),
        ("every other day at 6", Days(2, "2026-11-17", "06:00")),
        ("every 2 weeks on monday at 9", Days(14, "2026-11-23", "09:00")),
        ("jeden Werktag um 8 Uhr", Cron("0 8 * * 1-5")),
        ("alle 3 Stunden", Every(10_800, NOW)),
        ("jeden zweiten Tag um 6", Days(2, "2026-11-17", "06:00")),
        ("morgen um 9 Uhr", once("2026-11-17T09:00")),
        ("0 8 * * 1-5", Cron("0 8 * * 1-5")),
        ("@daily", Cron("0 0 * * *")),
    ],
)
def test_plain_words_are_understood(text: str, when: When) -> None:
    assert understood(text, NOW, ZONE) == when


@pytest.mark.parametrize("text", [*EXAMPLES, "every weekend at 10", "every day at 8 and 20", "third monday of the month", "every 5 days"])
def test_what_is_said_of_a_schedule_means_the_same(text: str) -> None:
    when = understood(text, NOW, ZONE)
    assert understood(said(when, zone_of(ZONE)), NOW, ZONE) == when


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("every wekday at 8", "Understood was the time 8:00, but not 'every wekday'. Try 'every weekday at 8'"),
        ("every blue moon", "Try 'every"),
        ("at 25:00", "hours go from 0 to 23. Try '23:00'"),
        ("daily at 13 pm", "Try '1 pm'"),
        ("2027-02-30 09:00", "there is no 30 February 2027: it has 28 days. Try '2027-02-28'"),
        ("0 0 31 2 *", "there is no 31 February"),
        ("2020-01-01 10:00", "is over (it is 2026-11-16 10:00)"),
        ("every 3 hours at 8", "an interval has no time of day"),
        ("every day at 8:00 and 9:30", "make an automation for each"),
        ("every 0 minutes", "between a minute and"),
        ("on the 32nd of each month", "no month has a day 32"),
        ("", "a schedule is missing"),
        ("x" * 500, "too long"),
    ],
)
def test_what_is_not_understood_is_refused_with_what_would_be(text: str, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        understood(text, NOW, ZONE)
    assert told in str(refused.value)


WORDS = st.sampled_from(("every", "at", "on", "the", "1st", "8", "31", "in", "of", "last", "friday", "month", "*", "*/5", "and", "25:61"))


@given(st.text(max_size=60) | st.lists(WORDS).map(" ".join))
def test_no_words_make_it_fail_otherwise(text: str) -> None:
    try:
        when = understood(text, NOW, ZONE)
    except BadInput:
        return
    automation = Automation(id="x", when=when, task="", timezone=ZONE)
    require_valid(automation)
    assert said_of(automation)
    assert all(due > NOW for due in preview(automation, NOW, 3))


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(BadInput, match="no time zone 'Mars/Olympus'"):
        understood("daily at 8", NOW, "Mars/Olympus")


def test_a_preview_shows_the_next_times_on_the_clock_of_its_zone() -> None:
    automation = Automation(id="x", when=Cron("30 2 * * *"), task="", timezone=ZONE)
    found = preview(automation, datetime(2027, 3, 27, tzinfo=UTC), 3)
    assert [f"{at:%d %H:%M %Z}" for at in found] == ["27 02:30 CET", "28 03:00 CEST", "29 02:30 CEST"]


def test_every_other_day_keeps_its_time_over_the_change_of_the_clock_and_an_interval_does_not() -> None:
    days = Automation(id="x", when=Days(2, "2027-03-26", "06:00"), task="", timezone=ZONE)
    assert [f"{at:%d %H:%M}" for at in preview(days, datetime(2027, 3, 26, tzinfo=UTC), 3)] == ["26 06:00", "28 06:00", "30 06:00"]
    every = Automation(id="x", when=Every(86_400, datetime(2027, 3, 27, 5, tzinfo=UTC)), task="", timezone=ZONE)
    assert [f"{at:%d %H:%M}" for at in preview(every, datetime(2027, 3, 27, tzinfo=UTC), 2)] == ["27 06:00", "28 07:00"]


def test_what_comes_once_does_not_come_again() -> None:
    automation = Automation(id="x", when=Once(NOW), task="", timezone=ZONE)
    assert next_due(automation, NOW - timedelta(seconds=1)) == NOW
    assert next_due(automation, NOW) is None


def test_jitter_is_the_same_for_the_same_tick_and_another_for_another() -> None:
    automation = Automation(id="x", when=Cron("0 8 * * *"), task="", timezone=ZONE, jitter_s=600)
    put = {put_off(automation, NOW + timedelta(days=n)) - timedelta(days=n) for n in range(20)}
    assert put_off(automation, NOW) == put_off(automation, NOW)
    assert len(put) == 20
    assert all(NOW <= at < NOW + timedelta(seconds=600) for at in put)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("30 february at 9", "Try '2027-02-28'"),
        ("* * * *", "five fields (minute, hour, day of month, month, day of week). Try '* * * * *'"),
        ("every weekday at 8 in Berlin", "Try 'every weekday at 8' with --timezone Europe/Berlin"),
        ("daily at 8 Europe/Berlin", "Try 'daily at 8' with --timezone Europe/Berlin"),
        ("daily at 8 in New York", "Try 'daily at 8' with --timezone America/New_York"),
        ("every day in berlin", "Try 'every day' with --timezone Europe/Berlin"),
        ("every 10 seconds", "a minute is the least"),
        ("every year on 31 february", "there is no 31 February in any year. Try 'every year on 28 february'"),
        ("on the 32nd of each month", "no month has a day 32"),
    ],
)
def test_what_newcomers_say_is_refused_with_what_they_meant(text: str, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        understood(text, NOW, ZONE)
    assert told in str(refused.value)
    assert "cron line '" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("every morning", Cron("0 8 * * *")),
        ("every evening", Cron("0 18 * * *")),
        ("every weekday morning", Cron("0 8 * * 1-5")),
        ("every morning at 7:30", Cron("30 7 * * *")),
        ("friday evening", once("2026-11-20T18:00")),
        ("tomorrow morning", once("2026-11-17T08:00")),
        ("29 february 2028 at 9", once("2028-02-29T09:00")),
    ],
)
def test_parts_of_a_day_have_their_hours(text: str, when: When) -> None:
    assert understood(text, NOW, ZONE) == when
