"""Rules are followed as others follow them, and take no longer than the span has days."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.calendars.rig import BERLIN

from daimon.calendars.recurrence import rule_of, starts

FIRST = datetime(2024, 1, 31, 9, 30, tzinfo=UTC)
UNTIL = datetime(2034, 1, 1, tzinfo=UTC)
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def ours(text: str, first: datetime = FIRST, since: datetime | None = None) -> list[datetime]:
    return [each for each in starts(rule_of(text), first, since or first, UNTIL, UTC) if isinstance(each, datetime)]


def theirs(text: str, first: datetime, many: int) -> list[datetime]:
    """The first ones by the library that most others use, which comes with icalendar. It is asked for no more than there are."""
    from dateutil.rrule import rrulestr

    found: Any = rrulestr(text, dtstart=first)
    return list(islice(found, many))


def numbers(low: int, high: int) -> st.SearchStrategy[str]:
    return st.lists(st.integers(low, high).filter(bool), min_size=1, max_size=3, unique=True).map(lambda many: ",".join(map(str, many)))


@st.composite
def rules(draw: st.DrawFn) -> str:
    freq = draw(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]))
    parts = {"FREQ": freq, "INTERVAL": str(draw(st.integers(1, 4)))}
    optional: dict[str, st.SearchStrategy[str]] = {"BYMONTH": numbers(1, 12), "BYHOUR": st.sampled_from(["8", "8,20"])}
    if freq != "WEEKLY":
        optional["BYMONTHDAY"] = numbers(-28, 28)
    if freq == "YEARLY":
        optional["BYYEARDAY"] = numbers(-365, 365)
    places = draw(st.sampled_from([("",), ("1", "2", "-1")])) if freq in ("MONTHLY", "YEARLY") else ("",)  # the others do not know both
    weekday = st.tuples(st.sampled_from(places), st.sampled_from(DAYS)).map("".join)
    optional["BYDAY"] = st.lists(weekday, min_size=1, max_size=3, unique=True).map(",".join)
    optional["WKST"] = st.sampled_from(DAYS)
    for name in draw(st.sets(st.sampled_from(sorted(optional)), max_size=3)):
        parts[name] = draw(optional[name])
    if "BYDAY" in parts and freq in ("MONTHLY", "YEARLY") and draw(st.booleans()):
        parts["BYSETPOS"] = draw(st.sampled_from(["1", "-1", "2"]))
    if draw(st.booleans()):
        parts["COUNT"] = str(draw(st.integers(1, 20)))
    return ";".join(f"{name}={value}" for name, value in parts.items())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rules(), st.integers(0, 800))
@example("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", 0)
@example("FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", 0)
@example("FREQ=MONTHLY", 0)
@example("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", 0)
@example("FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,MO", 4)
@example("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", 0)
@example("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", 0)
def test_a_rule_means_what_it_means_to_others(text: str, later: int) -> None:
    first = FIRST + timedelta(days=later)
    expected = ours(text, first)
    assert theirs(text, first, len(expected)) == expected
    late = datetime(2030, 6, 1, tzinfo=UTC)
    assert [each for each in ours(text, first, late) if each >= late] == [each for each in expected if each >= late]


def test_until_is_a_time_of_the_world_or_a_whole_day_of_the_event() -> None:
    first = datetime(2026, 3, 28, 9, tzinfo=BERLIN)
    world = list(starts(rule_of("FREQ=DAILY;UNTIL=20260329T070000Z"), first, first, UNTIL, BERLIN))
    assert [each.isoformat() for each in world] == ["2026-03-28T09:00:00+01:00", "2026-03-29T09:00:00+02:00"]
    days = list(starts(rule_of("FREQ=DAILY;UNTIL=20260330"), date(2026, 3, 28), UNTIL - timedelta(days=9_000), UNTIL, BERLIN))
    assert days == [date(2026, 3, 28), date(2026, 3, 29), date(2026, 3, 30)]


@pytest.mark.parametrize("text", ["FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=5", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=300"])
def test_a_rule_that_nothing_fits_ends_with_the_span(text: str) -> None:
    assert not ours(text, datetime(1950, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;INTERVAL=-1", "FREQ=DAILY;COUNT=0", "FREQ=DAILY;BYEASTER=1", "", ";;;", "x",
        "FREQ=YEARLY;BYHOUR=1,2,3,4,5;BYMINUTE=1,2", "FREQ=DAILY;BYDAY=XX", "FREQ=DAILY;COUNT=99999999999", "FREQ=WEEKLY;BYDAY=1MO",
        "FREQ=DAILY;UNTIL=soon", "FREQ=DAILY;COUNT=1,2", "FREQ=MONTHLY;BYMONTHDAY=0",
    ],
)  # fmt: skip
def test_a_rule_that_never_ends_or_says_nothing_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        rule_of(rule)
