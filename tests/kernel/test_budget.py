"""Money: reserved before a call, settled after it, and what happens at a limit."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

import pytest
from tests.kernel.rig import Rig, Tool, kernel, kinds
from tests.kernel.test_recovery import journal_at

from daimon.abi.errors import ProviderFailed
from daimon.abi.event import Address, Answer, Fired, Heartbeat
from daimon.abi.ids import HOME_SPACE, SELF, AgentId, PrincipalId, TimerId
from daimon.abi.message import Text
from daimon.abi.model import Delta, Profile, Reply, Request
from daimon.abi.money import FREE, Account, Amount, FixedPrice, Limit, Price, Scope, Usage, worst
from daimon.abi.ports import Spending
from daimon.abi.step import Asked, ModelFailed, Raised, Reserved, Settled, Short, Step
from daimon.abi.tool import Call, Pending, Post, Send
from daimon.abi.turn import Ending, State, Turn
from daimon.kernel.asking import PATIENCE
from daimon.kernel.budget import Budget, raise_by
from daimon.kernel.questions import open_questions
from daimon.kernel.wall import OWNERS_DESK
from daimon.models.reflex import Reflex
from daimon.testing.clock import ManualClock
from daimon.testing.model import Line, ScriptedModel, calls

T = TypeVar("T")
BOB = PrincipalId("bob")
PRICE = FixedPrice(Decimal(1), Decimal(100))
USED = Usage(1_000, 100, cost=Decimal("0.011"))
SHORT = Short(
    "paid",
    Account(Scope.DAY, "2026-03-02", Limit(cost=Decimal(1))),
    Amount(0, Decimal("0.99")),
    Amount(),
    Amount(10, Decimal("0.1")),
    "reached",
)
OUTPUT = 1_000
"""So many tokens of output are reserved: ten cents."""


def paid(text: str = "done", usage: Usage | None = USED) -> Reply:
    return Reply((Text(text),), "paid", usage=usage)


def model(*lines: Line, price: Price | None = PRICE, name: str = "paid") -> ScriptedModel:
    return ScriptedModel(lines, name, Profile(provider=name, price=price, max_output_tokens=OUTPUT))


def budget(**costs: str) -> Budget:
    return Budget({Scope(scope): Limit(cost=Decimal(cost)) for scope, cost in costs.items()}, UTC)


def of(steps: tuple[Step, ...], kind: type[T]) -> list[T]:
    return [step.body for step in steps if isinstance(step.body, kind)]


def question(steps: tuple[Step, ...]) -> Step:
    return [step for step in steps if isinstance(step.body, Asked)][-1]


async def spent(rig: Rig) -> Spending:
    (row,) = await rig.journal.spending(HOME_SPACE, "model")
    found: Spending = row
    return found


# -- before and after a call


async def test_a_call_is_reserved_before_it_and_settled_after_it() -> None:
    async with kernel(model=model(paid())) as rig:
        turn, steps = await rig.ask("hi")
        assert kinds(steps) == ["decision", "route", "reserve", "settle", "reply", "decision"]
        (reserved,), (settled,) = of(steps, Reserved), of(steps, Settled)
        assert reserved.cost == worst(PRICE, reserved.input_tokens, OUTPUT).cost
        assert (settled.reservation, settled.usage, settled.how) == (2, USED, "measured")
        assert (turn.ending, (await spent(rig)).cost) == (Ending.ANSWERED, Decimal("0.011"))


async def test_the_reservation_is_on_disk_before_the_model_is_asked() -> None:
    held: list[Decimal] = []

    class Looking(ScriptedModel):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            held.append((await spent(rig)).held)
            yield paid()

    looking = Looking(profile=Profile(provider="p", price=PRICE, max_output_tokens=OUTPUT))
    async with kernel(model=looking) as rig:
        await rig.ask("hi")
        assert held[0] > Decimal("0.1")
        assert (await spent(rig)).held == 0


async def test_a_call_is_charged_to_the_task_conversation_agent_day_and_month() -> None:
    async with kernel(model=model(paid()), clock=ManualClock()) as rig:
        turn, steps = await rig.ask("hi")
        (reserved,) = of(steps, Reserved)
        assert [(account.scope, account.key) for account in reserved.accounts] == [
            (Scope.TURN, turn.id), (Scope.CONVERSATION, "main 2026-03-02"), (Scope.AGENT, f"{SELF} 2026-03-02"),
            (Scope.DAY, "2026-03-02"), (Scope.MONTH, "2026-03"),
        ]  # fmt: skip


async def test_what_starts_by_itself_is_charged_to_its_job() -> None:
    async with kernel(model=model(paid()), clock=ManualClock()) as rig:
        turn = await rig.rested(await rig.send(Heartbeat("read-feed")))
        (reserved,) = of(await rig.journal.steps(turn.id), Reserved)
        assert (Scope.JOB, "read-feed 2026-03-02") in [(account.scope, account.key) for account in reserved.accounts]
        assert [row.key for row in await rig.journal.spending(HOME_SPACE, "job")] == ["read-feed"]


async def test_days_are_the_owners_own() -> None:
    tokyo = Budget({}, ZoneInfo("Asia/Tokyo"))
    day, month = tokyo.shared(datetime(2026, 12, 31, 15, 0, tzinfo=UTC))
    assert (day.key, month.key) == ("2027-01-01", "2027-01")
    assert (day.until, month.until) == (datetime(2027, 1, 1, 15, tzinfo=UTC), datetime(2027, 1, 31, 15, tzinfo=UTC))


async def test_a_call_that_its_provider_refused_costs_nothing() -> None:
    refused = ProviderFailed("rate", "slow down", was_sent=False, retry_after_s=0.01)
    async with kernel(model=model(refused, paid())) as rig:
        _turn, steps = await rig.ask("hi")
        assert [settled.how for settled in of(steps, Settled)] == ["unused", "measured"]
        assert (await spent(rig)).cost == Decimal("0.011")


async def test_a_call_that_broke_off_counts_as_all_that_was_reserved() -> None:
    async with kernel(model=model(ProviderFailed("cut", "gone"), paid())) as rig:
        _turn, steps = await rig.ask("hi")
        reserved, settled = of(steps, Reserved)[0], of(steps, Settled)[0]
        assert (settled.how, settled.usage.cost) == ("assumed", reserved.cost)
        assert (await spent(rig)).assumed == reserved.cost


async def test_a_reply_without_usage_counts_as_all_that_was_reserved() -> None:
    async with kernel(model=model(paid(usage=None))) as rig:
        _turn, steps = await rig.ask("hi")
        assert [settled.how for settled in of(steps, Settled)] == ["assumed"]


async def test_a_call_in_flight_at_a_crash_is_settled_at_its_full_reservation(tmp_path: Path) -> None:
    class Dying(ScriptedModel):
        begun = asyncio.Event()

        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            yield Delta("half")
            self.begun.set()
            await asyncio.Event().wait()

    dying = Dying(name="paid", profile=Profile(provider="paid", price=PRICE, max_output_tokens=OUTPUT))
    async with journal_at(tmp_path / "j.db") as journal, kernel(model=dying, journal=journal) as rig:
        event = await rig.say("hi")
        await asyncio.wait_for(Dying.begun.wait(), 60)
    async with journal_at(tmp_path / "j.db") as journal, kernel(model=model(paid()), journal=journal) as rig:
        turn = await rig.rested(event)
        steps = await journal.steps(turn.id)
        first, second = of(steps, Settled)
        assert (first.how, first.usage.cost, second.how) == ("assumed", of(steps, Reserved)[0].cost, "measured")
        row = await spent(rig)
        assert (row.cost, row.held, row.under_way) == (first.usage.cost + USED.cost, 0, 0)  # type: ignore[operator]


async def test_a_turn_that_is_stopped_in_a_call_settles_it_and_keeps_what_was_said() -> None:
    class Endless(ScriptedModel):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            yield Delta("so far")
            begun.set()
            await asyncio.Event().wait()

    begun = asyncio.Event()
    async with kernel(model=Endless(profile=Profile(provider="p", price=PRICE, max_output_tokens=OUTPUT))) as rig:
        event = await rig.say("hi")
        await asyncio.wait_for(begun.wait(), 60)
        turn = await rig.journal.turn_of(event.id)
        await rig.stop(turn.id)
        turn = await rig.ended(turn)
        steps = await rig.journal.steps(turn.id)
        assert turn.ending is Ending.STOPPED
        assert [(f.code, f.partial) for f in of(steps, ModelFailed)] == [("stopped", "so far")]
        assert [s.how for s in of(steps, Settled)] == ["assumed"]


async def test_a_free_model_is_counted_in_tokens() -> None:
    async with kernel(model=model(paid(usage=Usage(500, 20)), price=FREE), budget=budget(day="0.01"), clock=ManualClock()) as rig:
        await rig.ask("hi")
        row = await spent(rig)
        assert (row.input_tokens, row.output_tokens, row.cost, row.unpriced) == (500, 20, 0, 0)


# -- at a limit


async def test_at_a_limit_the_turn_parks_the_owner_is_told_and_a_raise_resumes_it() -> None:
    async with kernel(model=model(paid("never lost")), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        turn, steps = await rig.ask("hi")
        assert turn.state is State.PARKED
        (short,) = of(steps, Short)
        assert (short.why, short.account.scope, rig.model.requests) == ("reached", Scope.DAY, [])  # type: ignore[attr-defined]
        told = (await rig.spoken(1))[0]
        assert "budget.day" in told
        assert "$0.05" in told
        assert "The limit is below the cost of one call" in told
        await rig.answer(question(steps).ref, "raise")
        turn = await rig.ended(turn)
        steps = await rig.journal.steps(turn.id)
        assert turn.ending is Ending.ANSWERED
        assert [(r.scope, r.more) for r in of(steps, Raised)] == [(Scope.DAY, raise_by(short, ""))]
        assert (await rig.spoken(2))[-1] == "never lost"


async def test_the_owner_may_name_the_amount() -> None:
    async with kernel(model=model(paid()), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        turn, steps = await rig.ask("hi")
        await rig.send(Answer("raise", "2.50 dollars"), resolves=question(steps).ref)
        turn = await rig.ended(turn)
        assert [r.more for r in of(await rig.journal.steps(turn.id), Raised)] == [Amount(0, Decimal("2.50"))]


async def test_only_the_owner_may_raise_a_limit() -> None:
    guest = PrincipalId("guest")
    async with kernel(model=model(paid()), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        turn = await rig.rested(await rig.say("hi", principal=guest))
        asked = question(await rig.journal.steps(turn.id))
        await rig.answer(asked.ref, "raise", principal=guest)
        await rig.until(lambda: _received(rig, turn, 1))
        turn = await rig.rested(await rig.journal.event(turn.event))
        assert turn.state is State.PARKED
        assert not of(await rig.journal.steps(turn.id), Raised)


async def test_a_guest_spends_what_is_theirs_and_not_the_owners_day() -> None:
    async with kernel(model=model(paid("one"), paid("for the owner")), budget=budget(person="0.105", day="5"), clock=ManualClock()) as rig:
        for _ in range(3):  # the first fits, the second asks, the third waits behind the question
            await rig.rested(await rig.say("hi", principal=BOB))
        first, second, third = sorted(await rig.journal.turns(HOME_SPACE, 9), key=lambda turn: turn.id)
        assert [turn.state for turn in (first, second, third)] == [State.DONE, State.PARKED, State.PARKED]
        asked = question(await rig.journal.steps(second.id)).body
        assert isinstance(asked, Asked)
        assert asked.question.text.startswith("The limit for bob today (budget.person) is $0.10; $0.01 is spent")
        assert not of(await rig.journal.steps(third.id), Asked)
        turn = await rig.rested(await rig.say("and me?", conversation="mine"))
        assert turn.state is State.DONE
        to_owner, to_guest = asked.operations
        assert isinstance(to_owner, Send)
        assert (to_owner.to, to_guest) == (OWNERS_DESK, Send(Address("fake", "main"), (Text(PATIENCE),)))
        assert "$" not in PATIENCE


async def test_the_owner_raises_what_a_guest_may_cost_and_all_who_wait_go_on() -> None:
    async with kernel(model=model(*[paid()] * 3), budget=budget(person="0.105"), clock=ManualClock()) as rig:
        said = [await rig.say("hi", principal=BOB) for _ in range(3)]
        _, second, third = [await rig.rested(each) for each in said]
        await rig.answer(question(await rig.journal.steps(second.id)).ref, "raise 1")
        assert [(await rig.ended(turn)).ending for turn in (second, third)] == [Ending.ANSWERED] * 2


async def test_what_runs_by_itself_for_others_has_the_limit_of_its_job_alone() -> None:
    async with kernel(model=model(paid()), budget=budget(person="0.01", day="5")) as rig:
        turn = await rig.rested(await rig.send(Heartbeat("brief"), principal=BOB))
        assert turn.state is State.DONE
        (reserved,) = of(await rig.journal.steps(turn.id), Reserved)
        assert Scope.PERSON not in {account.scope for account in reserved.accounts}


async def _received(rig: Rig, turn: Turn, number: int) -> bool:
    return kinds(await rig.journal.steps(turn.id)).count("received") >= number


async def test_stop_ends_the_turn() -> None:
    async with kernel(model=model(paid()), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        turn, steps = await rig.ask("hi")
        await rig.answer(question(steps).ref, "stop")
        assert (await rig.ended(turn)).ending is Ending.STOPPED


@pytest.mark.parametrize("answered", [False, True], ids=["nobody answers", "the owner says wait"])
async def test_a_new_day_brings_it_back_by_itself(answered: bool) -> None:
    clock = ManualClock()
    async with kernel(model=model(paid()), budget=Budget(_room_for_one(), UTC), clock=clock) as rig:
        turn, _ = await rig.ask("one")
        assert turn.ending is Ending.ANSWERED
        turn, steps = await rig.ask("two")
        assert turn.state is State.PARKED
        if answered:
            await rig.answer(question(steps).ref, "wait")
            await rig.until(lambda: _received(rig, turn, 1))
        for _ in range(16):
            await clock.advance(timedelta(hours=1).total_seconds())
        assert (await rig.ended(turn)).ending is Ending.ANSWERED


def _room_for_one() -> Mapping[Scope, Limit]:
    return {Scope.DAY: Limit(cost=Decimal("0.109"))}


async def test_who_meets_the_same_limit_waits_quietly_and_a_raise_brings_all_back() -> None:
    async with kernel(model=model(*[paid()] * 9), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        first = await rig.rested(await rig.say("hi", "c0"))
        others = [await rig.rested(await rig.say("hi", f"c{n}")) for n in range(1, 6)]
        assert len(await open_questions(rig.journal, HOME_SPACE)) == 1
        for other in others:
            (short,) = of(await rig.journal.steps(other.id), Short)
            assert short.asked == first.id
        asked = question(await rig.journal.steps(first.id))
        await rig.answer_at("c0", asked.ref, "raise", "5")
        for turn in (first, *others):
            assert (await rig.ended(turn)).ending is Ending.ANSWERED


async def test_money_that_others_hold_is_waited_for_without_a_question() -> None:
    class Slow(ScriptedModel):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            await gate.wait()
            yield paid()

    gate = asyncio.Event()
    slow = Slow(name="paid", profile=Profile(provider="paid", price=PRICE, max_output_tokens=OUTPUT))
    async with kernel(model=slow, budget=budget(day="0.125"), clock=ManualClock()) as rig:
        first = await rig.say("hi", "c1")
        await rig.until(lambda: _is_held(rig))
        second = await rig.rested(await rig.say("hi", "c2"))
        assert [s.why for s in of(await rig.journal.steps(second.id), Short)] == ["held"]
        gate.set()
        assert (await rig.rested(first)).ending is Ending.ANSWERED
        assert (await rig.ended(second)).ending is Ending.ANSWERED
        assert not of(await rig.journal.steps(second.id), Asked)


async def _is_held(rig: Rig) -> bool:
    rows = await rig.journal.spending(HOME_SPACE, "model")
    return bool(rows) and rows[0].under_way == 1


async def test_what_a_turn_starts_is_charged_to_its_task() -> None:
    async def delegate(arguments: Mapping[str, object], call: Call) -> Pending:
        return Pending(call.key, operations=(Post(SELF, "helper", (Text("do it"),)),))

    script = [
        Reply(calls(("delegate", {"text": "x"})).parts, "paid", "tools", USED),
        paid("from the child"), paid("from the parent"),
    ]  # fmt: skip
    async with kernel(model=model(*script), tools=[Tool("delegate", behaviour=delegate)]) as rig:
        turn = await rig.ended(await rig.rested(await rig.say("go")))
        (row,) = await rig.journal.spending(HOME_SPACE, "turn")
        assert (row.key, row.calls) == (turn.id, 3)


async def test_a_task_cannot_get_round_its_limit_by_handing_work_on() -> None:
    async def delegate(arguments: Mapping[str, object], call: Call) -> Pending:
        return Pending(call.key, operations=(Post(SELF, "helper", (Text("do it"),)),))

    dear = Usage(1_000, 900, cost=Decimal("0.091"))
    script = [Reply(calls(("delegate", {"text": "x"})).parts, "paid", "tools", dear), paid(), paid()]
    async with kernel(model=model(*script), tools=[Tool("delegate", behaviour=delegate)], budget=budget(turn="0.15")) as rig:
        turn = await rig.rested(await rig.say("go"))
        await rig.until(lambda: _asks(rig))
        (asked,) = await open_questions(rig.journal, HOME_SPACE)
        assert (asked.conversation, "this task" in asked.question.text) == ("helper", True)
        await rig.answer_at("helper", asked.to, "raise", "1")
        assert (await rig.ended(turn)).ending is Ending.ANSWERED


async def _asks(rig: Rig) -> bool:
    return bool(await open_questions(rig.journal, HOME_SPACE))


async def test_a_changed_limit_brings_waiting_turns_back() -> None:
    async with kernel(model=model(paid()), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        turn, _ = await rig.ask("hi")
        assert turn.state is State.PARKED
        rig.brain.budget = budget(day="5")
        await rig.journal.reconsider(rig.brain.budget.limits, ["paid"])
        rig.scheduler.poke()
        assert (await rig.ended(turn)).ending is Ending.ANSWERED


async def test_tokens_are_limited_as_money_is() -> None:
    limits = Budget({Scope.DAY: Limit(tokens=100)}, UTC)
    async with kernel(model=model(paid(), price=None), budget=limits) as rig:
        turn, steps = await rig.ask("hi")
        assert [s.why for s in of(steps, Short)] == ["reached"]
        assert "100 tokens" in (await rig.spoken(1))[0]
        await rig.answer(question(steps).ref, "raise")
        assert (await rig.ended(turn)).ending is Ending.ANSWERED


# -- unknown prices


async def test_an_unknown_price_is_asked_about_where_money_is_limited() -> None:
    async with kernel(model=model(paid(usage=Usage(10, 10, cost=None)), price=None), budget=budget(day="5"), clock=ManualClock()) as rig:
        turn, steps = await rig.ask("hi")
        assert [s.why for s in of(steps, Short)] == ["unknown_price"]
        assert "daimon model price" in (await rig.spoken(1))[0]
        await rig.answer(question(steps).ref, "allow")
        assert (await rig.ended(turn)).ending is Ending.ANSWERED
        row = await spent(rig)
        assert (row.unpriced, row.cost) == (1, 0)


@pytest.mark.parametrize("limits", [Budget({}, UTC), Budget({Scope.DAY: Limit(cost=Decimal(5))}, UTC, allows_unknown=True)])
async def test_an_unknown_price_is_no_hindrance_where_nobody_minds(limits: Budget) -> None:
    async with kernel(model=model(paid(usage=Usage(10, 10, cost=None)), price=None), budget=limits) as rig:
        turn, _ = await rig.ask("hi")
        assert turn.ending is Ending.ANSWERED


# -- words of the owner


@pytest.mark.parametrize("text", ["5", "$2.50", "0.5", "1,000", "12 dollars", "3 usd", " 7 "])
def test_a_clear_amount_is_taken(text: str) -> None:
    more = raise_by(SHORT, text)
    assert more is not None
    assert more.cost == Decimal(text.strip().strip("$").split()[0].replace(",", ""))


@pytest.mark.parametrize("text", ["5,50", ".5", "50 cents", "a lot", "-3", "5 or 6", "1e9", "99999999999", "0", "٣"])
def test_what_could_mean_something_else_is_not(text: str) -> None:
    assert raise_by(SHORT, text) is None


async def test_an_amount_that_is_none_raises_nothing_and_is_asked_about_again() -> None:
    async with kernel(model=model(paid()), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        turn, steps = await rig.ask("hi")
        await rig.send(Answer("raise", "5,50"), resolves=question(steps).ref)
        await rig.spoken(2)
        steps = await rig.journal.steps(turn.id)
        assert len(of(steps, Asked)) == 2
        assert not of(steps, Raised)


# -- nobody gets round it


@pytest.mark.parametrize(
    "usage",
    [
        Usage(10, 10, cost=Decimal(-100)),
        Usage(10, 10, cost=Decimal("NaN")),
        Usage(10, 10, cost=Decimal(10**12)),
        Usage(-5, 10),
        Usage(10**15),
    ],
)
async def test_a_usage_that_cannot_be_counts_as_all_that_was_reserved(usage: Usage) -> None:
    async with kernel(model=model(paid(usage=usage))) as rig:
        turn, steps = await rig.ask("hi")
        assert turn.ending is Ending.ANSWERED
        (reserved,), (settled,) = of(steps, Reserved), of(steps, Settled)
        assert (settled.how, settled.usage.cost) == ("assumed", reserved.cost)
        assert (await spent(rig)).cost == reserved.cost


async def test_a_child_is_charged_where_its_task_began() -> None:
    async def delegate(arguments: Mapping[str, object], call: Call) -> Pending:
        return Pending(call.key, operations=(Post(AgentId("helper"), "elsewhere", (Text("do it"),)),))

    script = [Reply(calls(("delegate", {"text": "x"})).parts, "paid", "tools", USED), paid("child"), paid("parent")]
    clock = ManualClock()
    async with kernel(model=model(*script), tools=[Tool("delegate", behaviour=delegate)], clock=clock) as rig:
        turn = await rig.ended(await rig.rested(await rig.say("go")))
        (child,) = [t for t in await rig.journal.turns(HOME_SPACE, 10) if t.id != turn.id]
        assert (child.origin, child.origin_agent) == ("main", SELF)
        (reserved,) = of(await rig.journal.steps(child.id), Reserved)
        keys = {(account.scope, account.key) for account in reserved.accounts}
        assert {(Scope.CONVERSATION, "main 2026-03-02"), (Scope.CONVERSATION, "elsewhere 2026-03-02")} <= keys
        assert {(Scope.AGENT, f"{SELF} 2026-03-02"), (Scope.AGENT, "helper 2026-03-02")} <= keys


async def test_calls_that_are_paid_for_nothing_are_the_owners_business_after_a_few() -> None:
    lost = ProviderFailed("timeout", "silence")
    clock = ManualClock()
    async with kernel(model=model(*[lost] * 50), clock=clock) as rig:
        event = await rig.say("hi")

        async def waits_for_the_owner() -> bool:
            await clock.advance(5)
            asked = await open_questions(rig.journal, HOME_SPACE)
            return any("5 attempts in a row failed" in each.question.text for each in asked)

        await rig.until(waits_for_the_owner)
        turn = await rig.journal.turn_of(event.id)
        assert len(of(await rig.journal.steps(turn.id), Reserved)) == 5


async def test_a_call_that_did_not_fit_leaves_the_provider_free_for_others() -> None:
    async with kernel(model=model(paid()), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        await rig.ask("hi")
        heard: list[str] = []
        rig.brain.router.heard = lambda choice, failed: heard.append(failed.reason)  # type: ignore[method-assign, union-attr, misc]
        turn, _ = await rig.ask("again")
        assert (turn.state, heard) == (State.PARKED, ["unused"])


async def test_a_reminder_is_said_whatever_is_left_of_the_budget() -> None:
    async with kernel(model=Reflex(is_alone=False), others=(model(paid()),), budget=budget(day="0.05"), clock=ManualClock()) as rig:
        fired = await rig.send(Fired(TimerId("t1"), "stand up", rig.clock.now()))
        turn = await rig.rested(fired)
        assert turn.ending is Ending.ANSWERED
        assert await rig.spoken(1) == ["Reminder: stand up."]
