from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from daimon.abi.errors import BadInput
from daimon.cli import moments

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-14", "2026-11-13T23:00:00+00:00"),
        ("2026-11-14T09:30", "2026-11-14T08:30:00+00:00"),
        ("2026-11-14 09:30", "2026-11-14T08:30:00+00:00"),
        ("2026-11-14T09:30Z", "2026-11-14T09:30:00+00:00"),
        ("2026-11-14T09:30+05:00", "2026-11-14T04:30:00+00:00"),
        ("today", "2026-11-14T23:00:00+00:00"),
        ("yesterday", "2026-11-13T23:00:00+00:00"),
        ("2h", "2026-11-15T10:30:00+00:00"),
        ("1w", "2026-11-08T12:30:00+00:00"),
    ],
)
def test_a_time_without_a_zone_is_in_the_owners(text: str, expected: str) -> None:
    assert moments.read(text, "--at", NOW, BERLIN).astimezone(UTC).isoformat() == expected


def test_a_day_as_an_end_counts_whole() -> None:
    assert moments.read("today", "--until", NOW, BERLIN, is_end=True).astimezone(UTC).isoformat() == "2026-11-15T22:59:59.999999+00:00"
    assert moments.read("2026-11-15", "--until", NOW, UTC, is_end=True) > NOW  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "tuesday", "2026-13-01", "0d", "0001-01-01T00:00+14:00"])
def test_what_is_no_time_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(BadInput, match=r"--at .* is no time; write it as 2026-11-15"):
        moments.read(text, "--at", NOW, BERLIN)
