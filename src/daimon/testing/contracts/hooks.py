"""What every journal must do with hooks and what comes through them.

class TestMyHooks(HooksContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[HooksJournal]:
        ...
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Protocol

from pydantic import JsonValue

from daimon.abi.errors import NotFound, Outdated
from daimon.abi.event import Address, Event, Webhook
from daimon.abi.hook import Filter, Hook, Hooked, Hooks, MakeHook, Posted, version_of
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, Key, SpaceId
from daimon.abi.label import UNLABELLED, owned
from daimon.abi.message import ToolResult
from daimon.abi.step import Happened
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.ledger import Desk, LedgerJournal

HOOK = Hook(
    name="ci", scheme="github", secret="hook-ci", task="Tell me of failed builds.", to=Address("mail", "me"),
    filters=(Filter("/action", ("failed",)),), schema={"type": "object"},
)  # fmt: skip
ELSEWHERE = SpaceId("elsewhere")


class HooksJournal(LedgerJournal, Hooks, Protocol):
    """All journal ports at once."""


class HooksContract:
    def open(self, clock: ManualClock) -> AbstractAsyncContextManager[HooksJournal]:
        raise NotImplementedError

    async def test_a_hook_comes_back_as_it_was_made_in_its_own_space(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            before = journal.hook_changes
            made = await journal.hook(HOME_SPACE, HOOK, OWNER, owned("api"))
            assert made == Hooked(HOOK, OWNER, owned("api"), clock.now())
            assert await journal.hooks(HOME_SPACE) == (made,)
            assert await journal.hooks(ELSEWHERE) == ()
            assert journal.hook_changes > before

    async def test_a_changed_hook_keeps_the_moment_it_was_made(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            made = await journal.hook(HOME_SPACE, HOOK, OWNER, owned("api"))
            clock.jump(60)
            changed = await journal.hook(HOME_SPACE, replace(HOOK, is_paused=True), OWNER, owned("api"))
            assert (changed.since, changed.hook.is_paused) == (made.since, True)
            assert await journal.hooks(HOME_SPACE) == (changed,)

    async def test_a_change_of_what_somebody_else_has_changed_is_refused_and_changes_nothing(self) -> None:
        async with self.open(ManualClock()) as journal:
            first = version_of((await journal.hook(HOME_SPACE, HOOK, OWNER, owned("api"), "0")).hook)
            paused = replace(HOOK, is_paused=True)
            second = version_of((await journal.hook(HOME_SPACE, paused, OWNER, owned("api"), first)).hook)
            for read in ("0", first):
                assert "read it again" in await _outdated(journal, read)
            assert [each.hook for each in await journal.hooks(HOME_SPACE)] == [paused]
            await journal.unhook(HOME_SPACE, HOOK.name, OWNER)
            assert "gone" in await _outdated(journal, second)

    async def test_a_removed_hook_is_gone_and_one_that_never_was_is_not_found(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.hook(HOME_SPACE, replace(HOOK, mode="collect"), OWNER, owned("api"))
            await journal.post(HOME_SPACE, _posted(clock, "k1", data={"a": 1}))
            before = journal.hook_changes
            await journal.unhook(HOME_SPACE, "ci", OWNER)
            assert await journal.hooks(HOME_SPACE) == ()
            assert [each.data for each in await journal.posted(HOME_SPACE, "ci")] == [None]
            assert journal.hook_changes > before
            try:
                await journal.unhook(HOME_SPACE, "ci", OWNER)
            except NotFound:
                return
            raise AssertionError("a hook was removed twice")

    async def test_a_hook_that_a_step_makes_is_there_with_the_step(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            pen = await Desk(journal, clock).begin("a")
            before = journal.hook_changes
            done = Happened(0, ToolResult("c", "make_webhook", ()), operations=(MakeHook(HOOK),))
            await journal.record(pen.claim, pen.steps([done]))
            found = await journal.hooks(HOME_SPACE)
            assert [(each.hook, each.by) for each in found] == [(HOOK, pen.claim.turn.principal)]
            assert journal.hook_changes > before

    async def test_a_delivery_and_its_event_are_accepted_together_and_once(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            event = _event(clock, "k1")
            accepted = await journal.post(HOME_SPACE, _posted(clock, "k1", "accepted"), event)
            assert accepted is not None
            assert (accepted.event, accepted.is_new) == (event.id, True)
            assert await journal.post(HOME_SPACE, _posted(clock, "k1", "accepted"), _event(clock, "k1", "e2")) is None
            (kept,) = await journal.posted(HOME_SPACE, "ci")
            assert (kept.key, kept.outcome, kept.event) == ("k1", "accepted", event.id)
            assert await journal.event(event.id) == event

    async def test_the_same_content_under_another_key_is_the_same_delivery(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            assert await journal.post(HOME_SPACE, _posted(clock, "k1", content="cafe")) is not None
            assert await journal.post(HOME_SPACE, _posted(clock, "k2", content="cafe")) is None
            assert await journal.post(HOME_SPACE, replace(_posted(clock, "k1", content="cafe"), hook="other")) is not None

    async def test_a_replay_leaves_nothing_behind_that_stops_an_honest_delivery(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            await journal.post(HOME_SPACE, _posted(clock, "k1", content="cafe"))
            assert await journal.post(HOME_SPACE, _posted(clock, "k1", content="beef")) is None
            assert await journal.post(HOME_SPACE, _posted(clock, "k2", content="beef")) is not None

    async def test_refusals_are_on_record_and_make_nothing_known(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            refused = replace(_posted(clock, "k1", content="cafe"), outcome="refused", why="the signature does not fit")
            await journal.post(HOME_SPACE, refused)
            await journal.post(HOME_SPACE, refused)
            assert await journal.post(HOME_SPACE, _posted(clock, "k1", content="cafe")) is not None
            assert [each.outcome for each in await journal.posted(HOME_SPACE, "ci")] == ["collected", "refused", "refused"]

    async def test_what_was_collected_is_read_in_order_from_where_the_reader_stopped(self) -> None:
        async with self.open(clock := ManualClock()) as journal:
            for i in range(5):
                await journal.post(HOME_SPACE, _posted(clock, f"k{i}", data={"i": i}))
            await journal.post(HOME_SPACE, _posted(clock, "woken", "accepted"), _event(clock, "woken"))
            first = await journal.collected(HOME_SPACE, "ci", 0, 3)
            assert [each.data for each in first] == [{"i": 0}, {"i": 1}, {"i": 2}]
            assert first[0].headers == {"x-github-event": "push"}
            assert [each.data for each in await journal.collected(HOME_SPACE, "ci", first[-1].n, 10)] == [{"i": 3}, {"i": 4}]
            assert [each.key for each in await journal.posted(HOME_SPACE, "ci", 2)] == ["woken", "k4"]


def _posted(clock: ManualClock, key: str, outcome: str = "collected", content: str = "", data: JsonValue = None) -> Posted:
    return Posted(
        hook="ci", key=key, at=clock.now(), outcome=outcome, content=content, data=data,  # type: ignore[arg-type]
        headers={"x-github-event": "push"},
    )  # fmt: skip


def _event(clock: ManualClock, key: str, id_: str = "e1") -> Event:
    now = clock.now()
    return Event(
        id=EventId(id_), source="hook:ci", key=Key(key), conversation="hooks/ci", principal=OWNER, body=Webhook("ci", {"a": 1}),
        occurred_at=now, received_at=now, label=UNLABELLED,
    )  # fmt: skip


async def _outdated(journal: HooksJournal, read: str) -> str:
    try:
        await journal.hook(HOME_SPACE, HOOK, OWNER, owned("api"), read)
    except Outdated as refused:
        return str(refused)
    return ""
