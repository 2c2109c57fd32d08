"""The heart: each tick leaves one record, whatever happens to the process, the clock or a watcher."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from tests.heartbeat.world import HOUR, LABEL, SITE, heart, hourly, watching

from daimon.abi.automation import Once
from daimon.abi.errors import WatchFailed
from daimon.abi.event import Address, Heartbeat
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.money import Limit
from daimon.abi.plan import Plan, Planned
from daimon.abi.ports import Claim, Ended
from daimon.abi.step import Continue, Decided, Step
from daimon.abi.turn import Ending, Pins
from daimon.kernel.asking import OWNERS_DESK
from daimon.testing.clock import START

PINS = Pins("c", "p", "s", "t", "m")


async def test_a_tick_that_is_due_becomes_one_event_with_all_that_its_turn_needs(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        plan = Plan((Planned("send"),))
        await world.set(hourly(licence=plan, model="small", to=Address("telegram", "42")))
        ticking = world.ticking()
        await ticking.settle()
        assert world.woken == []
        await world.clock.advance(HOUR)
        await ticking.settle()
        await ticking.settle()
        (event,) = world.woken
        assert event.body == Heartbeat("brief", None, "Brief me.", LABEL, plan, "small")
        assert (event.source, event.key) == ("heartbeat", f"brief@{(START + timedelta(hours=1)).isoformat()}")
        assert (event.conversation, event.principal, event.label, event.reply_to) == (
            "automations/brief", OWNER, LABEL, Address("telegram", "42"),
        )  # fmt: skip
        assert await world.outcomes() == ["ran"]
        assert (await world.last()).event == event.id


async def test_what_was_found_is_handed_over_with_its_label_and_only_if_it_changed(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(watching())
        ticking = world.ticking()
        for text in ("one", "one", "two hunter2"):
            world.page.text = text
            await world.clock.advance(HOUR)
            await ticking.settle()
        (event,) = world.woken
        assert await world.outcomes() == ["unchanged", "unchanged", "ran"]
        assert isinstance(event.body, Heartbeat)
        assert event.body.data == {"now": "two [secret]"}
        assert event.label == LABEL.joined(SITE)
        assert event.body.by == LABEL
        assert event.reply_to == OWNERS_DESK


async def test_a_change_without_a_label_counts_as_a_strangers(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(watching())
        ticking = world.ticking()
        for text in ("one", "two"):
            world.page.text = text
            await world.clock.advance(HOUR)
            await ticking.settle()
        assert not world.woken[0].label.is_trusted


async def test_nothing_runs_twice_across_a_restart_or_a_clock_that_is_set_back(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly())
        await world.clock.advance(HOUR)
        await world.ticking().settle()
        world.clock.jump(-HOUR / 2)
        ticking = world.ticking()
        await ticking.settle()
        await world.clock.advance(HOUR / 2 + 60)
        await ticking.settle()
        assert len(world.woken) == 1
        await world.clock.advance(HOUR)
        await ticking.settle()
        assert await world.outcomes() == ["ran", "skipped"]  # the next one, which the turn of the first holds up


async def test_a_clock_that_is_set_forward_is_like_downtime(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly())
        ticking = world.ticking()
        world.clock.jump(5 * HOUR + 600)
        await ticking.settle()
        assert await world.outcomes() == ["missed"] * 4 + ["ran"]
        assert "caught up 600 s late" in (await world.last()).why


async def test_skip_records_what_was_missed_and_runs_nothing(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(catch_up="skip"))
        await world.clock.advance(3 * HOUR + 600)
        await world.ticking().settle()
        assert await world.outcomes() == ["missed"] * 3
        assert world.woken == []


async def test_once_runs_the_latest_only(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(catch_up="once"))
        await world.clock.advance(3 * HOUR + 600)
        await world.ticking().settle()
        assert await world.outcomes() == ["missed", "missed", "ran"]
        assert len(world.woken) == 1


async def test_all_runs_each_in_order_up_to_a_hundred_and_says_what_it_left_out(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(catch_up="all"))
        await world.clock.advance(3 * HOUR + 600)
        ticking = world.ticking()
        await ticking.settle()
        assert await world.outcomes() == ["ran"] * 3
        assert [event.occurred_at.hour for event in world.woken] == [10, 11, 12]
        await world.clock.advance(1_000 * HOUR)
        await ticking.settle()
        ticks = await world.journal.ticks(HOME_SPACE, "brief", 1_000)
        assert len(ticks) == 3 + 1 + 100
        assert len(world.woken) == 3 + 100
        assert "and 899 before it since" in ticks[100].why


async def test_years_without_anybody_end_in_a_bounded_number_of_records(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(catch_up="skip"))
        await world.clock.advance(20 * 365 * 24 * HOUR + 600)
        await world.ticking().settle()
        ticks = await world.journal.ticks(HOME_SPACE, "brief", 1_000)
        assert len(ticks) <= 101
        assert "20000+ before it" in ticks[-1].why


async def test_a_paused_one_records_what_it_skipped(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(is_paused=True))
        await world.clock.advance(2 * HOUR)
        await world.ticking().settle()
        assert await world.outcomes() == ["skipped", "skipped"]
        assert (await world.last()).why == "paused"


async def test_what_comes_once_runs_once_even_if_it_was_missed(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(replace(hourly(), when=Once(START + timedelta(hours=1))))
        await world.clock.advance(10 * HOUR)
        ticking = world.ticking()
        await ticking.settle()
        await world.clock.advance(10 * HOUR)
        await ticking.settle()
        assert await world.outcomes() == ["ran"]


async def test_while_the_last_turn_goes_on_the_next_tick_is_skipped_with_the_reason(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly())
        ticking = world.ticking()
        await world.clock.advance(HOUR)
        await ticking.settle()
        await world.clock.advance(HOUR)
        await ticking.settle()
        assert (await world.last()).why == "the last one has not begun yet"
        claim = await world.journal.claim(world.woken[0].where, "w", 1e6, PINS)
        assert isinstance(claim, Claim)
        await world.clock.advance(HOUR)
        await ticking.settle()
        assert "is still running" in (await world.last()).why
        await _end(world.journal, claim)
        await world.clock.advance(HOUR)
        await ticking.settle()
        assert await world.outcomes() == ["ran", "skipped", "skipped", "ran"]


async def test_with_wait_the_next_one_queues_behind_it(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(overlap="wait"))
        ticking = world.ticking()
        await world.clock.advance(HOUR)
        await ticking.settle()
        assert isinstance(await world.journal.claim(world.woken[0].where, "w", 1e6, PINS), Claim)
        await world.clock.advance(HOUR)
        await ticking.settle()
        assert await world.outcomes() == ["ran", "ran"]


async def test_a_look_that_fails_is_recorded_and_tried_less_often_and_loses_no_change(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(replace(watching(), when=replace(watching().when, seconds=60)))  # type: ignore[type-var]
        ticking = world.ticking()
        await world.clock.advance(60)
        await ticking.settle()
        world.page.fails, world.page.text = WatchFailed("the page is gone; is the address right?"), "second"
        for _ in range(30):
            await world.clock.advance(60)
            await ticking.settle()
        outcomes = await world.outcomes()
        assert outcomes.count("failed") == world.page.looks - 1
        assert 4 <= outcomes.count("failed") <= 6
        assert outcomes.count("skipped") == 30 - outcomes.count("failed")
        (warning,) = ticking.warnings
        assert "automation brief: the look failed" in warning
        assert "is the address right?" in warning
        world.page.fails = None
        await world.clock.advance(HOUR)
        await ticking.settle()
        assert (await world.last()).outcome == "ran"
        assert ticking.warnings == ()


async def test_any_error_of_a_watcher_is_a_failed_tick(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(watching())
        world.page.fails = ZeroDivisionError("oops")
        await world.clock.advance(HOUR)
        await world.ticking().settle()
        assert (await world.last()).outcome == "failed"
        assert "ZeroDivisionError: oops" in (await world.last()).why


async def test_a_watcher_that_hangs_delays_nobody_else_and_is_given_up(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(watching("hangs"))
        await world.set(hourly("other"))
        world.page.hangs = True
        await world.clock.advance(HOUR)
        ticking = world.ticking()
        serving = asyncio.ensure_future(ticking.serve())
        try:
            async with asyncio.timeout(60):
                await world.heard.wait()
                assert world.woken[0].body.job == "other"  # type: ignore[union-attr]
                await world.page.looked.wait()
                assert await world.outcomes("hangs") == []
                while await world.outcomes("hangs") == []:
                    await world.clock.advance(30)
            assert await world.outcomes("hangs") == ["failed"]
            assert "did not answer within 120 s" in (await world.last("hangs")).why
        finally:
            serving.cancel()
            await asyncio.wait({serving})


async def test_a_poke_makes_it_look_at_once(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        ticking = world.ticking()
        serving = asyncio.ensure_future(ticking.serve())
        try:
            await world.set(replace(hourly(), when=Once(START + timedelta(seconds=1))))
            world.clock.jump(2)
            ticking.poke()
            async with asyncio.timeout(60):
                await world.heard.wait()
        finally:
            serving.cancel()
            await asyncio.wait({serving})


async def test_what_was_changed_while_it_looked_does_not_run(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        kept = await world.set(watching())
        await world.set(watching(catch_up="all"))
        tick = await world.ticking().run(replace(kept, state="before"))
        assert tick.outcome == "skipped"
        assert world.woken == []
        assert (await world.last()).why == "it was changed meanwhile"


async def test_a_run_by_hand_is_on_record_and_leaves_the_schedule_alone(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        kept = await world.set(hourly(is_paused=True))
        await world.clock.advance(600)
        tick = await world.ticking().run(kept)
        assert (tick.outcome, tick.by_hand, len(world.woken)) == ("ran", True, 1)
        await world.set(hourly())
        await world.clock.advance(HOUR - 600)
        (now_kept,) = await world.journal.automations(HOME_SPACE)
        assert now_kept.last is not None
        assert now_kept.last.by_hand


async def test_the_limits_of_each_are_told_to_whoever_pays(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(cost=Decimal("0.5"), tokens=100))
        await world.set(hourly("free"))
        await world.ticking().settle()
        assert world.limits == {"brief": Limit(100, Decimal("0.5"))}
        await world.journal.cease(HOME_SPACE, "brief", OWNER)
        await world.ticking().settle()
        assert world.limits == {}


async def _end(journal: object, claim: Claim) -> None:
    step = Step(
        turn=claim.turn.id, n=0, body=Decided(Continue(), "1"), at=START, space=HOME_SPACE, principal=OWNER,
        agent=claim.turn.agent, label=LABEL,
    )  # fmt: skip
    await journal.finish(claim, [step], Ended(Ending.SILENT, LABEL))  # type: ignore[attr-defined]


async def test_every_tick_leaves_a_record_even_where_each_is_put_off_for_longer_than_its_interval(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(jitter_s=6.0 * HOUR, overlap="wait"))
        ticking = world.ticking()
        for _ in range(24 * 12):
            await world.clock.advance(HOUR / 12)
            await ticking.settle()
        found = sorted(tick.due for tick in await world.journal.ticks(HOME_SPACE, "brief", 1_000))
        assert len(found) >= 18
        assert found == [START + timedelta(hours=n) for n in range(1, len(found) + 1)]


async def test_a_clock_that_was_wrong_by_a_year_for_a_moment_stops_nothing(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(hourly(overlap="wait"))
        ticking, year = world.ticking(), 365 * 24 * HOUR
        await world.clock.advance(HOUR)
        await ticking.settle()
        world.clock.jump(year)
        await ticking.settle()
        world.clock.jump(-year)
        before = {tick.due for tick in await world.journal.ticks(HOME_SPACE, "brief", 1_000)}
        await world.clock.advance(HOUR)
        await ticking.settle()
        after = {tick.due for tick in await world.journal.ticks(HOME_SPACE, "brief", 1_000)}
        assert after - before == {START + timedelta(hours=2)}


async def test_a_clock_that_was_set_back_makes_nothing_due_again_and_nobody_looks(tmp_path: Path) -> None:
    async with heart(tmp_path) as world:
        await world.set(watching())
        ticking = world.ticking()
        for _ in range(3):
            await world.clock.advance(HOUR)
            await ticking.settle()
        looks = world.page.looks
        world.clock.jump(-3 * HOUR)
        for _ in range(2):
            await world.clock.advance(HOUR)
            await ticking.settle()
        assert world.page.looks == looks
        assert await world.outcomes() == ["unchanged"] * 3
