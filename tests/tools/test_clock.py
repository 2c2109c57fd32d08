import pytest

from daimon.abi.errors import Misconfigured, ToolFailed
from daimon.abi.label import Author
from daimon.abi.tool import Call, Result
from daimon.tools.clock import clock_tools

(now,) = clock_tools("Europe/Berlin")


async def test_the_time_is_told_in_the_owners_zone(call: Call) -> None:
    assert await now.run({}, call) == Result({"now": "2026-03-13T18:30:00+01:00", "zone": "Europe/Berlin", "weekday": "Friday"})


async def test_the_time_is_told_in_another_zone(call: Call) -> None:
    assert await now.run({"zone": "Asia/Tokyo"}, call) == Result(
        {"now": "2026-03-14T02:30:00+09:00", "zone": "Asia/Tokyo", "weekday": "Saturday"}
    )


@pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", "../../etc/passwd", "/etc/passwd", "", "a\0b", "Europe/Berlin/"])
async def test_what_is_no_zone_is_told_to_the_model(call: Call, zone: str) -> None:
    with pytest.raises(ToolFailed, match="is not a time zone; expected an IANA name") as failed:
        await now.run({"zone": zone}, call)
    assert failed.value.reason == "unknown_zone"


def test_an_owners_zone_that_does_not_exist_is_told_to_the_operator() -> None:
    with pytest.raises(Misconfigured, match="the owner's time zone 'Berlin' is not known"):
        clock_tools("Berlin")


def test_the_time_is_a_services_word() -> None:
    assert now.manifest.result.author is Author.SERVICE
