"""A planned step is there once, whatever became of its call: through crashes, without an answer. A call that never ran spends nothing."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.kernel.errands import BOB, BOBS_ACCOUNT, EVE, World
from tests.kernel.hijacked import (
    MINUTES_ASKED,
    MINUTES_PLAN,
    MINUTES_READ,
    PAY,
    PAY_ASKED,
    PAY_PLAN,
    POST_ASKED,
    POST_PLAN,
    Wanted,
    acts,
    house,
    mail,
    named,
    on_disk,
    plan,
    questions,
    told,
)
from tests.kernel.rig import outcomes

from daimon.abi.event import Event
from daimon.abi.step import Asked, Happened
from daimon.abi.tool import Call, Effect, Pending, Rate, Result
from daimon.kernel.questions import open_questions
from daimon.testing.clock import ManualClock
from daimon.testing.model import calls


async def test_a_call_that_was_refused_spends_nothing() -> None:
    world = World()
    hijacked, honest = mail(cc=EVE), mail()
    async with house(world, calls(MINUTES_PLAN), calls(*MINUTES_READ), calls(hijacked), calls(honest)) as rig:
        turn, steps = await rig.ask(MINUTES_ASKED)
        (asked,) = [step for step in steps if isinstance(step.body, Asked)]
        await rig.answer(asked.ref, "deny")
        await rig.ended(turn)
    assert acts(world) == [honest]


async def test_a_call_that_the_owner_allowed_spends_its_step() -> None:
    world = World()
    hijacked, honest = mail(cc=EVE), mail()
    async with house(world, calls(MINUTES_PLAN), calls(*MINUTES_READ), calls(hijacked), calls(honest)) as rig:
        turn, steps = await rig.ask(MINUTES_ASKED)
        (asked,) = [step for step in steps if isinstance(step.body, Asked)]
        await rig.answer(asked.ref, "allow")
        turn = await rig.ended(turn)
        steps = await rig.journal.steps(turn.id)
    assert acts(world) == [hijacked]
    assert [step.body.code for step in steps if isinstance(step.body, Happened)][-1] == "off_plan"


async def test_a_planned_call_on_a_clean_context_spends_its_step_as_well() -> None:
    world, steps = await told(PAY_ASKED, PAY_PLAN, ("pay", {"to": BOBS_ACCOUNT, "amount": 50.0}), ("invoices", {}), PAY, PAY)
    assert acts(world) == [("pay", {"to": BOBS_ACCOUNT, "amount": 50.0}), PAY], "the first was not as planned, the second was"
    fixed = plan(f"pay(to='{BOBS_ACCOUNT}', amount=120.5)")
    world, steps = await told(PAY_ASKED, fixed, PAY, ("invoices", {}), PAY)
    assert acts(world) == [PAY]
    assert outcomes(steps)[-1].code == "off_plan"


class Cut:
    """A mail that is sent while the process dies: its outcome is never heard."""

    def __init__(self, world: World, effect: Effect) -> None:
        self._inner = named(world, "send_mail")
        self.manifest = replace(self._inner.manifest, name="cut_mail", effect=effect)
        self.begun = asyncio.Event()

    async def run(self, arguments: dict[str, Any], call: Call) -> Result | Pending:
        result = await self._inner.run(arguments, call)
        if not self.begun.is_set():
            self.begun.set()
            await asyncio.Event().wait()
        return result

    async def verify(self, arguments: dict[str, Any], call: Call) -> Result | None:
        return Result({"done": True})


CUT_PLAN = plan(f"cut_mail(to='{BOB}', text=own())", reads=("mails()", "file(name='minutes')"))
CUT_MAIL: Wanted = ("cut_mail", mail()[1])


async def cut_off(file: Path, world: World, cut: Cut) -> Event:
    lines = (calls(CUT_PLAN), calls(*MINUTES_READ), calls(CUT_MAIL))
    async with on_disk(file) as journal, house(world, *lines, tools=(cut,), journal=journal) as rig:
        event = await rig.say(MINUTES_ASKED)
        await asyncio.wait_for(cut.begun.wait(), 60)
    return event


@pytest.mark.parametrize(("effect", "sent"), [(Effect.IDEMPOTENT, 2), (Effect.VERIFIABLE, 1)])
async def test_a_step_stays_spent_across_a_crash_between_intent_and_outcome(tmp_path: Path, effect: Effect, sent: int) -> None:
    world = World()
    cut = Cut(world, effect)
    event = await cut_off(tmp_path / "journal.db", world, cut)
    async with on_disk(tmp_path / "journal.db") as journal, house(world, calls(CUT_MAIL), tools=(cut,), journal=journal) as rig:
        turn = await rig.rested(event)
        steps = await journal.steps(turn.id)
    assert len(acts(world)) == sent, "the first one alone, under its one key"
    assert [outcome.code for outcome in outcomes(steps)][-2:] == ["", "off_plan"]
    assert questions(steps) == []


@pytest.mark.parametrize("said", ["leave", "done"])
async def test_a_step_stays_spent_when_nobody_knows_what_became_of_its_call(tmp_path: Path, said: str) -> None:
    world = World()
    cut = Cut(world, Effect.UNSAFE)
    event = await cut_off(tmp_path / "journal.db", world, cut)
    async with on_disk(tmp_path / "journal.db") as journal, house(world, calls(CUT_MAIL), tools=(cut,), journal=journal) as rig:
        turn = await rig.rested(event)
        (question,) = await open_questions(journal, turn.space)
        await rig.answer(question.to, said)
        turn = await rig.ended(turn)
        steps = await journal.steps(turn.id)
    assert len(acts(world)) == 1
    assert outcomes(steps)[-1].code == "off_plan"


async def test_a_call_that_never_reached_its_tool_spends_nothing() -> None:
    world = World()
    slow = Paced(world)
    planned = plan(f"slow_mail(to='{BOB}', text=own())", f"slow_mail(to='{BOB}', text=own())", reads=MINUTES_PLAN[1]["reads"])
    act: Wanted = ("slow_mail", mail()[1])
    async with house(world, calls(planned), calls(*MINUTES_READ), calls(act), calls(act), calls(act), tools=(slow,)) as rig:
        _, steps = await rig.ask(MINUTES_ASKED)
    assert [outcome.code for outcome in outcomes(steps)][-3:] == ["", "rate_limited", "rate_limited"]


class Paced:
    """A mail that may be sent once an hour."""

    def __init__(self, world: World) -> None:
        inner = named(world, "send_mail")
        self.manifest = replace(inner.manifest, name="slow_mail", rate=Rate(1, 3600))
        self.run, self.verify = inner.run, inner.verify


async def test_what_was_said_while_a_turn_ran_still_counts_when_it_goes_on_after_a_crash(tmp_path: Path) -> None:
    """The owner named a page in passing; the process died while it was looked at."""
    world = World()
    slow, mails = Stalled(world, "look"), Stalled(world, "mails")
    tools, newer = (slow, mails), "steer"
    lines = (calls(POST_PLAN), calls(("slow_mails", {})), calls(("slow_look", {"url": "www.roses.org"})))
    async with on_disk(tmp_path / "journal.db") as journal, house(world, *lines, tools=tools, journal=journal, newer=newer) as rig:
        event = await rig.say(POST_ASKED)
        await asyncio.wait_for(mails.begun.wait(), 60)
        await rig.say("and look at www.roses.org")
        mails.may_go_on.set()
        await asyncio.wait_for(slow.begun.wait(), 60)
    slow.may_go_on.set()
    async with on_disk(tmp_path / "journal.db") as journal, house(world, tools=tools, journal=journal, newer=newer) as rig:
        turn = await rig.rested(event)
        steps = await journal.steps(turn.id)
    assert [(outcome.how, outcome.code) for outcome in outcomes(steps)][-1] == ("reran", "")


class Stalled:
    """A tool that takes until somebody lets it go on."""

    def __init__(self, world: World, name: str) -> None:
        self._inner = named(world, name)
        self.manifest = replace(self._inner.manifest, name=f"slow_{name}")
        self.verify = self._inner.verify
        self.begun, self.may_go_on = asyncio.Event(), asyncio.Event()

    async def run(self, arguments: dict[str, Any], call: Call) -> Result | Pending:
        self.begun.set()
        await self.may_go_on.wait()
        return await self._inner.run(arguments, call)


class Slow:
    """A mail that goes on elsewhere, and of which nothing is heard within an hour."""

    def __init__(self, world: World) -> None:
        self._inner = named(world, "send_mail")
        self.manifest = replace(self._inner.manifest, name="cut_mail")
        self.verify = self._inner.verify

    async def run(self, arguments: dict[str, Any], call: Call) -> Result | Pending:
        await self._inner.run(arguments, call)
        return Pending(call.key, until=call.now + timedelta(hours=1))


async def test_a_step_stays_spent_when_nothing_was_heard_of_its_call_in_time() -> None:
    world, clock = World(), ManualClock()
    lines = (calls(CUT_PLAN), calls(*MINUTES_READ), calls(CUT_MAIL), calls(CUT_MAIL))
    async with house(world, *lines, tools=(Slow(world),), clock=clock) as rig:
        turn, _ = await rig.ask(MINUTES_ASKED)
        await clock.advance(2 * 3600)
        turn = await rig.ended(turn)
        steps = await rig.journal.steps(turn.id)
    assert len(acts(world)) == 1
    assert [outcome.code for outcome in outcomes(steps)][-2:] == ["expired", "off_plan"]
