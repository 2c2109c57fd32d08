"""The way out of one channel: how many, how fast, whether at all."""

import asyncio

from daimon.abi.channel import Traits
from daimon.abi.tool import Rate
from daimon.gateway.bucket import Bucket
from daimon.gateway.line import LOCKED_S, MOST_WAITING, Line
from daimon.testing.clock import ManualClock
from daimon.testing.ids import SeededRandom


def made(clock: ManualClock, traits: Traits | None = None) -> Line:
    return Line(traits or Traits("harmless"), clock, SeededRandom())


async def _goes(line: Line, place: str, why: str = "") -> None:
    async with line.admitted(place):
        if why:
            line.went_wrong(place, why)
        else:
            line.went_well()


def test_a_bucket_gives_what_it_has_and_then_makes_wait() -> None:
    bucket = Bucket(Rate(3, 6.0), ManualClock())
    assert [bucket.take() for _ in range(5)] == [0, 0, 0, 2, 4]


async def test_a_bucket_fills_as_time_goes_by_and_no_further() -> None:
    clock = ManualClock()
    bucket = Bucket(Rate(3, 6.0), clock)
    for _ in range(3):
        bucket.take()
    assert not bucket.is_full
    await clock.advance(600)
    assert bucket.is_full
    assert [bucket.take() for _ in range(4)] == [0, 0, 0, 2]


async def test_one_place_that_fails_again_and_again_closes_nothing() -> None:
    line = made(ManualClock())
    for _ in range(20):
        await _goes(line, "nowhere", "unknown address")
    assert line.room() == MOST_WAITING


async def test_several_places_that_fail_in_a_row_close_the_line_until_one_has_tried_it() -> None:
    clock = ManualClock()
    line = made(clock)
    for n in range(4):
        await _goes(line, f"place-{n}", "no network")
    assert line.room() == 0
    await clock.advance(line.wait_s())
    assert line.room() == 1
    async with line.admitted("place-1"):
        assert line.room() == 0
        line.went_wrong("place-1", "no network")
    assert line.wait_s() > 45
    await clock.advance(line.wait_s())
    await _goes(line, "place-2")
    assert line.room() == MOST_WAITING


async def test_a_success_between_failures_keeps_the_line_open() -> None:
    line = made(ManualClock())
    for n in range(20):
        await _goes(line, f"place-{n}", "" if n % 3 == 2 else "no network")
    assert line.room() == MOST_WAITING


async def test_a_trial_that_was_called_off_leaves_room_for_another() -> None:
    clock = ManualClock()
    line = made(clock)
    for n in range(4):
        await _goes(line, f"place-{n}", "no network")
    await clock.advance(line.wait_s())
    async with line.admitted("place-1"):
        pass
    assert line.room() == 1


async def test_a_line_that_is_locked_opens_after_a_long_time_or_when_it_rises() -> None:
    clock = ManualClock()
    line = made(clock)
    line.lock()
    assert (line.room(), line.wait_s()) == (0, LOCKED_S)
    await clock.advance(LOCKED_S)
    assert line.room() == 1
    line.lock()
    line.rose()
    assert line.room() == MOST_WAITING


def test_while_the_listening_is_down_one_goes_at_a_time() -> None:
    line = made(ManualClock())
    line.fell()
    assert line.room() == 1
    line.waiting = 1
    assert line.room() == 0
    line.rose()
    assert line.room() == MOST_WAITING - 1


async def test_all_places_together_keep_to_the_rate_of_the_channel() -> None:
    clock = ManualClock()
    line = made(clock, Traits("harmless", at_once=10, rate=Rate(1, 1.0)))
    went: list[str] = []

    async def go(place: str) -> None:
        async with line.admitted(place):
            went.append(place)

    tasks = [asyncio.ensure_future(go(place)) for place in "abc"]
    for _ in range(10):
        await asyncio.sleep(0)
    assert went == ["a"]
    await clock.advance(1)
    await asyncio.sleep(0)
    assert went == ["a", "b"]
    await clock.advance(1)
    await asyncio.gather(*tasks)
    assert went == ["a", "b", "c"]
