"""What every journal must do with grants: given with their step or not at all, in force until they run out or are taken back; and what it
must do with the messages of questions that wait for their moment.

    class TestMyGrants(GrantsContract):
        @asynccontextmanager
        async def open(self, clock: ManualClock) -> AsyncIterator[GrantsJournal]:
            ...
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from daimon.abi.errors import Fenced, NotFound
from daimon.abi.event import Address, Answer, Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, EventId, Key, PrincipalId, SpaceId, StepRef
from daimon.abi.judgement import Grant
from daimon.abi.label import owned
from daimon.abi.message import Text, ToolResult
from daimon.abi.ports import Given, Grants
from daimon.abi.step import Answered, Asked, Continue, Decided, Granted, Happened
from daimon.abi.tool import Capability, Question, Send
from daimon.abi.turn import Ending
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.ledger import Desk, LedgerJournal, Pen

QUESTION = Question("May I?", ("deny", "allow", "grant"), "authorise")
PLACE = Address("mail", "owner")


class GrantsJournal(LedgerJournal, Grants, Protocol):
    """All journal ports at once."""


class GrantsContract:
    def open(self, clock: ManualClock) -> AbstractAsyncContextManager[GrantsJournal]:
        raise NotImplementedError

    @asynccontextmanager
    async def begun(self) -> AsyncIterator[tuple[GrantsJournal, Pen]]:
        async with self.open(clock := ManualClock()) as journal:
            yield journal, await Desk(journal, clock).begin("a")

    # -- grants

    async def test_a_grant_is_in_force_when_its_step_is_written(self) -> None:
        async with self.begun() as (journal, pen):
            assert await journal.grants(HOME_SPACE, pen.clock.now()) == ()
            grant = await _give(pen)
            assert await journal.grants(HOME_SPACE, pen.clock.now()) == (grant,)
            assert await journal.given(HOME_SPACE) == (Given(grant),)
            assert await journal.grants(SpaceId("elsewhere"), pen.clock.now()) == ()

    async def test_a_step_that_is_refused_grants_nothing(self) -> None:
        async with self.begun() as (journal, pen):
            stale = replace(pen.claim, epoch=pen.claim.epoch - 1)
            try:
                await journal.record(stale, pen.steps([Granted(0, _grant(pen))]))
            except Fenced:
                assert await journal.given(HOME_SPACE) == ()
            else:
                raise AssertionError("it must be fenced")

    async def test_a_grant_runs_out(self) -> None:
        async with self.begun() as (journal, pen):
            grant = await _give(pen)
            assert grant.until is not None
            assert await journal.grants(HOME_SPACE, grant.until - timedelta(microseconds=1)) == (grant,)
            assert await journal.grants(HOME_SPACE, grant.until) == ()
            assert await journal.given(HOME_SPACE) == (Given(grant),)

    async def test_a_revoked_grant_is_not_in_force_and_says_who_took_it_back(self) -> None:
        async with self.begun() as (journal, pen):
            kept, grant = await _give(pen), await _give(pen)
            revoked = await journal.revoke(HOME_SPACE, grant.id, OWNER)
            assert revoked == Given(grant, pen.clock.now(), OWNER)
            assert await journal.grants(HOME_SPACE, pen.clock.now()) == (kept,)
            assert await journal.given(HOME_SPACE) == (revoked, Given(kept))

    async def test_taking_it_back_again_changes_nothing(self) -> None:
        async with self.begun() as (journal, pen):
            grant = await _give(pen)
            first = await journal.revoke(HOME_SPACE, grant.id, OWNER)
            await pen.clock.advance(60)
            assert await journal.revoke(HOME_SPACE, grant.id, PrincipalId("another")) == first

    async def test_what_was_never_granted_cannot_be_revoked(self) -> None:
        async with self.begun() as (journal, pen):
            await _give(pen)
            for space, name in ((HOME_SPACE, "t-nowhere:1"), (SpaceId("elsewhere"), f"{pen.turn}:0")):
                try:
                    raise AssertionError(await journal.revoke(space, name, OWNER))
                except NotFound:
                    pass

    async def test_the_copy_in_a_fork_grants_nothing_anew(self) -> None:
        async with self.begun() as (journal, pen):
            grant = await _give(pen)
            await journal.revoke(HOME_SPACE, grant.id, OWNER)
            await journal.fork(StepRef(pen.turn, pen.n - 1))
            assert await journal.grants(HOME_SPACE, pen.clock.now()) == ()
            assert len(await journal.given(HOME_SPACE)) == 1

    # -- messages that wait for their moment

    async def test_a_message_waits_for_its_moment_and_holds_up_nobody(self) -> None:
        async with self.begun() as (journal, pen):
            await pen.write(_asked(pen, 3_600), Asked(QUESTION, operations=(Send(PLACE, (Text("now"),)),)))
            (now,) = await journal.outgoing(10)
            assert now.content == Said((Text("now"),))
            await journal.delivered(now, "sent")
            assert await journal.outgoing(10) == ()
            await pen.clock.advance(3_600)
            (later,) = await journal.outgoing(10)
            assert later.content == Said((Text("later"),))

    async def test_what_asks_something_that_is_settled_does_not_go_out_any_more(self) -> None:
        async with self.begun() as (journal, pen):
            asked, other = await pen.write(_asked(pen, 3_600)), await pen.write(_asked(pen, 3_600))
            await pen.write(Answered(asked, "allow", "", OWNER, None), Happened(99, ToolResult("c", "t", ()), "denied"))
            await pen.clock.advance(3_600)
            assert [message.key for message in await journal.outgoing(10)] == [f"{pen.turn}:{other}:0"]

    async def test_nothing_of_a_turn_that_is_over_is_asked_later(self) -> None:
        async with self.begun() as (journal, pen):
            await pen.write(_asked(pen, 3_600))
            await pen.end(Ending.STOPPED)
            await pen.clock.advance(3_600)
            assert await journal.outgoing(10) == ()

    # -- what comes too late

    async def test_what_comes_for_a_turn_that_is_over_is_kept_as_late(self) -> None:
        async with self.begun() as (journal, pen):
            before, after = _answer(pen, "before"), _answer(pen, "after")
            await journal.accept(before)
            assert await journal.late(pen.turn) == ()
            await pen.write(Decided(Continue(), "1"))
            await pen.end()
            await journal.accept(after)
            assert await journal.late(pen.turn) == (before, after)


def _grant(pen: Pen) -> Grant:
    now = pen.clock.now()
    name = str(StepRef(pen.turn, pen.n))
    return Grant(name, SELF, (Capability.SENDS,), "send", ("bob@x.org",), at=now, until=now + timedelta(days=30))


async def _give(pen: Pen) -> Grant:
    grant = _grant(pen)
    await pen.write(Granted(0, grant))
    return grant


def _asked(pen: Pen, seconds: float) -> Asked:
    return Asked(QUESTION, operations=(Send(PLACE, (Text("later"),), pen.clock.now() + timedelta(seconds=seconds)),))


def _answer(pen: Pen, name: str) -> Event:
    now = pen.clock.now()
    return Event(
        id=EventId(f"e-{name}"), source="test", key=Key(name), conversation=pen.name, principal=OWNER, body=Answer("allow"),
        label=owned("test"), occurred_at=now, received_at=now, resolves=StepRef(pen.turn, 0),
    )  # fmt: skip
