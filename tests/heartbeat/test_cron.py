"""Cron lines: what is understood, what is refused with a better one, and the rule of the two day fields."""

from datetime import UTC, date, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from daimon.abi.errors import BadInput
from daimon.heartbeat.cron import parse
from daimon.heartbeat.moments import next_after

BERLIN = ZoneInfo("Europe/Berlin")


def dates(line: str, start: date, n: int) -> list[str]:
    return [str(day) for day in islice(parse(line).dates(start), n)]


@pytest.mark.parametrize(
    ("line", "minutes", "hours"),
    [
        ("*/15 8-18/5 * * *", (0, 15, 30, 45), (8, 13, 18)),
        ("0,30 7 * * *", (0, 30), (7,)),
        ("5/20 23 * * ?", (5, 25, 45), (23,)),
        ("@daily", (0,), (0,)),
    ],
)
def test_ranges_steps_and_lists_are_understood(line: str, minutes: tuple[int, ...], hours: tuple[int, ...]) -> None:
    found = parse(line)
    assert (found.minutes, found.hours) == (minutes, hours)


def test_names_of_days_and_months_are_understood() -> None:
    found = parse("0 0 * jan,Dec Mon-fri")
    assert (found.months, found.weekdays) == ({1, 12}, {1, 2, 3, 4, 5})
    assert parse("0 0 * * fri-sun").weekdays == {5, 6, 0}
    assert parse("0 0 * * 7").weekdays == parse("0 0 * * 0").weekdays == {0}


def test_one_of_the_two_day_fields_is_enough_where_both_are_given() -> None:
    assert dates("0 0 13 * 5", date(2026, 11, 1), 4) == ["2026-11-06", "2026-11-13", "2026-11-20", "2026-11-27"]
    assert dates("0 0 13 * *", date(2026, 11, 1), 2) == ["2026-11-13", "2026-12-13"]
    assert dates("0 0 * * 5", date(2026, 11, 1), 2) == ["2026-11-06", "2026-11-13"]


def test_the_last_day_and_the_nth_weekday_of_a_month() -> None:
    assert dates("0 0 L * *", date(2027, 1, 1), 3) == ["2027-01-31", "2027-02-28", "2027-03-31"]
    assert dates("0 0 * * friL", date(2026, 11, 1), 2) == ["2026-11-27", "2026-12-25"]
    assert dates("0 0 * * 2#2", date(2026, 11, 1), 2) == ["2026-11-10", "2026-12-08"]


def test_a_leap_day_comes_every_four_years_and_after_eight_round_2100() -> None:
    assert dates("0 0 29 2 *", date(2026, 1, 1), 2) == ["2028-02-29", "2032-02-29"]
    assert dates("0 0 29 2 *", date(2097, 1, 1), 1) == ["2104-02-29"]


@pytest.mark.parametrize(
    ("line", "what", "instead"),
    [
        ("0 0 31 2 *", "there is no 31 February", "0 0 28 2 *"),
        ("0 0 31 4,6 *", "there is no 31 April or June", "0 0 30 4,6 *"),
        ("61 0 * * *", "61 is no minute (0 to 59)", "59 0 * * *"),
        ("0 24 * * *", "24 is no hour (0 to 23)", "0 23 * * *"),
        ("0 0 0 * *", "0 is no day of month (1 to 31)", "0 0 1 * *"),
        ("0 0 * 13 *", "13 is no month (1 to 12)", "0 0 * 12 *"),
        ("0 0 * * 8", "8 is no day of week (0 to 7)", "0 0 * * 7"),
        ("0 0 * foo *", "'foo' is no month", "0 0 * * *"),
        ("0 22-2 * * *", "ends before it begins", "0 22-23,0-2 * * *"),
        ("*/0 * * * *", "a step of 0", "0 * * * *"),
        ("*/60 * * * *", "a step of 60", "0 * * * *"),
        ("8-18/0 * * * *", "a step of 0", "8-18 * * * *"),
        ("x 8 * * *", "'x' is no minute", "0 8 * * *"),
        ("0 8 15w * *", "'15w' is nothing that a day of month can be", "0 8 15 * *"),
        ("0 8 * * fri#6", "'fri#6' is nothing that a day of week can be", "0 8 * * fri"),
        ("0 8 * * wen", "'wen' is no day of week; names are sun, mon", "0 8 * * wed"),
        ("@reboot", "there are @hourly, @daily", "@daily"),
        ("@mothly", "there are @hourly, @daily", "@monthly"),
        ("0 0 12 * * *", "six fields", "0 12 * * *"),
        ("0 8", "has 2 fields", "0 8 * * *"),
    ],
)
def test_what_can_never_be_is_refused_with_a_line_that_works(line: str, what: str, instead: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(line)
    assert what in str(refused.value)
    assert f"Try {instead!r}" in str(refused.value)
    assert parse(instead).minutes


@pytest.mark.parametrize(
    "line", ["", "hello", "1-2-3 * * * *", "* * * * *#", "* * L-3 * *", "-1 * * * *", "0 0 ٣ * *", "9" * 300 + " * * * *"]
)
def test_no_text_makes_it_fail_otherwise(line: str) -> None:
    with pytest.raises(BadInput):
        parse(line)


def test_what_is_sparse_is_found_and_what_never_comes_ends() -> None:
    assert next_after(parse("0 0 */31 2 mon"), datetime(2026, 11, 16, tzinfo=UTC), BERLIN) == datetime(2027, 1, 31, 23, tzinfo=UTC)
    assert next_after(parse("0 0 * 2 fri#5"), datetime(2026, 11, 16, tzinfo=UTC), BERLIN) == datetime(2036, 2, 28, 23, tzinfo=UTC)
