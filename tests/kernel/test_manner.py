"""Quiet hours, by the owner's wall clock."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from daimon.kernel.manner import Manner, Quiet, quiet_hours

VIENNA = ZoneInfo("Europe/Vienna")
NIGHT = Quiet(time(22), time(7))


def at(text: str, fold: int = 0) -> datetime:
    """A moment of Vienna's clocks."""
    return datetime.fromisoformat(text).replace(tzinfo=VIENNA, fold=fold).astimezone(UTC)


def until(quiet: Quiet, now: datetime) -> datetime | None:
    return Manner(VIENNA, quiet=quiet).silent_until(now)


@pytest.mark.parametrize(
    ("now", "over"),
    [
        ("2026-11-15T21:59:59", None),
        ("2026-11-15T22:00:00", "2026-11-16T07:00:00"),
        ("2026-11-15T23:59:59", "2026-11-16T07:00:00"),
        ("2026-11-16T00:00:00", "2026-11-16T07:00:00"),
        ("2026-11-16T06:59:59", "2026-11-16T07:00:00"),
        ("2026-11-16T07:00:00", None),
        ("2026-12-31T23:00:00", "2027-01-01T07:00:00"),
        ("2026-03-28T23:00:00", "2026-03-29T07:00:00"),  # the clocks go forward in this night
        ("2026-10-24T23:00:00", "2026-10-25T07:00:00"),  # and back in this one
    ],
)
def test_a_night_ends_in_the_morning(now: str, over: str | None) -> None:
    assert until(NIGHT, at(now)) == (None if over is None else at(over))


def test_a_night_in_which_the_clocks_change_is_shorter_or_longer() -> None:
    lengths = [until(NIGHT, at(f"{day}T22:00:00")) for day in ("2026-03-28", "2026-10-24", "2026-11-15")]
    begins = [at(f"{day}T22:00:00") for day in ("2026-03-28", "2026-10-24", "2026-11-15")]
    assert [end - begin for end, begin in zip(lengths, begins, strict=True) if end] == [timedelta(hours=h) for h in (8, 10, 9)]


def test_hours_within_a_day_do_not_reach_over_midnight() -> None:
    nap = Quiet(time(13), time(14, 30))
    assert until(nap, at("2026-11-15T13:30:00")) == at("2026-11-15T14:30:00")
    assert until(nap, at("2026-11-15T12:59:59")) is None
    assert until(nap, at("2026-11-15T23:00:00")) is None


def test_an_end_that_is_left_out_is_where_the_clocks_jump() -> None:
    assert until(Quiet(time(22), time(2, 30)), at("2026-03-29T01:50:00")) == at("2026-03-29T03:00:00")


def test_an_end_that_comes_twice_ends_both_times() -> None:
    quiet = Quiet(time(22), time(2, 30))
    assert until(quiet, at("2026-10-25T02:10:00", fold=0)) == at("2026-10-25T02:30:00", fold=0)
    assert until(quiet, at("2026-10-25T02:10:00", fold=1)) == at("2026-10-25T02:30:00", fold=1)


@pytest.mark.parametrize(("text", "hours"), [("", None), ("22:00-07:00", NIGHT), (" 9:05 – 10:00 ", Quiet(time(9, 5), time(10)))])
def test_hours_are_read(text: str, hours: Quiet | None) -> None:
    assert quiet_hours(text) == hours


@pytest.mark.parametrize(
    "text", ["22-7", "22:00", "22:00-24:00", "25:00-07:00", "22:60-07:00", "07:00-07:00", "always", "22:00-07:00-08:00"]
)
def test_what_is_no_hours_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"no hours such as 22:00-07:00|begins and ends at the same time"):
        quiet_hours(text)


def test_without_quiet_hours_nobody_waits() -> None:
    assert Manner().silent_until(at("2026-11-16T03:00:00")) is None
