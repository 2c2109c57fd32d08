"""A call that asks in the middle and goes on with the answer: once, and never again after a crash."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from pydantic import JsonValue
from tests.kernel.rig import Rig, Tool, kernel, outcomes, result_text
from tests.kernel.test_recovery import journal_at

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import HOME_SPACE, StepRef
from daimon.abi.step import Received, Started, Step
from daimon.abi.tool import Call, Effect, Pending, Question, Result, Word
from daimon.abi.turn import Ending, State, Turn
from daimon.kernel.questions import open_questions
from daimon.testing.clock import ManualClock
from daimon.testing.model import calls, says

ACT = calls(("act", {"text": "x"}))


@dataclass
class Asker(Tool):
    """Asks as often as it is told to; then it has its result. It forgets everything when it is made anew."""

    times: int = 1
    until: timedelta | None = None
    hangs: bool = False
    words: list[Word] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    _open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__("act", Effect.IDEMPOTENT)

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Pending:
        self.calls.append(call)
        return self._asks(call)

    async def go_on(self, handle: str, word: Word, call: Call) -> Result | Pending:
        if handle not in self._open:
            raise ToolFailed("gone", "nobody here knows of that")
        self._open.discard(handle)
        self.words.append(word)
        self.begun.set()
        if self.hangs:
            await asyncio.Event().wait()
        return self._asks(call) if len(self.words) < self.times else Result({"heard": [each.choice for each in self.words]})

    def _asks(self, call: Call) -> Pending:
        handle = f"{call.key}/{len(self.words)}"
        self._open.add(handle)
        until = None if self.until is None else call.now + self.until
        return Pending(handle, Question(f"Question {len(self.words)}?"), until, goes_on=True)


def asks(steps: tuple[Step, ...]) -> list[Started]:
    return [step.body for step in steps if isinstance(step.body, Started)]


async def parked(rig: Rig) -> tuple[Turn, StepRef]:
    turn, steps = await rig.ask("go")
    assert turn.state is State.PARKED
    return turn, StepRef(turn.id, asks(steps)[-1].intent)


async def test_the_tool_hears_the_answer_and_its_result_is_the_outcome() -> None:
    tool = Asker()
    async with kernel(script=[ACT, says("done")], tools=[tool]) as rig:
        turn, to = await parked(rig)
        assert [each.question.text for each in await open_questions(rig.journal, HOME_SPACE)] == ["Question 0?"]
        await rig.answer(to, "blue")
        turn = await rig.ended(turn)
        (outcome,) = outcomes(await rig.journal.steps(turn.id))
        assert (turn.ending, tool.words, len(tool.calls)) == (Ending.ANSWERED, [Word("blue", "blue")], 1)
        assert (outcome.code, outcome.how) == ("", "ran")
        assert '"heard": ["blue"]' in result_text(outcome)


async def test_it_may_ask_again_and_each_question_reaches_the_owner() -> None:
    tool = Asker(times=2)
    async with kernel(script=[ACT, says("done")], tools=[tool]) as rig:
        turn, to = await parked(rig)
        await rig.answer(to, "one")

        async def asks_again() -> bool:
            return [each.question.text for each in await open_questions(rig.journal, HOME_SPACE)] == ["Question 1?"]

        await rig.until(asks_again)
        await rig.answer(to, "two")
        turn = await rig.ended(turn)
        assert [word.choice for word in tool.words] == ["one", "two"]

        async def has_said_all() -> bool:
            return len(rig.channel.messages) == 3

        await rig.until(has_said_all)
        said = " ".join(str(message.content) for message in rig.channel.messages)
        assert all(text in said for text in ("Question 0?", "Question 1?", "done"))


async def test_a_second_answer_changes_nothing() -> None:
    tool = Asker(hangs=True)
    async with kernel(script=[ACT, says("done")], tools=[tool]) as rig:
        turn, to = await parked(rig)
        await rig.answer(to, "one")
        await asyncio.wait_for(tool.begun.wait(), 60)
        await rig.answer(to, "two")
        await rig.stop(turn.id)
        turn = await rig.ended(turn)
        (outcome,) = outcomes(await rig.journal.steps(turn.id))
        assert (len(tool.words), outcome.code, turn.ending) == (1, "cancelled", Ending.STOPPED)


async def test_when_nobody_answers_the_tool_is_told_so() -> None:
    tool, clock = Asker(until=timedelta(hours=1)), ManualClock()
    async with kernel(script=[ACT, says("done")], tools=[tool], clock=clock) as rig:
        turn, _ = await parked(rig)
        await clock.advance(3_700)
        turn = await rig.ended(turn)
        assert tool.words == [Word("", "", is_expired=True)]


async def test_after_a_crash_while_the_answer_was_on_its_way_it_has_ended_and_is_not_begun_again(tmp_path: Path) -> None:
    tool, file = Asker(hangs=True), tmp_path / "journal.db"
    async with journal_at(file) as journal, kernel(script=[ACT], tools=[tool], journal=journal) as rig:
        turn, to = await parked(rig)
        await rig.answer(to, "one")
        await asyncio.wait_for(tool.begun.wait(), 60)
    again = Asker()
    async with journal_at(file) as journal, kernel(script=[says("done")], tools=[again], journal=journal) as rig:
        turn = await rig.ended(turn)
        (outcome,) = outcomes(await journal.steps(turn.id))
        assert (outcome.code, again.calls, again.words) == ("gone", [], [])
        assert "may or may not have taken effect" in result_text(outcome)


async def test_an_answer_after_a_restart_ends_the_call_and_does_not_repeat_it(tmp_path: Path) -> None:
    tool, file = Asker(), tmp_path / "journal.db"
    async with journal_at(file) as journal, kernel(script=[ACT], tools=[tool], journal=journal) as rig:
        turn, to = await parked(rig)
    again = Asker()
    async with journal_at(file) as journal, kernel(script=[says("done")], tools=[again], journal=journal) as rig:
        await rig.answer(to, "blue")
        turn = await rig.ended(turn)
        steps = await journal.steps(turn.id)
        (outcome,) = outcomes(steps)
        assert (outcome.code, again.calls, len([s for s in steps if isinstance(s.body, Received)])) == ("gone", [], 1)
