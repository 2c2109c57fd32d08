"""A day in which nothing changes makes no model call; one change makes one."""

import asyncio
from pathlib import Path

from tests.heartbeat.still import automations, expected, idle_day, still

from daimon.abi.event import Heartbeat
from daimon.abi.ids import HOME_SPACE
from daimon.testing.clock import START, ManualClock


async def test_twenty_automations_make_no_model_call_on_a_day_without_a_change(tmp_path: Path) -> None:
    day = await idle_day(tmp_path)
    assert (day.model_calls, day.cost) == (0, 0)
    assert day.outcomes == {"ran": 0, "unchanged": day.ticks, "skipped": 0, "missed": 0, "failed": 0}
    assert day.ticks > 450


async def test_every_moment_of_every_schedule_is_on_record(tmp_path: Path) -> None:
    async with still(tmp_path) as world:
        await world.pass_hours(6)
        day = await world.day(0.0)
        made = automations(world.site, tmp_path, start := ManualClock(START.replace(hour=0)))
        assert day.ticks == expected(start, made, 6)


async def test_one_change_in_the_middle_is_handed_over_once_to_each_that_looks_there(tmp_path: Path) -> None:
    async with still(tmp_path) as world:
        await world.pass_hours(2)
        assert world.model.requests == []
        (tmp_path / "watched").write_text("another")
        await world.pass_hours(1)
        ran = [tick for tick in await world.rig.journal.ticks(HOME_SPACE, "", 10_000) if tick.outcome == "ran"]
        looking_there = [f"job-{n}" for n in range(20) if n % 3 == 2]
        assert ran
        assert {tick.automation for tick in ran} <= set(looking_there)
        assert len({tick.automation for tick in ran}) == len(ran)
        async with asyncio.timeout(60):
            for tick in ran:
                event = await world.rig.journal.event(tick.event)
                assert isinstance(event.body, Heartbeat)
                await world.rig.rested(event)
        assert len(world.model.requests) == len(ran)
