"""What every journal must do with automations: kept with their watchers' state, and each tick recorded once, with its event or not at all.

class TestMyAutomations(AutomationsContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[AutomationsJournal]:
        ...
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from daimon.abi.automation import Automate, Automation, Automations, Cease, Cron, Every, Outcome, Tick
from daimon.abi.errors import Fenced, NotFound, Outdated
from daimon.abi.event import Address, Event, Heartbeat
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, Key, SpaceId
from daimon.abi.label import owned
from daimon.abi.message import ToolResult
from daimon.abi.plan import Plan, Planned
from daimon.abi.step import Happened
from daimon.abi.tool import Operation
from daimon.abi.watch import WatchFeed
from daimon.testing.clock import START, ManualClock
from daimon.testing.contracts.ledger import Desk, LedgerJournal

BRIEF = Automation(
    id="brief", when=Cron("0 8 * * 1-5"), task="Brief me.", timezone="Europe/Berlin", said="every weekday at 8",
    watch=WatchFeed(("http://127.0.0.1/feed",)), to=Address("telegram", "42"), model="small", cost=Decimal("0.50"), tokens=1000,
    licence=Plan((Planned("send", {"to": "'bob'"}),)), catch_up="all", overlap="wait", jitter_s=12.5,
)  # fmt: skip
LABEL = owned("terminal")


class AutomationsJournal(LedgerJournal, Automations, Protocol):
    """All journal ports at once."""


class AutomationsContract:
    def open(self, clock: ManualClock) -> AbstractAsyncContextManager[AutomationsJournal]:
        raise NotImplementedError

    async def test_what_is_set_is_kept_as_it_is(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            kept = await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            assert (kept.automation, kept.by, kept.label, kept.since, kept.version) == (BRIEF, OWNER, LABEL, clock.now(), 1)
            assert await journal.automations(HOME_SPACE) == (kept,)
            assert await journal.automations(SpaceId("elsewhere")) == ()

    async def test_setting_it_again_is_a_new_version_that_keeps_the_watchers_state(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            await journal.tick(HOME_SPACE, tick(START), state={"seen": [1]})
            await clock.advance(60)
            again = await journal.automate(HOME_SPACE, replace(BRIEF, is_paused=True), OWNER, LABEL)
            assert (again.version, again.state, again.since, again.reached) == (2, {"seen": [1]}, clock.now(), START)

    async def test_a_change_of_what_somebody_else_has_changed_is_refused_and_changes_nothing(self) -> None:
        async with self.open(ManualClock()) as journal:
            first = await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL, 0)
            second = await journal.automate(HOME_SPACE, replace(BRIEF, task="Another."), OWNER, LABEL, first.version)
            for read in (0, first.version):
                assert f"version {second.version}" in await _outdated(journal, replace(BRIEF, task="A third."), read)
            assert [each.automation.task for each in await journal.automations(HOME_SPACE)] == ["Another."]
            await journal.cease(HOME_SPACE, BRIEF.id, OWNER)
            assert "gone" in await _outdated(journal, BRIEF, second.version)
            assert (await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL, 0)).version > second.version

    async def test_another_watch_begins_anew(self) -> None:
        async with self.open(ManualClock()) as journal:
            await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            await journal.tick(HOME_SPACE, tick(START), state={"seen": [1]})
            other = replace(BRIEF, watch=WatchFeed(("http://127.0.0.1/other",)))
            assert (await journal.automate(HOME_SPACE, other, OWNER, LABEL)).state is None

    async def test_what_ceased_is_gone_and_its_ticks_stay(self) -> None:
        async with self.open(ManualClock()) as journal:
            await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            await journal.tick(HOME_SPACE, tick(START), state=1)
            await journal.cease(HOME_SPACE, "brief", OWNER)
            assert await journal.automations(HOME_SPACE) == ()
            assert len(await journal.ticks(HOME_SPACE, "brief")) == 1
            again = await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            assert (again.state, again.version) == (None, 2)

    async def test_nothing_that_is_not_there_can_cease(self) -> None:
        async with self.open(ManualClock()) as journal:
            await _raises_not_found(journal)

    async def test_a_tick_brings_its_event_once(self) -> None:
        async with self.open(ManualClock()) as journal:
            kept = await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            accepted = await journal.tick(HOME_SPACE, tick(START, "ran"), event("e1"), {"n": 1}, kept.version)
            assert accepted is not None
            assert accepted.is_new
            assert await journal.tick(HOME_SPACE, tick(START, "ran"), event("e2"), {"n": 2}, kept.version) is None
            (found,) = await journal.automations(HOME_SPACE)
            assert (found.state, found.event, found.reached) == ({"n": 1}, "e1", START)
            assert found.last == tick(START, "ran", event="e1")
            assert (await journal.event(EventId("e1"))).body == event("e1").body
            await _not_there(journal, "e2")

    async def test_a_look_for_what_was_changed_meanwhile_counts_for_nothing(self) -> None:
        async with self.open(ManualClock()) as journal:
            kept = await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            await journal.automate(HOME_SPACE, replace(BRIEF, task="Another."), OWNER, LABEL)
            assert await journal.tick(HOME_SPACE, tick(START, "ran"), event("e1"), {"n": 1}, kept.version) is None
            (found,) = await journal.automations(HOME_SPACE)
            assert (found.state, found.event) == (None, "")
            assert found.last is not None
            assert found.last.outcome == "skipped"
            await _not_there(journal, "e1")

    async def test_a_tick_without_a_state_leaves_it_as_it_was(self) -> None:
        async with self.open(ManualClock()) as journal:
            await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            await journal.tick(HOME_SPACE, tick(START), state=[1])
            await journal.tick(HOME_SPACE, tick(START + timedelta(hours=1), "skipped"))
            assert (await journal.automations(HOME_SPACE))[0].state == [1]

    async def test_a_run_by_hand_is_on_record_and_does_not_count_as_reached(self) -> None:
        async with self.open(ManualClock()) as journal:
            await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
            await journal.tick(HOME_SPACE, tick(START))
            by_hand = replace(tick(START + timedelta(hours=1), "ran"), by_hand=True)
            await journal.tick(HOME_SPACE, by_hand, event("e1"))
            (found,) = await journal.automations(HOME_SPACE)
            assert found.reached == START
            assert found.last == replace(by_hand, event="e1")

    async def test_ticks_are_told_newest_first(self) -> None:
        async with self.open(ManualClock()) as journal:
            other = Automation(id="other", when=Every(60, START), task="x", timezone="UTC")
            for each in (BRIEF, other):
                await journal.automate(HOME_SPACE, each, OWNER, LABEL)
            for n in range(3):
                await journal.tick(HOME_SPACE, tick(START + timedelta(minutes=n)))
            await journal.tick(HOME_SPACE, replace(tick(START + timedelta(minutes=5)), automation="other"))
            assert [each.due.minute for each in await journal.ticks(HOME_SPACE, "brief", 2)] == [2, 1]
            assert [each.automation for each in await journal.ticks(HOME_SPACE)] == ["other", "brief", "brief", "brief"]

    async def test_what_a_step_sets_takes_effect_with_it(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            pen = await Desk(journal, clock).begin("a")
            await pen.write(_happened(Automate(BRIEF)))
            (found,) = await journal.automations(HOME_SPACE)
            assert (found.automation, found.by) == (BRIEF, OWNER)
            await pen.write(_happened(Cease("brief"), Cease("nothing")))
            assert await journal.automations(HOME_SPACE) == ()

    async def test_what_a_refused_step_sets_takes_none(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            pen = await Desk(journal, clock).begin("a")
            try:
                await replace(pen, claim=replace(pen.claim, epoch=99)).write(_happened(Automate(BRIEF)))
            except Fenced:
                pass
            else:
                raise AssertionError("it was not fenced")
            assert await journal.automations(HOME_SPACE) == ()


def tick(due: datetime, outcome: Outcome = "unchanged", event: str = "") -> Tick:
    return Tick(automation="brief", due=due, at=due, outcome=outcome, why="because", event=event)


def event(id_: str) -> Event:
    return Event(
        id=EventId(id_), source="heartbeat", key=Key(f"brief@{id_}"), conversation="automations/brief", principal=OWNER,
        body=Heartbeat("brief", {"new": 1}, "Brief me.", LABEL, BRIEF.licence, "small"), occurred_at=START, received_at=START, label=LABEL,
    )  # fmt: skip


def _happened(*operations: Operation) -> Happened:
    return Happened(0, ToolResult("c", "t", ()), operations=operations)


async def _raises_not_found(journal: AutomationsJournal) -> None:
    try:
        await journal.cease(HOME_SPACE, "nothing", OWNER)
    except NotFound:
        return
    raise AssertionError("it ceased")


async def _not_there(journal: AutomationsJournal, id_: str) -> None:
    try:
        await journal.event(EventId(id_))
    except NotFound:
        return
    raise AssertionError(f"{id_} is there")


async def _outdated(journal: AutomationsJournal, automation: Automation, read: int) -> str:
    try:
        await journal.automate(HOME_SPACE, automation, OWNER, LABEL, read)
    except Outdated as refused:
        return str(refused)
    return ""
