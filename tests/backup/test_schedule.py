"""A running gateway makes backups by itself: when one is due and something happened, and it says when it cannot."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import uvloop
from tests.backup.furnished import furnish
from tests.journal.world import event, opened

from daimon import config
from daimon.abi.errors import NoSpace
from daimon.backup import making, shelf
from daimon.backup.inventory import Scope
from daimon.backup.plan import Plan, plan_of
from daimon.backup.schedule import FIRST_S, LOOK_S, Schedule, child_of, is_due
from daimon.machine.home import Home
from daimon.testing.clock import ManualClock

DEADLINE_S = 120
DAY_S = 86_400.0


def planned(home: Home, **settings: object) -> Plan:
    return plan_of(config.Settings.model_validate({"backup": settings}), home)


def made_now(home: Home, plan: Plan, clock: ManualClock) -> None:
    plan.to.mkdir(exist_ok=True)
    making.make(home, plan.to / shelf.name_for(clock.now(), plan.tag), clock, Scope(workspaces=False))


async def test_one_is_due_when_a_day_went_by_and_something_happened(tmp_path: Path) -> None:
    home, clock = (await furnish(tmp_path / "home")).home, ManualClock()
    plan = planned(home)
    assert is_due(home, plan, clock), "there is none yet"
    made_now(home, plan, clock)
    clock.jump(DAY_S / 2)
    async with opened(home.journal) as journal:
        await journal.accept(event("new"))
    assert not is_due(home, plan, clock), "it is too early"
    clock.jump(DAY_S / 2)
    assert is_due(home, plan, clock)


async def test_an_idle_week_makes_none(tmp_path: Path) -> None:
    home, clock = (await furnish(tmp_path / "home")).home, ManualClock()
    plan = planned(home)
    made_now(home, plan, clock)
    clock.jump(7 * DAY_S)
    assert not is_due(home, plan, clock)
    home.config.write_text("# the owner changed something\n")
    assert is_due(home, plan, clock)


async def test_one_from_the_future_holds_up_nothing(tmp_path: Path) -> None:
    home, clock = (await furnish(tmp_path / "home")).home, ManualClock()
    plan = planned(home)
    clock.jump(365 * DAY_S)
    made_now(home, plan, clock)
    clock.jump(-365 * DAY_S)
    assert is_due(home, plan, clock)


async def test_it_can_be_switched_off(tmp_path: Path) -> None:
    home, clock = (await furnish(tmp_path / "home")).home, ManualClock()
    assert not is_due(home, planned(home, every="off"), clock)
    async with asyncio.timeout(DEADLINE_S):
        await Schedule(home, planned(home, every="off"), clock, no_one).tend()


async def no_one() -> None:
    raise AssertionError("nobody asked for one")


async def test_a_gateway_that_lives_for_a_moment_makes_none(tmp_path: Path) -> None:
    home, clock = (await furnish(tmp_path / "home")).home, ManualClock()
    tending = asyncio.create_task(Schedule(home, planned(home), clock, no_one).tend())
    await clock.advance(FIRST_S - 1)
    tending.cancel()
    await asyncio.wait({tending})
    assert tending.cancelled()


async def until(is_true: Callable[[], bool]) -> None:
    while not is_true():  # noqa: ASYNC110 - it is done by a thread, and nobody tells
        await asyncio.sleep(0)


async def test_a_failure_is_said_and_tried_again(tmp_path: Path) -> None:
    home, clock = (await furnish(tmp_path / "home")).home, ManualClock()
    tried: asyncio.Queue[int] = asyncio.Queue()
    calls = 0

    async def make() -> None:
        nonlocal calls
        calls += 1
        await tried.put(calls)
        if calls == 1:
            raise NoSpace("the disk is full")

    schedule = Schedule(home, planned(home), clock, make)
    tending = asyncio.create_task(schedule.tend())
    async with asyncio.timeout(DEADLINE_S):
        await asyncio.sleep(0)
        await clock.advance(FIRST_S)
        assert await tried.get() == 1
        await until(lambda: bool(schedule.warnings))
        assert schedule.warnings == ("no backup could be made: the disk is full",)
        while tried.empty():
            await asyncio.sleep(0)
            await clock.advance(LOOK_S)
        await until(lambda: not schedule.warnings)
    tending.cancel()
    await asyncio.wait({tending})


def test_settings_are_read_as_they_are_meant(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert planned(home).to == tmp_path / "backups"
    assert planned(home).every_s == DAY_S
    assert planned(home, every="12h").every_s == timedelta(hours=12).total_seconds()
    assert planned(home, every="2w", to="/disk/b").to == Path("/disk/b")


def test_the_process_that_makes_it_starts_on_the_event_loop_of_the_gateway(tmp_path: Path) -> None:
    home = asyncio.run(furnish(tmp_path / "home")).home
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(child_of(home.path)(), DEADLINE_S))
    assert shelf.listed(planned(home).to, planned(home).tag)


async def test_whatever_is_wrong_with_backups_the_gateway_is_told_and_goes_on(tmp_path: Path) -> None:
    home, clock = (await furnish(tmp_path / "home")).home, ManualClock()

    async def broken() -> None:
        raise TypeError("not a dict")

    schedule = Schedule(home, planned(home), clock, broken)
    tending = asyncio.ensure_future(schedule.tend())
    async with asyncio.timeout(DEADLINE_S):
        await asyncio.sleep(0)
        await clock.advance(FIRST_S)
        await until(lambda: bool(schedule.warnings))
    assert "not a dict" in schedule.warnings[0]
    assert not tending.done()
    tending.cancel()
