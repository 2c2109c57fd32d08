"""Asking people: once for all calls, only whom it concerns, at hours that suit them; and what comes of their answers."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Literal

import pytest
from pydantic import JsonValue
from tests.kernel.rig import Rig, Tool, kernel, outcomes, result_text

from daimon.abi.event import Address, Answer, Heartbeat, Late
from daimon.abi.ids import HOME_SPACE, OWNER, PrincipalId, StepRef
from daimon.abi.judgement import Gate
from daimon.abi.label import Author, Label, Origin
from daimon.abi.step import Answered, Asked, Granted, Intended, Received, Started, Step
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Pending, Question, Result, Send
from daimon.abi.turn import Ending, State, Turn
from daimon.kernel.manner import Manner, Quiet
from daimon.testing.clock import START, ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.judgement import FixedPolicy
from daimon.testing.model import calls, says

BOB, ANN, CEM = (("send", {"text": f"{name}@x.org"}) for name in ("bob", "ann", "cem"))
STRANGER = PrincipalId("stranger")


def sender() -> Tool:
    return Tool("send", Effect.UNSAFE, capabilities=(Capability.SENDS,))


def asked(steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if isinstance(step.body, Asked)]


def sent(tool: Tool) -> list[str]:
    return [call.key for call in tool.calls]


async def answered(rig: Rig, turn: Turn, text: str) -> tuple[Turn, tuple[Step, ...]]:
    """The turn after its first question was answered so, and its steps."""
    (question, *_) = asked(await rig.journal.steps(turn.id))
    await rig.answer(question.ref, text)
    return await rig.ended(turn), await rig.journal.steps(turn.id)


def ignored(steps: Iterable[Step]) -> list[str]:
    return [step.body.ignored for step in steps if isinstance(step.body, Received)]


# -- one question for all


async def test_all_calls_of_a_reply_are_one_question_and_one_answer() -> None:
    send = sender()
    async with kernel(script=[calls(BOB, ANN, CEM), says("sent")], tools=[send]) as rig:
        turn, steps = await rig.ask("write to them")
        (question,) = asked(steps)
        assert isinstance(question.body, Asked)
        assert (turn.state, question.body.calls, send.calls) == (State.PARKED, (question.n - 3, question.n - 2, question.n - 1), [])
        assert len(await rig.spoken(1)) == 1
        turn, steps = await answered(rig, turn, "allow")
        assert (turn.ending, len(send.calls)) == (Ending.ANSWERED, 3)


async def test_a_yes_to_some_is_a_no_to_the_others() -> None:
    send = sender()
    async with kernel(script=[calls(BOB, ANN, CEM), says("done")], tools=[send]) as rig:
        turn, steps = await rig.ask("write to them")
        first = asked(steps)[0].n - 3
        turn, steps = await answered(rig, turn, "allow 1 3")
        assert sorted(sent(send)) == [f"{turn.id}:{first}", f"{turn.id}:{first + 2}"]
        assert {o.intent - first: o.code for o in outcomes(steps)} == {0: "", 1: "denied", 2: ""}
        (answer,) = (step.body for step in steps if isinstance(step.body, Answered))
        assert answer.only == (first, first + 2)


@pytest.mark.parametrize("text", ["deny", "allow 4", "allow the nice ones", "perhaps"])
async def test_a_no_and_what_is_no_clear_yes_refuse_all(text: str) -> None:
    send = sender()
    async with kernel(script=[calls(BOB, ANN), says("all right")], tools=[send]) as rig:
        turn, _ = await rig.ask("write to them")
        turn, steps = await answered(rig, turn, text)
        assert (turn.ending, send.calls, [o.code for o in outcomes(steps)]) == (Ending.ANSWERED, [], ["denied", "denied"])


async def test_the_numbers_may_stand_in_the_text_too() -> None:
    send = sender()
    async with kernel(script=[calls(BOB, ANN), says("done")], tools=[send]) as rig:
        turn, steps = await rig.ask("write to them")
        await rig.answer_at("main", asked(steps)[0].ref, "allow", "2")
        await rig.ended(turn)
        assert sent(send) == [f"{turn.id}:{asked(steps)[0].n - 1}"]


async def test_what_needs_no_word_runs_though_others_wait() -> None:
    send, look = sender(), Tool("look")
    async with kernel(script=[calls(("look", {"text": "x"}), BOB), says("done")], tools=[send, look]) as rig:
        turn, _ = await rig.ask("look and write")
        assert (turn.state, len(look.calls), send.calls) == (State.PARKED, 1, [])


async def test_the_rules_hear_which_tools_a_person_said_no_to() -> None:
    rules = FixedPolicy(Gate("ask", "It sends."))
    other = Tool("other", Effect.UNSAFE, capabilities=(Capability.SENDS,))
    script = [calls(BOB, ("other", {"text": "ann@x.org"})), calls(BOB), says("fine")]
    async with kernel(script=script, tools=[sender(), other], policy=rules) as rig:
        turn, steps = await rig.ask("write to them")
        assert rules.asked[-1][2].declined == ()
        await rig.answer(asked(steps)[0].ref, "allow 1")
        await rig.until(lambda: _asks_again(rig, turn))
        assert rules.asked[-1][2].declined == ("other",)


# -- grants


async def test_a_grant_is_given_with_the_answer_and_spares_the_next_question() -> None:
    send = sender()
    async with kernel(script=[calls(BOB), says("sent"), calls(BOB), says("again")], tools=[send]) as rig:
        turn, steps = await rig.ask("write to bob")
        assert "`grant` allows it, and from now on, without asking" in (await rig.spoken(1))[0]
        turn, steps = await answered(rig, turn, "grant for 7 days")
        (granted,) = (step for step in steps if isinstance(step.body, Granted))
        (grant,) = await rig.journal.grants(HOME_SPACE, rig.clock.now())
        assert isinstance(granted.body, Granted)
        assert (granted.body.grant, grant.id, grant.destinations, grant.by) == (grant, str(granted.ref), ("bob@x.org",), OWNER)
        again, steps = await rig.ask("once more")
        assert (again.ending, len(send.calls)) == (Ending.ANSWERED, 2)
        assert [step.body.gate.by for step in steps if isinstance(step.body, Intended)] == [f"grant:{grant.id}"]


@pytest.mark.parametrize("is_changed", [False, True])
async def test_a_grant_for_somebody_else_s_tool_holds_as_long_as_the_tool_is_what_it_was(is_changed: bool) -> None:
    def theirs(description: str) -> Tool:
        tool = sender()
        tool.manifest = replace(tool.manifest, author=Author.STRANGER, description=description)
        return tool

    clock, ids = ManualClock(), CountingIds()
    journal = MemoryJournal(clock, ids)
    async with kernel(script=[calls(BOB), says("sent")], foreign=[theirs("Sends.")], journal=journal, clock=clock, ids=ids) as rig:
        turn, _ = await rig.ask("write to bob")
        await answered(rig, turn, "grant")
    now = theirs("Sends to Bob, and to whoever else it likes." if is_changed else "Sends.")
    async with kernel(script=[calls(BOB), says("again")], foreign=[now], journal=journal, clock=clock, ids=ids) as rig:
        again, _ = await rig.ask("once more")
        assert (again.state is State.PARKED, len(now.calls)) == (is_changed, 0 if is_changed else 1)


async def test_a_revoked_grant_is_gone_at_once_and_one_that_ran_out_too() -> None:
    clock = ManualClock()
    script = [calls(BOB), says("sent"), calls(BOB), says("?"), calls(BOB)]
    async with kernel(script=script, tools=[sender()], clock=clock) as rig:
        turn, _ = await rig.ask("write to bob")
        await answered(rig, turn, "grant for 1 day")
        await clock.advance(24 * 3_600)
        assert len(rig.desk.grants.current(clock.now())) == 1, "a grant holds through its last day"
        await clock.advance(24 * 3_600)
        assert rig.desk.grants.current(clock.now()) == ()
        second, _ = await rig.ask("again")
        assert second.state is State.PARKED
        await answered(rig, second, "grant")
        (grant,) = rig.desk.grants.current(clock.now())
        assert (await rig.desk.grants.revoke(grant.id, OWNER)).revoked_by == OWNER
        assert rig.desk.grants.current(clock.now()) == ()
        assert (await rig.ask("and again"))[0].state is State.PARKED


async def test_a_grant_is_for_the_calls_that_were_named_and_refuses_the_others() -> None:
    send = sender()
    async with kernel(script=[calls(BOB, ANN, BOB), says("done")], tools=[send]) as rig:
        turn, _ = await rig.ask("write to them")
        await answered(rig, turn, "grant 2")
        assert [grant.destinations for grant in rig.desk.grants.current(rig.clock.now())] == [("ann@x.org",)]
        assert len(send.calls) == 1


async def test_two_calls_alike_are_one_grant() -> None:
    async with kernel(script=[calls(BOB, ANN, BOB), says("done")], tools=[sender()]) as rig:
        turn, _ = await rig.ask("write to them")
        await answered(rig, turn, "grant")
        assert [grant.destinations for grant in rig.desk.grants.current(rig.clock.now())] == [("bob@x.org",), ("ann@x.org",)]


async def test_a_grant_of_an_automation_is_bound_to_it() -> None:
    async with kernel(script=[calls(BOB), says("sent")], tools=[sender()]) as rig:
        turn = await rig.rested(await rig.send(Heartbeat("morning")))
        await answered(rig, turn, "grant this automation")
        assert [grant.job for grant in rig.desk.grants.current(rig.clock.now())] == ["morning"]


async def test_a_call_that_names_nobody_is_allowed_once_and_never_granted() -> None:
    drop = Tool("drop", Effect.UNSAFE, capabilities=(Capability.DELETES,), roles={"text": ArgumentRole.CONTENT})
    async with kernel(script=[calls(("drop", {"text": "x"})), says("done")], tools=[drop]) as rig:
        turn, steps = await rig.ask("drop it")
        (question,) = asked(steps)
        assert isinstance(question.body, Asked)
        assert question.body.question.options == ("deny", "allow")
        await answered(rig, turn, "grant")
        assert (drop.calls, await rig.journal.given(HOME_SPACE)) == ([], ())


# -- who may answer, and when


async def test_a_forged_answer_changes_nothing_and_says_why() -> None:
    send = sender()
    async with kernel(script=[calls(BOB), says("fine")], tools=[send]) as rig:
        turn = await rig.rested(await rig.say("write to bob", principal=STRANGER))
        (question,) = asked(await rig.journal.steps(turn.id))
        forged = Label.of(Origin(Author.STRANGER, "mail"))
        await rig.send(Answer("allow"), resolves=question.ref, principal=STRANGER, label=forged)
        await rig.send(Late({"choice": "allow"}), resolves=question.ref, label=forged)
        await rig.until(lambda: _has_received(rig, turn, 2))
        steps = await rig.journal.steps(turn.id)
        assert ignored(steps) == ["stranger may not answer this", "an outcome from outside is no answer"]
        assert ((await rig.journal.turn(turn.id)).state, send.calls) == (State.PARKED, [])
        assert forged.origins[0] not in steps[-1].label.origins, "not even whose words it holds"
        turn, steps = await answered(rig, turn, "allow")
        assert (turn.ending, len(send.calls)) == (Ending.ANSWERED, 1)


async def _has_received(rig: Rig, turn: Turn, number: int) -> bool:
    steps = await rig.journal.steps(turn.id)
    is_parked = (await rig.journal.turn(turn.id)).state is State.PARKED
    return is_parked and sum(isinstance(step.body, Received) for step in steps) == number


@pytest.mark.parametrize(("kind", "counts"), [("plan", False), ("choose", True)])
async def test_whom_a_turn_serves_may_choose_but_not_approve_a_plan(kind: Literal["plan", "choose"], counts: bool) -> None:
    async def ask(arguments: dict[str, JsonValue], call: Call) -> Pending:
        return Pending(call.key, Question("So?", ("no", "yes"), kind))

    async with kernel(script=[calls(("ask", {"text": "x"})), says("thanks")], tools=[Tool("ask", behaviour=ask)]) as rig:
        turn = await rig.rested(await rig.say("go", principal=STRANGER))
        (started,) = (s.body for s in await rig.journal.steps(turn.id) if isinstance(s.body, Started))
        assert started.question is not None
        assert (started.question.expires_at is not None) is (kind == "plan"), "nobody waits for an approval for ever"
        await rig.send(Answer("yes"), resolves=StepRef(turn.id, started.intent), principal=STRANGER)
        await rig.until(lambda: _has_taken(rig, turn))
        assert ((await rig.journal.turn(turn.id)).ending is Ending.ANSWERED) is counts
        assert ignored(await rig.journal.steps(turn.id)) == ["" if counts else "stranger may not answer this"]


async def _has_taken(rig: Rig, turn: Turn) -> bool:
    is_resting = (await rig.journal.turn(turn.id)).state in (State.PARKED, State.DONE)
    return is_resting and any(isinstance(step.body, Received) for step in await rig.journal.steps(turn.id))


async def test_a_question_whether_something_may_be_done_goes_to_the_owner() -> None:
    async with kernel(script=[calls(BOB)], tools=[sender()]) as rig:
        turn = await rig.rested(await rig.say("write to bob", principal=STRANGER))
        (question,) = asked(await rig.journal.steps(turn.id))
        assert isinstance(question.body, Asked)
        (send,) = question.body.operations
        assert isinstance(send, Send)
        assert send.to == Address("local", "owner")


async def test_a_repeated_answer_changes_nothing_and_says_why() -> None:
    async def wait(arguments: dict[str, JsonValue], call: Call) -> Result:
        begun.set()
        await go.wait()
        return Result("sent")

    begun, go = asyncio.Event(), asyncio.Event()
    send = Tool("send", Effect.UNSAFE, wait, capabilities=(Capability.SENDS,))
    async with kernel(script=[calls(BOB), says("sent")], tools=[send]) as rig:
        turn, steps = await rig.ask("write to bob")
        await rig.answer(asked(steps)[0].ref, "allow")
        await asyncio.wait_for(begun.wait(), 60)
        await rig.answer(asked(steps)[0].ref, "deny")
        go.set()
        turn = await rig.ended(turn)
        steps = await rig.journal.steps(turn.id)
        assert (turn.ending, ignored(steps), len(send.calls)) == (Ending.ANSWERED, ["", "it was settled before"], 1)


async def test_an_answer_to_a_turn_that_is_over_is_kept_and_changes_nothing() -> None:
    send = sender()
    async with kernel(script=[calls(BOB), says("fine")], tools=[send]) as rig:
        turn, steps = await rig.ask("write to bob")
        await rig.stop(turn.id)
        await rig.ended(turn)
        before = await rig.journal.steps(turn.id)
        late = await rig.answer(asked(steps)[0].ref, "allow")
        assert (await rig.journal.late(turn.id), await rig.journal.steps(turn.id), send.calls) == ((late,), before, [])


@pytest.mark.parametrize("body", [Answer("yes"), Late({"ok": True})], ids=["answer", "outcome"])
async def test_an_event_for_a_step_that_waits_for_nothing_is_ignored(body: Answer | Late) -> None:
    async with kernel(script=[calls(BOB), says("fine")], tools=[sender()]) as rig:
        turn, _ = await rig.ask("write to bob")
        await rig.send(body, resolves=StepRef(turn.id, 0))
        await rig.until(lambda: _has_received(rig, turn, 1))
        assert ignored(await rig.journal.steps(turn.id))[0].startswith("nothing was ")


# -- time


async def passing(clock: ManualClock, hours: float) -> None:
    for _ in range(8):
        await clock.advance(hours * 3_600 / 8)


async def test_nobody_waits_for_a_permission_for_ever() -> None:
    clock, send = ManualClock(), sender()
    async with kernel(script=[calls(BOB), says("fine")], tools=[send], clock=clock, manner=Manner(timeout=timedelta(hours=2))) as rig:
        turn, _ = await rig.ask("write to bob")
        await passing(clock, 1)
        assert (await rig.journal.turn(turn.id)).state is State.PARKED
        await passing(clock, 2)
        turn = await rig.ended(turn)
        assert (turn.ending, send.calls) == (Ending.ANSWERED, [])
        assert "nobody answered in time" in result_text(outcomes(await rig.journal.steps(turn.id))[0])


def quiet_now(clock: ManualClock) -> tuple[Manner, datetime]:
    """Quiet hours that hold at the beginning of the test, and their end."""
    over = START.replace(minute=0, second=0, microsecond=0) + timedelta(hours=3)
    assert clock.now() == START
    return Manner(quiet=Quiet(time(START.hour), over.time())), over


async def test_in_quiet_hours_a_question_is_asked_at_once_and_told_later() -> None:
    clock = ManualClock()
    manner, over = quiet_now(clock)
    async with kernel(script=[calls(BOB), says("it is noon"), says("sent")], tools=[sender()], clock=clock, manner=manner) as rig:
        turn, steps = await rig.ask("write to bob")
        (question,) = asked(steps)
        assert isinstance(question.body, Asked)
        assert (turn.state, question.body.question.expires_at) == (State.PARKED, over + timedelta(hours=72))
        await rig.ask("what time is it?")
        assert await rig.spoken(1) == ["it is noon"], "an answer does not wait, nor does the question hold it up"
        await passing(clock, (over - START).total_seconds() / 3_600)
        (message,) = await rig.journal.outgoing(10)
        assert "May I?" in str(message.content)
        await answered(rig, turn, "allow")


async def test_a_question_that_was_answered_in_the_night_is_not_told_in_the_morning() -> None:
    clock = ManualClock()
    manner, over = quiet_now(clock)
    async with kernel(script=[calls(BOB), says("")], tools=[sender()], clock=clock, manner=manner) as rig:
        turn, _ = await rig.ask("write to bob")
        await answered(rig, turn, "allow")
        await passing(clock, (over - START).total_seconds() / 3_600)
        assert not [m for m in await rig.journal.outgoing(10) if "May I?" in str(m.content)]


# -- second thoughts


UNDO = Manner(undo=timedelta(seconds=30))


async def held(rig: Rig, text: str = "write to bob") -> tuple[Turn, Step]:
    """A turn whose call was allowed and waits."""
    turn, steps = await rig.ask(text)
    await rig.answer(asked(steps)[0].ref, "allow")
    await rig.until(lambda: _asks_again(rig, turn))
    return turn, asked(await rig.journal.steps(turn.id))[-1]


async def _asks_again(rig: Rig, turn: Turn) -> bool:
    return len(asked(await rig.journal.steps(turn.id))) > 1 and (await rig.journal.turn(turn.id)).state is State.PARKED


async def test_an_allowed_call_waits_and_runs_when_nobody_stops_it() -> None:
    clock, send = ManualClock(), sender()
    async with kernel(script=[calls(BOB), says("sent")], tools=[send], clock=clock, manner=UNDO) as rig:
        turn, question = await held(rig)
        assert isinstance(question.body, Asked)
        assert (question.body.question.type, question.body.question.options, send.calls) == ("undo", ("send", "stop"), [])
        await passing(clock, 40 / 3_600)
        assert ((await rig.ended(turn)).ending, len(send.calls)) == (Ending.ANSWERED, 1)


@pytest.mark.parametrize(("word", "ran"), [("stop", 0), ("send", 1)])
async def test_a_word_ends_the_wait(word: str, ran: int) -> None:
    clock, send = ManualClock(), sender()
    async with kernel(script=[calls(BOB), says("fine")], tools=[send], clock=clock, manner=UNDO) as rig:
        turn, question = await held(rig)
        await rig.answer(question.ref, word)
        assert ((await rig.ended(turn)).ending, len(send.calls)) == (Ending.ANSWERED, ran)
        assert [o.code for o in outcomes(await rig.journal.steps(turn.id))] == ["" if ran else "denied"]


async def test_stopping_one_call_lets_the_others_run() -> None:
    clock, send = ManualClock(), sender()
    async with kernel(script=[calls(BOB, ANN), says("fine")], tools=[send], clock=clock, manner=UNDO) as rig:
        turn, last = await held(rig)
        await rig.answer(last.ref, "stop")
        await passing(clock, 40 / 3_600)
        steps = await rig.journal.steps((await rig.ended(turn)).id)
        assert {o.code for o in outcomes(steps)} == {"", "denied"}
        assert len(send.calls) == 1


async def test_a_call_that_reaches_nobody_does_not_wait() -> None:
    drop = Tool("drop", Effect.UNSAFE, capabilities=(Capability.DELETES,), roles={"text": ArgumentRole.CONTENT})
    async with kernel(script=[calls(("drop", {"text": "x"})), says("done")], tools=[drop], manner=UNDO) as rig:
        turn, _ = await rig.ask("drop it")
        await answered(rig, turn, "allow")
        assert len(drop.calls) == 1


async def test_a_call_that_waits_is_not_run_when_its_grant_is_revoked() -> None:
    clock, send = ManualClock(), sender()
    script = [calls(BOB), says("sent"), calls(BOB), says("fine")]
    async with kernel(script=script, tools=[send], clock=clock, manner=UNDO) as rig:
        first, steps = await rig.ask("write to bob")
        await rig.answer(asked(steps)[0].ref, "grant")
        await rig.until(lambda: _asks_again(rig, first))
        await passing(clock, 40 / 3_600)
        await rig.ended(first)
        second, steps = await rig.ask("once more")
        assert second.state is State.PARKED
        (grant,) = rig.desk.grants.current(clock.now())
        await rig.desk.grants.revoke(grant.id, OWNER)
        await rig.answer(asked(steps)[0].ref, "send")
        steps = await rig.journal.steps((await rig.ended(second)).id)
        assert (len(send.calls), "was revoked" in result_text(outcomes(steps)[0])) == (1, True)
