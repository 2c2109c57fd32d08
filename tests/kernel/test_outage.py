"""A model that fails: another stands in, it is tried again, the owner is told, and nothing is lost."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.kernel.rig import Rig, Tool, kernel, kinds

from daimon.abi.errors import ProviderFailed
from daimon.abi.message import Reasoning, Text, is_said
from daimon.abi.model import Delta, Reply, Request
from daimon.abi.step import Asked, ModelFailed, Replied, Routed, Step
from daimon.abi.turn import Ending, State, Turn
from daimon.kernel.questions import open_questions
from daimon.testing.clock import ManualClock
from daimon.testing.model import ScriptedModel, calls, says

DOWN = ProviderFailed("server", "it is down (500)")
NO_KEY = ProviderFailed("auth", "the key was refused (401): `daimon model add` sets another one", is_lasting=True, was_sent=False)


def failures(steps: tuple[Step, ...]) -> list[str]:
    return [step.body.code for step in steps if isinstance(step.body, ModelFailed)]


async def go_on(rig: Rig, clock: ManualClock, turn: Turn, seconds: float) -> tuple[Step, ...]:
    """Time passes until the turn has rested again."""
    steps: tuple[Step, ...] = await rig.journal.steps(turn.id)
    await clock.advance(seconds)

    async def has_moved() -> bool:
        await clock.advance(0.05)
        now = await rig.journal.turn(turn.id)
        return now.state is not State.RUNNING and len(await rig.journal.steps(turn.id)) > len(steps)

    await rig.until(has_moved)
    found: tuple[Step, ...] = await rig.journal.steps(turn.id)
    return found


async def rested(rig: Rig, clock: ManualClock, text: str) -> tuple[Turn, tuple[Step, ...]]:
    event = await rig.say(text)

    async def has_rested() -> bool:
        await clock.advance(0.25)
        turn = await rig.journal.turn_of(event.id)
        return turn is not None and turn.state in (State.DONE, State.PARKED, State.FAILED)

    await rig.until(has_rested)
    turn = await rig.journal.turn_of(event.id)
    return turn, await rig.journal.steps(turn.id)


async def test_another_model_stands_in_at_once() -> None:
    async with kernel(model=ScriptedModel([DOWN], "first"), others=(ScriptedModel([says("here")], "second"),)) as rig:
        turn, steps = await rig.ask("hi")
        assert turn.ending is Ending.ANSWERED
        assert [s.body.chosen for s in steps if isinstance(s.body, Routed)] == ["first", "second"]
        assert "it is down" in next(s.body for s in steps if isinstance(s.body, Routed) and s.body.chosen == "second").passed_over["first"]


async def test_a_model_that_comes_back_is_asked_again() -> None:
    async with kernel(script=[DOWN, DOWN, says("back")]) as rig:
        turn, steps = await rig.ask("hi")
        assert (turn.ending, failures(steps)) == (Ending.ANSWERED, ["server", "server"])


async def test_a_model_that_stays_away_is_told_once_and_tried_again_by_itself() -> None:
    clock = ManualClock()
    async with kernel(script=[DOWN] * 6 + [says("at last")], clock=clock) as rig:
        turn, steps = await rested(rig, clock, "hi")
        assert (turn.state, failures(steps)) == (State.PARKED, ["server"] * 4 + ["unavailable"])
        told = (await rig.spoken(1))[0]
        assert "it is down (500)" in told
        assert "I try again at" in told
        steps = await go_on(rig, clock, turn, 60)
        assert failures(steps)[-2:] == ["server", "unavailable"]
        while (await rig.journal.turn(turn.id)).ended_at is None:
            steps = await go_on(rig, clock, turn, timedelta(minutes=4).total_seconds())
        assert failures(steps).count("server") == 6
        assert len([s for s in await rig.journal.steps(turn.id) if isinstance(s.body, Asked)]) == 1, "told once, not each time"
        assert (await rig.spoken(2))[-1] == "at last"


async def test_what_is_said_during_an_outage_is_answered_after_what_was_said_before_it() -> None:
    class Echo(ScriptedModel):
        falls = 4

        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            self.falls -= 1
            if self.falls >= 0:
                raise DOWN
            yield says(f"answer to {next(each for each in reversed(request.messages) if is_said(each)).text}")

    clock = ManualClock()
    async with kernel(model=Echo(name="echo"), clock=clock) as rig:
        first, _ = await rested(rig, clock, "1")
        await clock.advance(25)  # the rest of the pause is short enough to be waited for inside of a turn
        later = [await rig.say("2"), await rig.say("3")]

        async def have_ended() -> bool:
            await clock.advance(0.25)
            found = [await rig.journal.turn(first.id), *[await rig.journal.turn_of(event.id) for event in later]]
            return all(turn is not None and turn.ended_at is not None for turn in found)

        await rig.until(have_ended)
        assert (await rig.spoken(4))[1:] == ["answer to 1", "answer to 2", "answer to 3"]


async def test_the_owner_may_stop_waiting() -> None:
    clock = ManualClock()
    async with kernel(script=[DOWN] * 9, clock=clock) as rig:
        turn, steps = await rested(rig, clock, "hi")
        asked = next(step for step in steps if isinstance(step.body, Asked))
        await rig.answer(asked.ref, "stop")
        assert (await rig.ended(turn)).ending is Ending.STOPPED


async def test_what_nobody_can_mend_by_waiting_is_asked_at_once_with_the_remedy() -> None:
    async with kernel(script=[NO_KEY, says("thanks for the key")]) as rig:
        turn, steps = await rig.ask("hi")
        assert (turn.state, failures(steps)) == (State.PARKED, ["auth", "no_model"])
        (asked,) = await open_questions(rig.journal, turn.space)
        assert "daimon model add" in asked.question.text
        await rig.answer(asked.to, "continue")
        assert (await rig.ended(turn)).ending is Ending.ANSWERED


@pytest.mark.parametrize(
    "failure", [NO_KEY, ProviderFailed("odd", "something new", is_lasting=True), ProviderFailed("down", "an own word")]
)
async def test_no_failure_makes_a_turn_spin(failure: ProviderFailed) -> None:
    clock = ManualClock()
    async with kernel(script=[failure] * 500, clock=clock) as rig:
        turn, steps = await rested(rig, clock, "hi")
        assert turn.state is State.PARKED
        assert kinds(steps).count("model_failed") < 10


async def test_a_reply_that_was_filtered_away_goes_to_another_model() -> None:
    silenced = Reply((), "first", "filtered")
    async with kernel(model=ScriptedModel([silenced], "first"), others=(ScriptedModel([says("here")], "second"),)) as rig:
        turn, steps = await rig.ask("hi")
        assert (turn.ending, failures(steps)) == (Ending.ANSWERED, ["filtered"])


async def test_what_was_said_before_it_broke_off_is_kept() -> None:
    class Broken(ScriptedModel):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            yield Delta("half a sen")
            raise ProviderFailed("cut", "gone")

    async with kernel(model=Broken(name="first"), others=(ScriptedModel([says("whole")], "second"),)) as rig:
        _, steps = await rig.ask("hi")
        assert [s.body.partial for s in steps if isinstance(s.body, ModelFailed)] == ["half a sen"]


async def test_hours_without_a_model_do_not_use_up_a_turn() -> None:
    clock = ManualClock()
    cheap = ProviderFailed("overloaded", "try later", was_sent=False)
    async with kernel(script=[cheap] * 60 + [says("at last")], clock=clock) as rig:
        turn, _ = await rested(rig, clock, "hi")
        while (await rig.journal.turn(turn.id)).ended_at is None:
            await go_on(rig, clock, turn, 600)
        assert (await rig.journal.turn(turn.id)).ending is Ending.ANSWERED


async def test_the_owners_own_pace_is_no_news() -> None:
    clock = ManualClock()
    script = [calls(("echo", {"text": "x"}))] * 3 + [says("done")]
    async with kernel(script=script, tools=[Tool("echo")], clock=clock, paces={"scripted": 1}) as rig:
        turn, _ = await rested(rig, clock, "hi")
        while (await rig.journal.turn(turn.id)).ended_at is None:
            await go_on(rig, clock, turn, 20)
        steps = await rig.journal.steps(turn.id)
        assert failures(steps) == ["paced"] * 3
        assert not any(isinstance(step.body, Asked) for step in steps)


async def test_a_reply_without_end_is_cut_off() -> None:
    class Endless(ScriptedModel):
        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            while True:
                yield Delta("and " * 1_000)

    async with kernel(model=Endless(name="first"), others=(ScriptedModel([says("short")], "second"),)) as rig:
        turn, steps = await rig.ask("hi")
        assert (turn.ending, failures(steps)) == (Ending.ANSWERED, ["endless"])


async def test_a_model_may_send_names_that_nobody_can_write() -> None:
    odd = Reply((Text("fine"), Reasoning("hm", "p", "\ud800")), "\ud800" + "x" * 10_000, remarks=("\udfff",))
    async with kernel(script=[odd]) as rig:
        turn, steps = await rig.ask("hi")
        assert turn.ending is Ending.ANSWERED
        assert len(next(step.body.model for step in steps if isinstance(step.body, Replied))) <= 256
