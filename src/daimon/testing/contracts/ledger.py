"""What every journal must do with money: reserved and settled in the transaction of its steps, never overspent, nobody left waiting.

    class TestMyLedger(LedgerContract):
        @asynccontextmanager
        async def open(self, clock: ManualClock) -> AsyncIterator[LedgerJournal]:
            ...

Each test opens a fresh journal. `Desk` and `Pen` play the kernel's part: a turn that is refused writes that down and parks, the one that
asks with a question, the others quietly.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, Protocol

from daimon.abi.codec import blob_hash
from daimon.abi.errors import NotFound, OverBudget
from daimon.abi.event import Address, Body, Event, Heartbeat, Said, Stop
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, AgentId, Conversation, EventId, Key, StepRef, TimerId, TurnId
from daimon.abi.label import owned
from daimon.abi.message import Text, ToolResult
from daimon.abi.money import NOTHING, Account, Amount, Limit, Scope, Usage
from daimon.abi.ports import Balance, Blob, Claim, Ended, Grouping, Ledger, Parked, Spending
from daimon.abi.step import Asked, Happened, ModelFailed, Raised, Received, Replied, Reserved, Settled, Short, Step, StepBody, Wait
from daimon.abi.tool import Question, Send, SetTimer
from daimon.abi.turn import Ending, Pins, Turn
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.journal import FullJournal

TODAY, MONTH = "2026-03-02", "2026-03"
"""Of a new ManualClock."""
TTL_S = 3_600.0
MANY = 1_000
DONE = Ended(Ending.ANSWERED, owned("test"))
TRY_AGAIN = Question("Shall I try again?", ("stop", "continue"), "choose")

MODELS = ("m",)
"""Whom the calls of these tests ask."""


class LedgerJournal(FullJournal, Ledger, Protocol):
    """All journal ports at once, with what is known of costs."""


class LedgerContract:
    def open(self, clock: ManualClock) -> AbstractAsyncContextManager[LedgerJournal]:
        raise NotImplementedError

    @asynccontextmanager
    async def desk(self) -> AsyncIterator["Desk"]:
        async with self.open(clock := ManualClock()) as journal:
            yield Desk(journal, clock)

    # -- reserving and settling

    async def test_a_call_is_held_in_every_account_and_its_settlement_gives_back_the_rest(self) -> None:
        async with self.desk() as desk:
            accounts = (task(cost="5"), Account(Scope.CONVERSATION, "a"), Account(Scope.AGENT, "x"), day(tokens=1_000), month(cost="9"))
            pen = await desk.begin("a")
            n = await pen.write(call(*accounts, tokens=100, cost="2"))
            for balance in await desk.journal.balances(HOME_SPACE, accounts):
                assert (balance.spent, balance.held) == (Amount(), amount(100, "2"))
            await pen.write(Settled(n, Usage(30, 20, cost=Decimal("0.5")), "measured"))
            for account, balance in zip(accounts, await desk.journal.balances(HOME_SPACE, accounts), strict=True):
                assert balance == Balance(account, amount(50, "0.5"), Amount(), 0)

    async def test_a_limit_may_be_used_up_to_its_last_token_and_billionth(self) -> None:
        async with self.desk() as desk:
            limit = day(tokens=200, cost="0.000000002")
            pen = await desk.begin("a")
            for _ in range(2):
                await pen.write(call(limit, tokens=100, cost="0.000000001"))
            assert await pen.refused(call(limit, tokens=1, cost="0")) is not None
            assert await pen.refused(call(limit, tokens=0, cost="0.000000001")) is not None

    async def test_an_account_without_a_limit_only_counts(self) -> None:
        async with self.desk() as desk:
            pen = await desk.begin("a")
            for _ in range(3):
                await pen.write(call(tokens=10**9, cost="1000000"))
            assert (await desk.balance(day())).held == amount(3 * 10**9, "3000000")

    async def test_tokens_and_money_are_limited_apart(self) -> None:
        async with self.desk() as desk:
            pen = await desk.begin("a")
            await pen.write(call(tokens=100, cost="1"))
            fitting = (day(tokens=200), day(cost="2"), day(tokens=200, cost="2"))
            too_small = (day(tokens=199), day(cost="1.99"), day(tokens=199, cost="2"), day(tokens=200, cost="1.99"))
            for account in too_small:
                assert (await pen.refused(call(account, tokens=100, cost="1"))).account == account
            for account in fitting:
                n = await pen.write(call(account, tokens=100, cost="1"))
                await pen.write(Settled(n, Usage(), "unused"))

    async def test_nothing_is_written_of_a_batch_whose_reservation_does_not_fit(self) -> None:
        async with self.desk() as desk:
            pen, limit, blob = await desk.begin("a"), day(cost="1"), Blob(blob_hash(b"request"), (b"request",))
            held = await pen.write(call(limit, cost="0.4"))
            before, steps = await desk.balance(limit), await desk.journal.steps(pen.turn)
            operations = (SetTimer(TimerId("tm"), desk.clock.now() + timedelta(hours=1), "tea"), Send(Address("mail", "bob"), (Text("x"),)))
            batch: list[StepBody] = [
                Settled(held, Usage(1, 1, cost=Decimal("0.3")), "measured"),
                Happened(0, ToolResult("c", "t", (), label=owned("test")), operations=operations),
                Raised(Scope.DAY, TODAY, amount(0, "0.1"), OWNER),
                call(limit, cost="0.2"),
                call(limit, cost="0.7"),
            ]
            await pen.refused(*batch, blobs=[blob])
            assert await desk.journal.steps(pen.turn) == steps
            assert await desk.balance(limit) == before
            assert await desk.journal.pending(pen.claim.conversation) == ()
            assert await desk.journal.outgoing(10) == ()
            try:
                raise AssertionError(await desk.journal.get(blob.hash))
            except NotFound:
                pass
            await pen.write(*batch[:-1], blobs=[blob])  # with the same numbers
            assert (await desk.balance(limit)).spent == amount(2, "0.3")
            assert await desk.journal.get(blob.hash) == b"request"

    async def test_a_batch_may_settle_one_call_and_reserve_the_next_from_what_came_free(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(cost="1")
            n = await pen.write(call(limit, cost="0.9"))
            await pen.refused(call(limit, cost="0.8"))
            await pen.write(Settled(n, Usage(10, 10, cost=Decimal("0.2")), "measured"), call(limit, cost="0.8"))
            balance = await desk.balance(limit)
            assert (balance.spent.cost, balance.held.cost) == (Decimal("0.2"), Decimal("0.8"))

    async def test_reservations_of_one_batch_count_together(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(cost="1")
            assert (await pen.refused(call(limit, cost="0.6"), call(limit, cost="0.6"))).why == "held"
            await pen.write(call(limit, cost="0.6"), call(limit, cost="0.4"))

    async def test_a_call_that_took_more_than_was_held_counts_with_all_that_it_took(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(cost="1")
            n = await pen.write(call(limit, tokens=100, cost="0.5"))
            await pen.write(Settled(n, Usage(100, 500, cost=Decimal("1.5")), "measured"))
            assert (await desk.balance(limit)).spent == amount(600, "1.5")
            assert (await pen.refused(call(limit, cost="0.01"))).why == "reached"

    async def test_what_is_free_needs_no_room_for_money(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(cost="1")
            n = await pen.write(call(limit, cost="1"))
            await pen.write(Settled(n, Usage(1, 1, cost=Decimal(3)), "measured"))
            await pen.write(call(limit, cost="0"))

    async def test_a_call_whose_cost_nobody_said_counts_as_all_that_was_held_and_an_unused_one_as_nothing(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(cost="5")
            first, second = await pen.write(call(limit, cost="2")), await pen.write(call(limit, cost="1"))
            await pen.write(Settled(first, Usage(10, 0, cost=None), "measured"), Settled(second, Usage(cost=None), "unused"))
            balance = await desk.balance(limit)
            assert (balance.spent, balance.held) == (amount(10, "2"), Amount())
            (row,) = await desk.journal.spending(HOME_SPACE, "day")
            assert (row.calls, row.cost, row.unpriced) == (2, Decimal(2), 0)

    async def test_settling_twice_or_what_was_never_held_changes_nothing(self) -> None:
        async with self.desk() as desk:
            one, other, limit = await desk.begin("a"), await desk.begin("b"), day(cost="5")
            n = await one.write(call(limit, cost="2"))
            await other.write(Settled(n, Usage(1, 1, cost=Decimal(1)), "measured"))
            assert (await desk.balance(limit)).held == amount(100, "2")
            await one.write(Settled(n, Usage(1, 1, cost=Decimal(1)), "measured"))
            for again in (Settled(n, Usage(5, 5, cost=Decimal(2)), "measured"), Settled(77, Usage(5, 5, cost=Decimal(2)), "assumed")):
                await one.write(again)
            await one.end()
            balance = await desk.balance(limit)
            assert (balance.spent, balance.held) == (amount(2, "1"), Amount())
            assert (await desk.spending("day"))[TODAY].assumed == 0

    async def test_a_call_that_its_turn_did_not_settle_counts_in_full(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(cost="5")
            settled, _left = await pen.write(call(limit, cost="2")), await pen.write(call(limit, tokens=70, cost="1"))
            await pen.write(Settled(settled, Usage(1, 1, cost=Decimal("0.5")), "measured"))
            await pen.end()
            balance, row = await desk.balance(limit), (await desk.spending("day"))[TODAY]
            assert (balance.spent, balance.held) == (amount(72, "1.5"), Amount())
            assert (row.cost, row.assumed, row.held, row.under_way) == (Decimal("1.5"), Decimal(1), NOTHING, 0)

    async def test_a_fork_does_not_double_what_was_spent_or_held(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(cost="5")
            n = await pen.write(call(limit, cost="2"))
            forked = await desk.journal.fork(StepRef(pen.turn, n))
            copy = await desk.claimed(forked.where)
            await copy.write(Settled(n, Usage(9, 9, cost=Decimal(2)), "assumed"))
            balance = await desk.balance(limit)
            assert (balance.spent, balance.held) == (Amount(), amount(100, "2"))
            await copy.write(call(limit, cost="1"))  # from here on it pays for itself
            await copy.end()
            await pen.end()
            assert (await desk.balance(limit)).spent == amount(200, "3")

    # -- why not

    async def test_a_refusal_names_the_account_what_is_spent_and_held_and_what_was_needed(self) -> None:
        async with self.desk() as desk:
            one, limit = await desk.begin("a"), replace(day(tokens=500, cost="1"), until=desk.clock.now() + timedelta(hours=15))
            n = await one.write(call(limit, tokens=100, cost="0.5"))
            await one.write(Settled(n, Usage(40, 0, cost=Decimal("0.2")), "measured"), call(limit, tokens=50, cost="0.3"))
            short = await one.refused(call(limit, tokens=80, cost="0.6"))
            assert short == Short("m", limit, amount(40, "0.2"), amount(50, "0.3"), amount(80, "0.6"), "held")

    async def test_reached_held_and_unknown_price_are_told_apart(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(tokens=1_000, cost="1")
            n = await pen.write(call(limit, tokens=100, cost="0.5"))
            await pen.write(Settled(n, Usage(100, cost=Decimal("0.5")), "measured"), call(limit, tokens=100, cost="0.3"))
            whys = {(tokens, cost): (await pen.refused(call(limit, tokens=tokens, cost=cost))).why for tokens, cost in (
                (1, "0.3"), (1, "0.51"), (850, "0"), (901, "0"), (850, "0.51"), (1, None), (901, None),
            )}  # fmt: skip
            assert whys == {
                (1, "0.3"): "held", (1, "0.51"): "reached", (850, "0"): "held", (901, "0"): "reached", (850, "0.51"): "reached",
                (1, None): "unknown_price", (901, None): "unknown_price",
            }  # fmt: skip

    async def test_what_others_give_back_is_named_last_and_of_the_rest_the_first_account(self) -> None:
        async with self.desk() as desk:
            pen = await desk.begin("a")
            n = await pen.write(call(task(), cost="1"))
            await pen.write(Settled(n, Usage(1, cost=Decimal(1)), "measured"), call(task(), cost="1"))
            held, reached = task(cost="2.5"), (day(cost="1.5"), month(cost="1.5"))
            for accounts, named in (
                ((held, *reached), reached[0]),
                ((held, *reversed(reached)), reached[1]),
                ((held, day(cost="2.5")), held),
                ((day(cost="2.5"), held), day(cost="2.5")),
            ):
                assert (await pen.refused(call(*accounts, cost="1"))).account == named
            unknown = await pen.refused(call(held, day(tokens=101), cost=None))
            assert (unknown.account, unknown.why) == (held, "unknown_price")
            tokens_first = await pen.refused(call(day(tokens=50), held, cost=None))
            assert (tokens_first.account, tokens_first.why) == (day(tokens=50), "reached")

    async def test_an_unknown_price_passes_where_only_tokens_are_limited_and_stays_unknown(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(tokens=1_000)
            n = await pen.write(call(limit, tokens=600, cost=None))
            assert (await desk.spending("day"))[TODAY].unpriced == 0
            assert (await pen.refused(call(limit, tokens=600, cost=None))).why == "held"
            await pen.write(Settled(n, Usage(400, 100, cost=None), "measured"))
            row = (await desk.spending("day"))[TODAY]
            assert (row.unpriced, row.cost, row.input_tokens, row.output_tokens) == (1, NOTHING, 400, 100)
            await pen.write(call(limit, tokens=500, cost=None))
            await pen.end()
            row, balance = (await desk.spending("day"))[TODAY], await desk.balance(limit)
            assert (row.unpriced, row.cost, balance.spent) == (2, NOTHING, Amount(1_000))

    # -- raises

    async def test_a_raise_counts_at_once_and_is_part_of_the_limit(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(tokens=100, cost="1")
            await pen.refused(call(limit, tokens=150, cost="1.5"))
            for more in (amount(50, "0.2"), amount(0, "0.3")):
                await pen.write(Raised(Scope.DAY, TODAY, more, OWNER))
            assert await desk.balance(limit) == Balance(day(tokens=150, cost="1.5"), Amount(), Amount(), 0)
            await pen.write(call(limit, tokens=150, cost="1.5"))
            short = await pen.refused(call(limit, tokens=1, cost="0.1"))
            assert short.account == day(tokens=150, cost="1.5")
            assert (await desk.balance(month(cost="1"))).account == month(cost="1")

    async def test_a_raise_and_the_call_that_it_allows_may_share_a_batch(self) -> None:
        async with self.desk() as desk:
            pen, limit = await desk.begin("a"), day(cost="1")
            await pen.refused(Raised(Scope.DAY, TODAY, amount(0, "0.4"), OWNER), call(limit, cost="1.5"))
            assert (await desk.balance(limit)).account == limit
            await pen.write(Raised(Scope.DAY, TODAY, amount(0, "0.5"), OWNER), call(limit, cost="1.5"))

    # -- who waits is woken

    async def test_who_waits_for_held_money_is_woken_when_it_comes_free(self) -> None:
        async with self.desk() as desk:
            holder, limit = await desk.begin("holder"), day(cost="1")
            n = await holder.write(call(limit, cost="1"))
            waiting = await desk.short("w", call(limit, cost="0.5"))
            assert (await desk.due(), (await desk.balance(limit)).waiting) == (set(), 1)
            await desk.clock.advance(1)
            await holder.write(Settled(n, Usage(1, cost=Decimal("0.5")), "measured"))
            assert await desk.due() == {"w"}
            again = await desk.resume(waiting)
            await again.write(call(limit, cost="0.5"))
            assert (await desk.balance(limit)).waiting == 0

    async def test_the_first_is_woken_first_and_only_as_many_as_fit(self) -> None:
        async with self.desk() as desk:
            holder, limit = await desk.begin("holder"), day(cost="1")
            n = await holder.write(call(limit, cost="1"))
            for name, cost in (("z", "0.4"), ("big", "0.8"), ("b", "0.3"), ("c", "0.3"), ("a", "0.3")):
                await desk.short(name, call(limit, cost=cost))
                await desk.clock.advance(1)
            await holder.write(Settled(n, Usage(), "unused"))
            assert await desk.due() == {"z", "b", "c"}

    async def test_nobody_is_woken_while_nobody_fits_and_something_is_still_held(self) -> None:
        async with self.desk() as desk:
            holder, limit = await desk.begin("holder"), day(cost="1")
            first, second = await holder.write(call(limit, cost="0.5")), await holder.write(call(limit, cost="0.4"))
            await desk.short("w", call(limit, cost="0.6"))
            await holder.write(Settled(first, Usage(1, cost=Decimal("0.2")), "measured"))
            assert await desk.due() == set()
            await holder.write(Settled(second, Usage(), "unused"))
            assert await desk.due() == {"w"}

    async def test_what_costs_money_and_no_tokens_is_held_as_well(self) -> None:
        async with self.desk() as desk:
            holder, limit = await desk.begin("holder"), day(cost="1")
            await holder.write(call(limit, tokens=0, cost="1"))
            assert (await desk.short("w", call(limit, cost="0.5"))).short.why == "held"
            assert await desk.due() == set()

    async def test_when_all_is_spent_the_first_who_waits_is_woken_to_ask(self) -> None:
        async with self.desk() as desk:
            holder, limit = await desk.begin("holder"), day(cost="1")
            n = await holder.write(call(limit, cost="1"))
            first = await desk.short("b", call(limit, cost="0.5"))
            await desk.clock.advance(1)
            await desk.short("a", call(limit, cost="0.5"))
            await holder.write(Settled(n, Usage(1, cost=Decimal("0.9")), "measured"))
            assert await desk.due() == {"b"}
            again = await desk.resume(first)
            short = await again.refused(call(limit, cost="0.5"))
            assert (short.why, short.asked) == ("reached", None)
            await again.wait_for(short)
            assert await desk.due() == set()

    async def test_a_wake_up_between_the_refusal_and_the_park_is_not_lost(self) -> None:
        async with self.desk() as desk:
            holder, late, limit = await desk.begin("holder"), await desk.begin("late"), day(cost="1")
            n = await holder.write(call(limit, cost="1"))
            short = await late.refused(call(limit, cost="0.5"))
            await holder.write(Settled(n, Usage(1, cost=Decimal("0.1")), "measured"))
            await late.wait_for(short)
            assert await desk.due() == {"late"}

    async def test_an_end_between_the_refusal_and_the_park_is_not_lost(self) -> None:
        async with self.desk() as desk:
            holder, late, limit = await desk.begin("holder"), await desk.begin("late"), day(cost="1")
            await holder.write(call(limit, cost="0.8"))
            short = await late.refused(call(limit, cost="0.5"))
            assert short.why == "held"
            await holder.end()  # at full: nobody else is left who could wake it
            await late.wait_for(short)
            assert await desk.due() == {"late"}
            assert (await (await desk.resume(late)).refused(call(limit, cost="0.5"))).why == "reached"

    async def test_a_question_that_was_answered_between_the_refusal_and_the_park_is_not_waited_for(self) -> None:
        async with self.desk() as desk:
            asker, late, limit = await desk.begin("asker"), await desk.begin("late"), task(cost="1")
            await asker.wait_for(await asker.refused(call(limit, cost="2")))
            short = await late.refused(call(limit, cost="3"))
            assert short.asked == asker.turn
            await (await desk.stopped(asker)).end(Ending.STOPPED)
            await late.wait_for(short)
            assert await desk.due() == {"late"}

    async def test_a_raise_wakes_all_who_fit_now(self) -> None:
        async with self.desk() as desk:
            limit = day(cost="1")
            asker = await desk.short("asker", call(limit, cost="2"))
            for name, cost in (("one", "2"), ("two", "2"), ("three", "2")):
                await desk.clock.advance(1)
                await desk.short(name, call(limit, cost=cost))
            assert await desk.due() == set()
            other = await desk.begin("other")
            await other.write(Raised(Scope.DAY, TODAY, amount(0, "5"), OWNER))
            assert await desk.due() == {"asker", "one", "two"}
            await (await desk.resume(asker)).write(call(limit, cost="2"))

    async def test_only_waits_in_the_account_that_came_free_are_over(self) -> None:
        async with self.desk() as desk:
            holder, task_1, task_2 = await desk.begin("holder"), task("t1", cost="1"), task("t2", cost="1")
            n = await holder.write(call(task_1, cost="1"))
            await holder.write(call(task_2, cost="1"))
            await desk.short("one", call(task_1, cost="1"))
            await desk.short("two", call(task_2, cost="1"))
            patient = await desk.begin("patient")
            await patient.park(patient.waits("answer", 0))
            await holder.write(Settled(n, Usage(), "unused"))
            assert await desk.due() == {"one"}

    async def test_who_is_refused_again_keeps_its_place(self) -> None:
        async with self.desk() as desk:
            holder, limit = await desk.begin("holder"), day(cost="1")
            n = await holder.write(call(limit, cost="1"))
            first = await desk.short("first", call(limit, cost="0.7"))
            await desk.clock.advance(1)
            await desk.short("second", call(limit, cost="0.7"))
            await holder.write(Settled(n, Usage(), "unused"))
            assert await desk.due() == {"first"}
            quicker = await holder.write(call(limit, cost="1"))
            await desk.clock.advance(1)
            again = await desk.resume(first)
            await again.wait_for(await again.refused(call(limit, cost="0.7")))
            await holder.write(Settled(quicker, Usage(), "unused"))
            assert await desk.due() == {"first"}

    # -- who asks

    async def test_one_asks_and_the_others_are_told_who(self) -> None:
        async with self.desk() as desk:
            limit = day(cost="1")
            asker = await desk.short("asker", call(limit, cost="2"))
            assert asker.short.asked is None
            for name, cost in (("b", "2"), ("c", None)):
                assert (await desk.short(name, call(limit, cost=cost))).short.asked == asker.turn
            other = await desk.begin("d")
            assert (await other.refused(call(month(cost="1"), cost="2"))).asked is None
            assert (await desk.balance(limit)).waiting == 3
            assert await desk.due() == set()

    async def test_who_asks_is_not_told_of_itself(self) -> None:
        async with self.desk() as desk:
            limit = day(cost="1")
            asker = await desk.short("asker", call(limit, cost="2"))
            again = await desk.stopped(asker)
            assert (await again.refused(call(limit, cost="2"))).asked is None

    async def test_when_the_one_who_asks_about_a_task_ends_the_next_is_woken_to_ask(self) -> None:
        async with self.desk() as desk:
            limit = task(cost="1")
            asker = await desk.short("asker", call(limit, cost="2"))
            waiting = [await desk.short(name, call(limit, cost="2")) for name in ("b", "c")]
            await (await desk.stopped(asker)).end(Ending.STOPPED)
            assert await desk.due() == {"b"}
            again = await desk.resume(waiting[0])
            assert (await again.refused(call(limit, cost="2"))).asked is None

    async def test_when_the_one_who_asked_ends_the_next_may_ask(self) -> None:
        async with self.desk() as desk:
            limit = day(cost="1")
            asker = await desk.short("asker", call(limit, cost="2"))
            await desk.short("b", call(limit, cost="2"))
            await desk.short("c", call(limit, cost="2"))
            await (await desk.stopped(asker)).end(Ending.STOPPED)
            assert await desk.due() == {"b"}
            newcomer = await desk.begin("d")
            assert (await newcomer.refused(call(limit, cost="2"))).asked is None

    async def test_room_that_was_meant_for_one_who_ends_goes_to_the_next(self) -> None:
        async with self.desk() as desk:
            for limit in (day(cost="1"), task(cost="1")):
                holder = await desk.begin(f"holder {limit.scope}")
                n = await holder.write(call(limit, cost="1"))
                first = await desk.short(f"first {limit.scope}", call(limit, cost="0.7"))
                await desk.clock.advance(1)
                second = await desk.short(f"second {limit.scope}", call(limit, cost="0.7"))
                await holder.write(Settled(n, Usage(), "unused"))
                assert await desk.due() == {first.name}
                await (await desk.stopped(first)).end(Ending.STOPPED)
                assert await desk.due() == {second.name}
                await (await desk.resume(second)).end()

    async def test_someone_asks_though_the_first_who_could_have_asked_ends(self) -> None:
        async with self.desk() as desk:
            holder, limit = await desk.begin("holder"), day(cost="1")
            n = await holder.write(call(limit, cost="1"))
            first = await desk.short("first", call(limit, cost="0.7"))
            await desk.clock.advance(1)
            await desk.short("second", call(limit, cost="0.7"))
            await holder.write(Settled(n, Usage(1, cost=Decimal(1)), "measured"))
            assert await desk.due() == {"first"}
            await (await desk.stopped(first)).end(Ending.STOPPED)
            assert await desk.due() == {"second"}

    async def test_room_that_was_meant_for_one_who_meets_another_limit_goes_to_the_next(self) -> None:
        async with self.desk() as desk:
            holder, limit, other = await desk.begin("holder"), task(cost="1"), day(cost="0.5")
            n = await holder.write(call(limit, cost="1"))
            first = await desk.short("first", call(limit, cost="0.7"))
            await desk.clock.advance(1)
            await desk.short("second", call(limit, cost="0.7"))
            await holder.write(Settled(n, Usage(), "unused"))
            assert await desk.due() == {"first"}
            again = await desk.resume(first)
            await again.wait_for(await again.refused(call(limit, other, cost="0.7")))
            assert await desk.due() == {"second"}
            assert [b.waiting for b in await desk.journal.balances(HOME_SPACE, (limit, other))] == [1, 1]

    async def test_who_got_further_without_money_waits_for_it_no_longer(self) -> None:
        others: tuple[StepBody, ...] = (Replied("free", (), "stop"), ModelFailed("", "unavailable", "all away"), Asked(TRY_AGAIN))
        for body in others:
            async with self.desk() as desk:
                holder, limit = await desk.begin("holder"), day(cost="1")
                n = await holder.write(call(limit, cost="1"))
                first = await desk.short("first", call(limit, cost="0.7"))
                await desk.clock.advance(1)
                await desk.short("second", call(limit, cost="0.7"))
                await holder.write(Settled(n, Usage(), "unused"))
                again = await desk.resume(first)
                await again.park(again.waits("answer", again.n), body)
                assert await desk.due() == {"second"}  # and what the first waits for now is not over
                assert (await desk.balance(limit)).waiting == 1

    # -- other limits, other prices

    async def test_limits_that_did_not_change_wake_nobody(self) -> None:
        async with self.desk() as desk:
            await desk.short("a", call(day(tokens=1_000, cost="1"), cost="2"))
            await desk.journal.reconsider({Scope.DAY: Limit(1_000, Decimal("1.00")), Scope.MONTH: Limit(5)}, MODELS)
            assert await desk.due() == set()
            await desk.journal.reconsider({Scope.DAY: Limit(1_001, Decimal(1))}, MODELS)
            assert await desk.due() == {"a"}

    async def test_a_limit_that_changed_or_went_wakes_all_who_met_it(self) -> None:
        for limits in ({Scope.DAY: Limit(cost=Decimal(5))}, {}, {Scope.DAY: Limit(tokens=5)}):
            async with self.desk() as desk:
                await desk.short("a", call(day(cost="1"), cost="2"))
                await desk.short("b", call(day(cost="1"), cost="2"))
                await desk.short("c", call(task(cost="1"), cost="2"))
                await desk.journal.reconsider({Scope.TURN: Limit(cost=Decimal(1)), **limits}, MODELS)
                assert await desk.due() == {"a", "b"}

    async def test_raises_are_no_change_of_the_limit(self) -> None:
        async with self.desk() as desk:
            pen = await desk.begin("owner")
            await pen.write(Raised(Scope.DAY, TODAY, amount(10, "0.5"), OWNER))
            await desk.short("a", call(day(tokens=1_000, cost="1"), cost="2"))
            await pen.write(Raised(Scope.DAY, TODAY, amount(10, "0.1"), OWNER))
            await desk.journal.reconsider({Scope.DAY: Limit(1_000, Decimal(1))}, MODELS)
            assert await desk.due() == set()

    async def test_whose_price_nobody_knew_looks_again_at_any_change(self) -> None:
        async with self.desk() as desk:
            asker = await desk.short("asker", call(day(cost="1"), cost=None))
            assert asker.short.why == "unknown_price"
            await desk.journal.reconsider({Scope.DAY: Limit(cost=Decimal(1))}, MODELS)
            assert await desk.due() == {"asker"}

    # -- what was spent

    async def test_spending_is_grouped_by_anything_that_calls_have_in_common(self) -> None:
        async with self.desk() as desk:
            parent = await desk.begin("main")
            child = await desk.begin("helper", parent=StepRef(parent.turn, 0), agent=AgentId("scout"))
            robot = await desk.begin("robot", Heartbeat("read-feed"))
            for pen, model, cost in ((parent, "big", "1"), (child, "small", "0.2"), (robot, "big", "0.4")):
                await pen.spend(replace(call(cost=cost), model=model), Usage(10, 5, 4, 3, Decimal(cost)))
            await robot.write(replace(call(cost="9"), model="small"))
            assert {row.key: (row.calls, row.cost) for row in await desk.journal.spending(HOME_SPACE, "model")} == {
                "big": (2, Decimal("1.4")), "small": (2, Decimal("0.2")),
            }  # fmt: skip
            expected: dict[Grouping, dict[str, str]] = {
                "day": {TODAY: "1.6"}, "month": {MONTH: "1.6"}, "job": {"chat": "1.2", "read-feed": "0.4"},
                "agent": {SELF: "1.4", "scout": "0.2"}, "turn": {parent.turn: "1.2", robot.turn: "0.4"},
                "conversation": {"main": "1", "robot": "0.4", "helper": "0.2"}, "person": {OWNER: "1.6"},
            }  # fmt: skip
            for by, costs in expected.items():
                rows = await desk.journal.spending(HOME_SPACE, by)
                assert [(row.key, row.cost) for row in rows] == [(key, Decimal(cost)) for key, cost in costs.items()], by
            assert (await desk.spending("job"))["read-feed"] == Spending(
                key="read-feed", calls=2, input_tokens=10, cached_tokens=4, cache_write_tokens=3, output_tokens=5, cost=Decimal("0.4"),
                assumed=NOTHING, unpriced=0, under_way=1, held=Decimal(9),
            )  # fmt: skip

    async def test_the_dearest_come_first_but_days_and_months_in_order(self) -> None:
        async with self.desk() as desk:
            spent = (("a", "2026-03-02", "1"), ("b", "2026-02-28", "3"), ("c", "2026-03-01", "2"), ("d", "2026-02-27", "2"))
            for name, date, cost in spent:
                pen = await desk.begin(name)
                await pen.spend(call(Account(Scope.DAY, date), Account(Scope.MONTH, date[:7]), cost=cost), Usage(1, cost=Decimal(cost)))
            by_day, by_month, dearest = [
                [row.key for row in await desk.journal.spending(HOME_SPACE, by)] for by in ("day", "month", "conversation")
            ]
            assert by_day == ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]
            assert by_month == ["2026-02", "2026-03"]
            assert dearest == ["b", "c", "d", "a"]

    async def test_spending_is_told_from_one_day_to_another_both_included(self) -> None:
        async with self.desk() as desk:
            days = [f"2026-0{month}-0{day}" for month in (2, 3) for day in (1, 2, 3)]
            pen = await desk.begin("a")
            for i, date in enumerate(days):
                cost = Decimal(10**i)
                await pen.spend(call(Account(Scope.DAY, date), Account(Scope.MONTH, date[:7]), cost=str(cost)), Usage(1, cost=cost))
            for since, until, total in (
                ("", "", 111_111), ("2026-02-02", "", 111_110), ("", "2026-03-01", 1_111), ("2026-02-02", "2026-03-02", 11_110),
                ("2026-02-03", "2026-02-03", 100), ("2026-02-04", "2026-02-28", 0), ("2026-03-02", "2026-02-02", 0),
            ):  # fmt: skip
                for by in ("day", "month", "job", "agent", "model", "conversation", "turn"):
                    rows = await desk.journal.spending(HOME_SPACE, by, since, until)
                    assert sum(row.cost for row in rows) == total, (by, since, until)

    async def test_billionths_and_millions_are_counted_exactly(self) -> None:
        async with self.desk() as desk:
            pen, least, most = await desk.begin("a"), Decimal("0.000000001"), Decimal(1_000_000)
            await pen.spend(call(cost=str(most), tokens=10**9), Usage(10**9, cost=most))
            for _ in range(7):
                await pen.spend(call(cost="0.1"), Usage(1, cost=least))
            for _ in range(3):
                await pen.spend(call(cost="0.1"), Usage(1, cost=Decimal("0.1")))
            total = most + 7 * least + Decimal("0.3")
            assert (await desk.balance(day())).spent == Amount(10**9 + 10, total)
            assert (await desk.spending("day"))[TODAY].cost == total
            limit = day(cost=str(total + least))
            await pen.refused(call(limit, cost="0.000000002"))
            await pen.write(call(limit, cost="0.000000001"))

    async def test_less_than_a_billionth_is_rounded_against_us(self) -> None:
        async with self.desk() as desk:
            pen = await desk.begin("a")
            await pen.spend(call(cost="0.00000000001"), Usage(1, cost=Decimal("0.0000000010000001")))
            await pen.write(call(cost="0.0000000000001"))
            balance = await desk.balance(day())
            assert (balance.spent.cost, balance.held.cost) == (Decimal("0.000000002"), Decimal("0.000000001"))

    async def test_an_erased_turn_still_cost_what_it_cost(self) -> None:
        async with self.desk() as desk:
            pen = await desk.begin("a")
            await pen.spend(call(cost="2"), Usage(7, 3, cost=Decimal("0.3")))
            await pen.end()
            before = await desk.spending("turn")
            await desk.journal.erase_turn(pen.turn, "the owner asked")
            assert await desk.spending("turn") == before
            assert (await desk.balance(day())).spent == amount(10, "0.3")


# -- turns that need money -----------------------------------------------------------------------------------------------


def amount(tokens: int, cost: str) -> Amount:
    return Amount(tokens, Decimal(cost))


def task(key: str = "task", tokens: int | None = None, cost: str | None = None) -> Account:
    return Account(Scope.TURN, key, Limit(tokens, None if cost is None else Decimal(cost)))


def day(tokens: int | None = None, cost: str | None = None) -> Account:
    return Account(Scope.DAY, TODAY, Limit(tokens, None if cost is None else Decimal(cost)))


def month(tokens: int | None = None, cost: str | None = None) -> Account:
    return Account(Scope.MONTH, MONTH, Limit(tokens, None if cost is None else Decimal(cost)))


def call(*accounts: Account, tokens: int = 100, cost: str | None = "0.1") -> Reserved:
    """A reservation in these accounts, and in those of the day and the month in any case."""
    named = {account.scope for account in accounts}
    others = tuple(account for account in (day(), month()) if account.scope not in named)
    price = None if cost is None else Decimal(cost)
    return Reserved("m", "p", tokens // 2, tokens - tokens // 2, price, "test", (*accounts, *others))


@dataclass(frozen=True, slots=True)
class Desk:
    """A journal and its time. Every turn has a conversation of its own."""

    journal: LedgerJournal
    clock: ManualClock

    async def begin(self, name: str, body: Body | None = None, parent: StepRef | None = None, agent: AgentId = SELF) -> "Pen":
        now = self.clock.now()
        event = Event(
            id=EventId(f"e-{name}-{now}"), source="test", key=Key(f"{name}-{now}"), conversation=name, principal=OWNER, agent=agent,
            body=body or Said((Text(name),)), label=owned("test"), occurred_at=now, received_at=now, parent=parent,
        )  # fmt: skip
        await self.journal.accept(event)
        return await self.claimed(event.where)

    async def claimed(self, where: Conversation) -> "Pen":
        claim = await self.journal.claim(where, "w", TTL_S, Pins())
        assert isinstance(claim, Claim), claim
        return Pen(self.journal, self.clock, claim, len(claim.steps))

    async def short(self, name: str, reserved: Reserved) -> "Waiting":
        """A new turn that finds no room for this call and waits."""
        pen = await self.begin(name)
        return await pen.wait_for(await pen.refused(reserved))

    async def resume(self, waiting: "Waiting | Pen") -> "Pen":
        """It is due: somebody claims it and takes in why."""
        assert waiting.name in await self.due()
        pen = await self.claimed(Conversation(HOME_SPACE, waiting.name))
        assert pen.turn == waiting.turn
        for event in pen.claim.arrived:
            assert event.resolves is not None
            await pen.write(Received(event.id, event.resolves.n))
        return pen

    async def stopped(self, waiting: "Waiting | Pen") -> "Pen":
        """Somebody claims it for another reason than money."""
        now, where = self.clock.now(), Conversation(HOME_SPACE, waiting.name)
        stop = Event(
            id=EventId(f"stop-{waiting.turn}"), source="test", key=Key(f"stop-{waiting.turn}"), conversation=where.name, principal=OWNER,
            body=Stop(waiting.turn), label=owned("test"), occurred_at=now, received_at=now,
        )  # fmt: skip
        await self.journal.accept(stop)
        return await self.claimed(where)

    async def due(self) -> set[str]:
        """Conversations with something to do that nobody does."""
        return {conversation.name for conversation in (await self.journal.due(self.clock.now(), MANY)).conversations}

    async def balance(self, account: Account) -> Balance:
        (balance,) = await self.journal.balances(HOME_SPACE, (account,))
        return balance

    async def spending(self, by: Grouping) -> dict[str, Spending]:
        return {row.key: row for row in await self.journal.spending(HOME_SPACE, by)}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A turn that parked because it was refused."""

    name: str
    turn: TurnId
    short: Short


@dataclass(slots=True)
class Pen:
    """Whoever holds a turn, with its next number."""

    journal: LedgerJournal
    clock: ManualClock
    claim: Claim
    n: int

    @property
    def name(self) -> str:
        return self.claim.conversation.name

    @property
    def turn(self) -> TurnId:
        return self.claim.turn.id

    def steps(self, bodies: Sequence[StepBody]) -> list[Step]:
        turn: Turn = self.claim.turn
        return [
            Step(
                turn=turn.id, n=self.n + i, body=body, at=self.clock.now(), space=turn.space, principal=turn.principal, agent=turn.agent,
                label=owned("test"),
            )
            for i, body in enumerate(bodies)
        ]  # fmt: skip

    async def write(self, *bodies: StepBody, blobs: Sequence[Blob] = ()) -> int:
        """The number of the last one."""
        await self.journal.record(self.claim, self.steps(bodies), blobs)
        self.n += len(bodies)
        return self.n - 1

    async def spend(self, reserved: Reserved, usage: Usage) -> None:
        n = await self.write(reserved)
        await self.write(Settled(n, usage, "measured"))

    async def refused(self, *bodies: StepBody, blobs: Sequence[Blob] = ()) -> Short:
        try:
            await self.journal.record(self.claim, self.steps(bodies), blobs)
        except OverBudget as over:
            return over.short
        raise AssertionError("there was room for it")

    def waits(self, on: Literal["answer", "money"], n: int, until: datetime | None = None) -> Parked:
        return Parked((Wait(on, StepRef(self.turn, n), until),))

    async def wait_for(self, short: Short) -> Waiting:
        """Whoever met a limit for good asks, unless somebody does."""
        if short.why != "held" and short.asked is None:
            question = Question("May I?", ("wait", "raise", "stop"), "money")
            await self.park(self.waits("answer", self.n + 1, short.account.until), short, Asked(question))
        else:
            await self.park(self.waits("money", self.n, short.account.until), short)
        return Waiting(self.name, self.turn, short)

    async def park(self, rest: Parked, *bodies: StepBody) -> None:
        await self.journal.finish(self.claim, self.steps(bodies), rest)

    async def end(self, ending: Ending = Ending.ANSWERED) -> None:
        await self.journal.finish(self.claim, [], replace(DONE, ending=ending))
