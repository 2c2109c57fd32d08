"""What a crash leaves behind and how it is put right.

A crash is played in two ways: the kernel is torn down in the middle of a tool or a model call, or the journal stops answering
at a chosen write, before or after it reached the disk. Either way a new kernel on the same file must go on as if nothing had
happened.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from pydantic import JsonValue
from tests.journal.world import fresh_ids
from tests.kernel.rig import PINS, Rig, Tool, kernel, outcomes, replies, result_text

from daimon.abi.errors import BadInput, Erased, ProviderFailed, ToolFailed
from daimon.abi.event import Address, Answer, Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, StepRef
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.memory import Amendment, ForgetSource
from daimon.abi.message import Role, Text
from daimon.abi.model import Delta, Reply, Request
from daimon.abi.ports import Claim, Clock
from daimon.abi.step import Asked, ContextRef, Granted, Intended, ModelFailed, Replied, Started, Upgraded
from daimon.abi.tool import Call, Capability, Effect, Pending, Question, Result, SetTimer
from daimon.abi.turn import Ending, Pins, State, Turn
from daimon.journal.sqlite import SqliteJournal
from daimon.kernel.manner import Manner
from daimon.kernel.questions import open_questions
from daimon.kernel.scheduler import MOST_ATTEMPTS
from daimon.machine.clock import SystemClock
from daimon.testing.clock import ManualClock
from daimon.testing.model import Line, ScriptedModel, calls, says


@asynccontextmanager
async def journal_at(path: Path, clock: Clock | None = None) -> AsyncIterator[SqliteJournal]:
    journal = await SqliteJournal.open(path, clock or SystemClock(), fresh_ids())
    try:
        yield journal
    finally:
        await journal.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


class Interrupted:
    """A tool that never comes back the first time: the process dies while it runs. The effect counts when it begins."""

    def __init__(self, effect: Effect, **more: Any) -> None:
        self.begun = asyncio.Event()
        self.tool = Tool("act", effect, self._run, **more)
        self.effects: Counter[str] = Counter()
        self._is_first = True

    async def _run(self, arguments: dict[str, JsonValue], call: Call) -> Result:
        self.effects[call.key] += 1
        if self._is_first:
            self._is_first = False
            self.begun.set()
            await asyncio.Event().wait()
        return Result("done")


async def crash_during_tool(file: Path, act: Interrupted) -> Event:
    async with journal_at(file) as journal, kernel(script=[calls(("act", {"text": "x"}))], tools=[act.tool], journal=journal) as rig:
        event = await rig.say("go")
        await asyncio.wait_for(act.begun.wait(), 60)
    return event


@pytest.mark.parametrize("effect", [Effect.PURE, Effect.IDEMPOTENT])
async def test_what_may_be_repeated_is_run_again_with_the_same_key(file: Path, effect: Effect) -> None:
    act = Interrupted(effect)
    event = await crash_during_tool(file, act)
    async with journal_at(file) as journal, kernel(script=[says("done")], tools=[act.tool], journal=journal) as rig:
        turn = await rig.rested(event)
        assert turn.ending is Ending.ANSWERED
        (outcome,) = outcomes(await journal.steps(turn.id))
        assert (outcome.how, list(act.effects.values())) == ("reran", [2])
        assert len(rig.model.requests) == 1, "no model may be asked what it was doing"


async def test_a_verifiable_effect_that_happened_is_not_repeated(file: Path) -> None:
    act = Interrupted(Effect.VERIFIABLE)
    event = await crash_during_tool(file, act)
    act.tool.happened = Result("it happened")
    async with journal_at(file) as journal, kernel(script=[says("done")], tools=[act.tool], journal=journal) as rig:
        turn = await rig.rested(event)
        (outcome,) = outcomes(await journal.steps(turn.id))
        assert (outcome.how, list(act.effects.values())) == ("verified", [1])
        assert "it happened" in result_text(outcome)


async def test_a_verifiable_effect_that_did_not_happen_is_run(file: Path) -> None:
    act = Interrupted(Effect.VERIFIABLE)
    event = await crash_during_tool(file, act)
    async with journal_at(file) as journal, kernel(script=[says("done")], tools=[act.tool], journal=journal) as rig:
        turn = await rig.rested(event)
        assert outcomes(await journal.steps(turn.id))[0].how == "reran"
        assert len(act.tool.verified) == 1


async def test_when_the_world_gives_no_answer_the_owner_is_asked(file: Path) -> None:
    act = Interrupted(Effect.VERIFIABLE)
    event = await crash_during_tool(file, act)

    async def silent(arguments: dict[str, JsonValue], call: Call) -> Result | None:
        raise ToolFailed("unreachable", "no network")

    act.tool.verify = silent  # type: ignore[method-assign]
    async with journal_at(file) as journal, kernel(tools=[act.tool], journal=journal) as rig:
        turn = await rig.rested(event)
        assert turn.state is State.PARKED
        assert "no network" in (await open_questions(journal, turn.space))[0].question.text


@pytest.mark.parametrize(
    ("choice", "code", "effects"), [("leave", "unknown_outcome", 1), ("done", "", 1), ("allow", "", 2), ("?", "unknown_outcome", 1)]
)
async def test_an_unsafe_effect_is_never_repeated_unless_the_owner_says_so(file: Path, choice: str, code: str, effects: int) -> None:
    act = Interrupted(Effect.UNSAFE)
    event = await crash_during_tool(file, act)
    async with journal_at(file) as journal, kernel(script=[says("done")], tools=[act.tool], journal=journal) as rig:
        turn = await rig.rested(event)
        assert (turn.state, list(act.effects.values())) == (State.PARKED, [1])
        assert "do not know whether it took effect" in (await rig.spoken(1))[0]
        (question,) = await open_questions(journal, turn.space)
        await rig.answer(question.to, choice)
        assert (await rig.ended(turn)).ending is Ending.ANSWERED
        assert (outcomes(await journal.steps(turn.id))[0].code, list(act.effects.values())) == (code, [effects])


async def test_a_permission_given_before_a_crash_does_not_allow_a_second_run(file: Path) -> None:
    act = Interrupted(Effect.UNSAFE, capabilities=(Capability.SENDS,))
    async with journal_at(file) as journal, kernel(script=[calls(("act", {"text": "x"}))], tools=[act.tool], journal=journal) as rig:
        event = await rig.say("go")
        turn = await rig.rested(event)
        (question,) = await open_questions(journal, turn.space)
        await rig.answer(question.to, "allow")
        await asyncio.wait_for(act.begun.wait(), 60)
    async with journal_at(file) as journal, kernel(tools=[act.tool], journal=journal) as rig:
        turn = await rig.rested(event)
        assert (turn.state, list(act.effects.values())) == (State.PARKED, [1])
        assert [q.question.type for q in await open_questions(journal, turn.space)] == ["outcome"]


async def test_a_crash_while_the_model_thinks_asks_it_again(file: Path) -> None:
    class Dying(ScriptedModel):
        begun = asyncio.Event()

        async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
            yield Delta("half an ans")
            self.begun.set()
            await asyncio.Event().wait()

    async with journal_at(file) as journal, kernel(model=Dying(), journal=journal) as rig:
        event = await rig.say("hi")
        await asyncio.wait_for(Dying.begun.wait(), 60)
    async with journal_at(file) as journal, kernel(script=[says("whole")], journal=journal) as rig:
        assert (await rig.rested(event)).ending is Ending.ANSWERED
        assert await rig.spoken(1) == ["whole"]


async def test_a_turn_waits_for_a_person_across_restarts(file: Path) -> None:
    async def ask(arguments: dict[str, JsonValue], call: Call) -> Pending:
        return Pending(call.key, Question("tea?", ("no", "yes")))

    tool = Tool("ask", behaviour=ask)
    async with journal_at(file) as journal, kernel(script=[calls(("ask", {"text": "x"}))], tools=[tool], journal=journal) as rig:
        turn, steps = await rig.ask("go")
        started = next(s.body for s in steps if isinstance(s.body, Started))
    for _ in range(2):
        async with journal_at(file) as journal, kernel(tools=[tool], journal=journal) as rig:
            assert (await journal.turn(turn.id)).state is State.PARKED
    async with journal_at(file) as journal, kernel(script=[says("thanks")], tools=[tool], journal=journal) as rig:
        await rig.answer(StepRef(turn.id, started.intent), "yes")
        assert (await rig.ended(turn)).ending is Ending.ANSWERED
        assert len(tool.calls) == 1


async def test_a_timer_set_before_a_restart_fires_after_it(file: Path) -> None:
    async def remind(arguments: dict[str, JsonValue], call: Call) -> Result:
        return Result("set", operations=(SetTimer("tm-1", call.now + timedelta(hours=1), "tea"),))

    tool, clock = Tool("remind", behaviour=remind), ManualClock()
    async with later(file, clock, calls(("remind", {"text": "x"})), says("ok"), tools=[tool]) as rig:
        await rig.ask("go")
    await clock.advance(3_600)
    async with later(file, clock, says("tea time"), tools=[tool]) as rig:
        await rig.until(lambda: _has_said(rig, "tea time"))
    async with later(file, clock, tools=[tool]) as rig:
        assert (await rig.journal.count()).events == 2


@asynccontextmanager
async def later(file: Path, clock: ManualClock, *script: Line, **more: Any) -> AsyncIterator[Rig]:
    """A start at another time: between two of them it may be as late as the test wants, and in each of them no time passes."""
    async with journal_at(file, clock) as journal, kernel(script=script, journal=journal, clock=clock, ids=fresh_ids(), **more) as rig:
        yield rig


async def _has_said(rig: Rig, text: str) -> bool:
    return any(isinstance(m.content, Said) and text in str(m.content) for m in rig.channel.messages)


# -- upgrades


async def parked_with_a_call(file: Path, tool: Tool) -> tuple[Event, Turn]:
    async with journal_at(file) as journal, kernel(script=[calls(("send", {"text": "bob"}))], tools=[tool], journal=journal) as rig:
        event = await rig.say("go")
        return event, await rig.rested(event)


def sender(**more: Any) -> Tool:
    return Tool("send", Effect.UNSAFE, capabilities=(Capability.SENDS,), **more)


async def allow(rig: Rig, turn: Turn) -> None:
    (question,) = await open_questions(rig.journal, turn.space)
    await rig.answer(question.to, "allow")


async def test_a_parked_turn_goes_on_after_an_upgrade_and_records_what_changed(file: Path) -> None:
    _, turn = await parked_with_a_call(file, sender())
    after = Pins("config-2", "policy", "prompts", "tools", "model-2")
    send = sender()
    async with journal_at(file) as journal, kernel(script=[says("sent")], tools=[send], journal=journal, pins=after) as rig:
        await allow(rig, turn)
        assert (await rig.ended(turn)).ending is Ending.ANSWERED
        steps = await journal.steps(turn.id)
        assert [s.body for s in steps if isinstance(s.body, Upgraded)] == [Upgraded(PINS, after)]
        assert len(send.calls) == 1
        assert (await journal.turn(turn.id)).pins == PINS, "what it started with stays on record"


async def test_a_call_decided_under_another_manifest_is_not_run(file: Path) -> None:
    _, turn = await parked_with_a_call(file, sender())
    send = sender(timeout_s=99.0)
    async with journal_at(file) as journal, kernel(script=[says("I see")], tools=[send], journal=journal) as rig:
        await allow(rig, turn)
        await rig.ended(turn)
        assert outcomes(await journal.steps(turn.id))[0].code == "tool_changed"
        assert send.calls == []


async def test_a_tool_that_is_gone_after_an_upgrade_is_told_to_the_model(file: Path) -> None:
    _, turn = await parked_with_a_call(file, sender())
    async with journal_at(file) as journal, kernel(script=[says("I see")], tools=[], journal=journal) as rig:
        await allow(rig, turn)
        assert (await rig.ended(turn)).ending is Ending.ANSWERED
        assert outcomes(await journal.steps(turn.id))[0].code == "tool_changed"


# -- erasing


async def test_an_erased_exchange_is_gone_from_every_file_and_from_later_prompts(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    script = [says("SECRET answer"), says("second answer"), says("third answer")]
    async with journal_at(file) as journal, kernel(script=script, journal=journal) as rig:
        first, _ = await rig.ask("SECRET question")
        await rig.ask("something else")
        third, steps = await rig.ask("one more thing")
        request = next(s.body.request for s in steps if isinstance(s.body, Replied))
        assert request is not None
        assert b"SECRET answer" in await journal.get(request)
        await rig.until(lambda: _is_delivered(journal))
        await journal.erase_turn(first.id, "the owner asked")
        assert _files_with(tmp_path, b"SECRET") == []
        with pytest.raises(Erased):
            await journal.get(request)
        assert (await journal.event(third.event)).body == Said((Text("one more thing"),))
        fourth, _ = await rig.ask("and now?")
        assert fourth.ending is Ending.ANSWERED
        seen = [m.text for m in rig.model.requests[-1].messages]
        assert "[erased] the owner asked" in seen
        assert not any("SECRET" in text for text in seen)


async def test_a_turn_is_not_erased_while_a_later_one_may_quote_it(file: Path) -> None:
    act = Interrupted(Effect.PURE)
    script = [says("SECRET answer"), calls(("act", {"text": "x"})), says("done")]
    async with journal_at(file) as journal, kernel(script=script, tools=[act.tool], journal=journal) as rig:
        first, _ = await rig.ask("SECRET question")
        await rig.say("go on")
        await asyncio.wait_for(act.begun.wait(), 60)
        with pytest.raises(BadInput, match="is running and may quote it"):
            await journal.erase_turn(first.id, "the owner asked")


async def test_forks_are_erased_with_their_turn(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with journal_at(file) as journal, kernel(script=[says("SECRET answer"), says("another")], journal=journal) as rig:
        turn, steps = await rig.ask("SECRET question")
        fork = await journal.fork(steps[-2].ref)
        rig.scheduler.poke()
        await rig.ended(fork)
        await rig.until(lambda: _is_delivered(journal))
        await journal.erase_turn(turn.id, "the owner asked")
        assert _files_with(tmp_path, b"SECRET") == []


def _files_with(home: Path, words: bytes) -> list[str]:
    return [path.name for path in home.iterdir() if words in path.read_bytes()]


async def _is_delivered(journal: SqliteJournal) -> bool:
    return (await journal.count()).outgoing == 0


# -- turns that kill


async def test_a_turn_that_kills_the_process_every_time_is_given_up(file: Path) -> None:
    async with journal_at(file) as journal, kernel(journal=journal):
        pass
    async with journal_at(file) as journal:
        async with kernel(journal=journal, script=[]) as rig:
            event = Event(**{**_plain_event(rig), "id": "e-poison", "key": "poison"})
        await journal.accept(event)
    for _ in range(MOST_ATTEMPTS):
        async with journal_at(file) as journal:  # each time it is claimed and the process dies
            assert isinstance(await journal.claim(event.where, "w", 30.0, PINS), Claim)
    async with journal_at(file) as journal, kernel(journal=journal) as rig:
        turn = await rig.rested(event)
        assert (turn.state, turn.ending) == (State.FAILED, Ending.FAILED)
        assert "died 20 times in a row" in (await rig.spoken(1))[0]


async def test_a_tool_that_kills_the_process_every_time_is_given_up(file: Path) -> None:
    act = Interrupted(Effect.PURE)
    event = await crash_during_tool(file, act)
    for _ in range(MOST_ATTEMPTS):
        again = Interrupted(Effect.PURE)
        async with journal_at(file) as journal, kernel(tools=[again.tool], journal=journal) as rig:
            dead = asyncio.ensure_future(again.begun.wait())
            over = asyncio.ensure_future(rig.ended((await journal.turns(HOME_SPACE, 1))[0]))
            await asyncio.wait({dead, over}, return_when=asyncio.FIRST_COMPLETED)
            for task in (dead, over):
                task.cancel()
    async with journal_at(file) as journal, kernel(journal=journal) as rig:
        turn = await rig.rested(event)
        assert turn.ending is Ending.FAILED


async def test_an_idempotent_call_whose_tool_was_updated_meanwhile_is_asked_about(file: Path) -> None:
    event = await crash_during_tool(file, Interrupted(Effect.IDEMPOTENT))
    updated = Tool("act", Effect.IDEMPOTENT, timeout_s=99.0)
    async with journal_at(file) as journal, kernel(tools=[updated], journal=journal) as rig:
        assert (await rig.rested(event)).state is State.PARKED
        assert updated.calls == []


async def test_a_turn_whose_rows_cannot_be_read_fails_alone(file: Path) -> None:
    act = Interrupted(Effect.PURE)
    event = await crash_during_tool(file, act)
    damaged = apsw.Connection(str(file))
    damaged.execute("UPDATE payloads SET body = x'00' WHERE pos IN (SELECT pos FROM steps WHERE kind = 'reply')")
    damaged.close()
    async with journal_at(file) as journal, kernel(script=[says("fine")], tools=[act.tool], journal=journal) as rig:
        assert (await rig.rested(event)).state is State.FAILED
        assert (await rig.rested(await rig.say("next"))).ending is Ending.ANSWERED


def _plain_event(rig: Rig) -> dict[str, Any]:
    now = rig.clock.now()
    return {
        "source": "test", "conversation": "main", "principal": OWNER, "body": Said((Text("x"),)), "label": owned("test"),
        "occurred_at": now, "received_at": now, "reply_to": Address("fake", "main"),
    }  # fmt: skip


# -- a crash at every write


class Crash(BaseException):
    """The process is gone."""


class Mortal:
    """A journal that dies at its n-th write, before or after the write reached the disk."""

    WRITES = frozenset({"accept", "claim", "record", "finish", "sending", "delivered"})

    def __init__(self, journal: SqliteJournal, n: int, is_after: bool) -> None:
        self._journal = journal
        self._left = n
        self._is_after = is_after
        self.is_dead = asyncio.Event()

    def die_after(self, writes: int) -> None:
        self._left = writes

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._journal, name)
        return self._dying(method) if name in self.WRITES else method

    def _dying(self, method: Any) -> Any:
        async def write(*arguments: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left < 0 or (self._left == 0 and not self._is_after):
                self.is_dead.set()
                raise Crash
            result = await method(*arguments, **named)
            if self._left == 0:
                self.is_dead.set()
                raise Crash
            return result

        return write


class World:
    """Counts what really happened, by key; idempotent effects are applied once per key, as a careful service would."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.replies: Counter[str] = Counter()

    def tools(self) -> list[Tool]:
        async def act(arguments: dict[str, JsonValue], call: Call) -> Result:
            self.calls[f"{arguments['text']}:{call.key}"] += 1
            await asyncio.sleep(0)
            return Result("ok")

        checked = Tool("check", Effect.VERIFIABLE, act)

        async def verify(arguments: dict[str, JsonValue], call: Call) -> Result | None:
            return Result("ok") if self.calls[f"{arguments['text']}:{call.key}"] else None

        checked.verify = verify  # type: ignore[method-assign]
        return [Tool("once", Effect.UNSAFE, act), Tool("again", Effect.IDEMPOTENT, act), checked]


def script(request: Request) -> Reply:
    """Two rounds of tools, then an answer: derived from the request alone, as a model's reply is."""
    rounds = sum(m.role is Role.ASSISTANT for m in request.messages)
    if rounds == 0:
        return calls(("once", {"text": "unsafe"}), ("again", {"text": "idempotent"}))
    if rounds == 1:
        return calls(("check", {"text": "verifiable"}))
    return says("all done")


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
async def test_a_crash_at_every_write_loses_nothing_and_repeats_nothing(tmp_path: Path, is_after: bool) -> None:
    n, survived = 0, False
    while not survived:
        n += 1
        survived = await _crash_at(tmp_path / f"{n}.db", n, is_after)
    assert n > 6, "the turn must take several writes for this test to mean anything"


async def _crash_at(file: Path, n: int, is_after: bool) -> bool:
    """True if the turn was over before its n-th write."""
    world, key = World(), "the-event"
    async with journal_at(file) as journal:
        mortal = Mortal(journal, n, is_after)
        async with kernel(script=[script] * 9, tools=world.tools(), journal=mortal) as rig:
            try:
                await rig.send(Said((_text(),)), key=key)
                over = asyncio.ensure_future(rig.until(lambda: _is_over(journal)))
                dead = asyncio.ensure_future(mortal.is_dead.wait())
                await asyncio.wait({over, dead}, return_when=asyncio.FIRST_COMPLETED)
                survived = not mortal.is_dead.is_set()
                for task in (over, dead):
                    task.cancel()
            except Crash:
                survived = False
            world.replies.update(m.key for m in rig.channel.messages)
    async with journal_at(file) as journal, kernel(script=[script] * 9, tools=world.tools(), journal=journal) as rig:
        await rig.send(Said((_text(),)), key=key)  # the channel delivers again, since it got no answer
        await rig.until(lambda: _is_over_or_asks(journal))
        for question in await open_questions(journal, (await journal.turns(HOME_SPACE, 1))[0].space):
            await rig.answer(question.to, "leave")
        await rig.until(lambda: _is_over(journal))
        world.replies.update(m.key for m in rig.channel.messages if isinstance(m.content, Said) and "all done" in str(m.content))
        turns = await journal.turns(HOME_SPACE, 10)
        assert [t.ending for t in turns] == [Ending.ANSWERED], f"write {n}: lost or doubled"
        steps = await journal.steps(turns[0].id)
        intents = [s for s in steps if isinstance(s.body, Intended)]
        assert len(intents) == len(outcomes(steps)) == 3
        assert all(number == 1 for name, number in world.calls.items() if not name.startswith("idempotent")), f"write {n}: {world.calls}"
        assert len({name for name in world.calls if name.startswith("idempotent")}) == 1
        unknown = [s for s in steps if isinstance(s.body, Asked)]
        assert len(unknown) <= 1
        assert f"{turns[0].id}:reply" in world.replies
    return survived


def _text() -> Any:
    return Text("go")


async def _is_over(journal: SqliteJournal) -> bool:
    found = await journal.turns(HOME_SPACE, 1)
    return bool(found) and found[0].ended_at is not None and (await journal.count()).outgoing == 0


async def _is_over_or_asks(journal: SqliteJournal) -> bool:
    found = await journal.turns(HOME_SPACE, 1)
    return await _is_over(journal) or (bool(found) and found[0].state is State.PARKED)


# -- a crash at every write of a grant


async def _granted_through_a_crash(file: Path, n: int, is_after: bool) -> bool:
    """True if the turn was over before its n-th write after the answer."""
    send = sender()
    async with journal_at(file) as journal:
        mortal = Mortal(journal, 1_000, is_after)
        async with kernel(script=[_mail] * 9, tools=[send], journal=mortal) as rig:
            turn, _ = await rig.ask("write to bob and ann")
            (question,) = await open_questions(journal, turn.space)
            mortal.die_after(n)
            with suppress(Crash):
                await rig.send(Answer("grant"), resolves=question.to, key="the-answer")
                over = asyncio.ensure_future(rig.until(lambda: _is_over(journal)))
                dead = asyncio.ensure_future(mortal.is_dead.wait())
                await asyncio.wait({over, dead}, return_when=asyncio.FIRST_COMPLETED)
                for task in (over, dead):
                    task.cancel()
            survived = not mortal.is_dead.is_set()
    async with journal_at(file) as journal, kernel(script=[_mail] * 9, tools=[send], journal=journal) as rig:
        await rig.send(Answer("grant"), resolves=question.to, key="the-answer")  # handed in again, since nobody said that it came
        await rig.until(lambda: _is_over_or_doubts(journal))
        for doubt in await open_questions(journal, turn.space):
            await rig.answer(doubt.to, "leave")
        await rig.until(lambda: _is_over(journal))
        granted = [s.body.grant for s in await journal.steps(turn.id) if isinstance(s.body, Granted)]
        assert sorted(grant.destinations for grant in granted) == [("ann@x.org",), ("bob@x.org",)], f"write {n}"
        assert set(await journal.grants(HOME_SPACE, rig.clock.now())) == set(granted) == set(rig.desk.grants.current(rig.clock.now()))
        assert max(Counter(call.key for call in send.calls).values(), default=0) <= 1, f"write {n}: sent twice"
    return survived


def _mail(request: Request) -> Reply:
    is_first = not any(m.role is Role.ASSISTANT for m in request.messages)
    return calls(("send", {"text": "bob@x.org"}), ("send", {"text": "ann@x.org"})) if is_first else says("all done")


async def _is_over_or_doubts(journal: SqliteJournal) -> bool:
    return await _is_over(journal) or any(q.question.type == "outcome" for q in await open_questions(journal, HOME_SPACE))


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
async def test_a_crash_at_every_write_gives_each_grant_exactly_once(tmp_path: Path, is_after: bool) -> None:
    n, survived = 0, False
    while not survived:
        n += 1
        survived = await _granted_through_a_crash(tmp_path / f"{n}.db", n, is_after)
    assert n > 4, "the answer must take several writes for this test to mean anything"


async def test_a_call_that_waits_for_second_thoughts_waits_across_restarts(file: Path) -> None:
    send, manner, clock = sender(), Manner(undo=timedelta(seconds=30)), ManualClock()
    async with later(file, clock, calls(("send", {"text": "bob"})), tools=[send], manner=manner) as rig:
        turn, _ = await rig.ask("go")
        await allow(rig, turn)
        await rig.until(lambda: _thinks_again(rig.journal, turn))
    assert send.calls == []
    await clock.advance(30)
    async with later(file, clock, says("sent"), tools=[send]) as rig:
        assert (await rig.ended(turn)).ending is Ending.ANSWERED
        assert len(send.calls) == 1


async def _thinks_again(journal: SqliteJournal, turn: Turn) -> bool:
    return any(q.question.type == "undo" for q in await open_questions(journal, turn.space))


async def test_a_grant_counts_again_after_a_restart(file: Path) -> None:
    async with (
        journal_at(file) as journal,
        kernel(script=[calls(("send", {"text": "bob"})), says("")], tools=[sender()], journal=journal) as rig,
    ):
        turn, _ = await rig.ask("go")
        (question,) = await open_questions(journal, turn.space)
        await rig.answer(question.to, "grant")
        await rig.ended(turn)
    async with journal_at(file) as journal, kernel(journal=journal) as rig:
        (grant,) = rig.desk.grants.current(rig.clock.now())
        assert grant.destinations == ("bob",)
        await rig.desk.grants.revoke(grant.id, OWNER)
    async with journal_at(file) as journal, kernel(journal=journal) as rig:
        assert rig.desk.grants.current(rig.clock.now()) == ()


async def test_an_erased_turns_results_and_calls_are_in_no_later_prompt_either(file: Path) -> None:
    secret = "the locker code is 4711"
    script = [calls(("read", {"text": f"about {secret}"})), says("read it"), says("you are welcome")]

    async def read(arguments: dict[str, JsonValue], call: Call) -> Result:
        return Result({"found": secret})

    async with journal_at(file) as journal, kernel(script=script, tools=[Tool("read", behaviour=read)], journal=journal) as rig:
        turn, _ = await rig.ask("read my note")
        later, steps = await rig.ask("thanks")
        (reply,) = replies(steps)
        assert secret.encode() in await journal.get(reply.request)
        await journal.erase_turn(turn.id, "the owner asked")
        with pytest.raises(Erased):
            await journal.get(reply.request)
        assert later.ending is Ending.ANSWERED
    for kept in file.parent.iterdir():
        assert secret.encode() not in kept.read_bytes()


async def test_a_conversation_goes_on_without_the_words_of_a_source_that_was_forgotten(file: Path) -> None:
    secret, page = "the locker code is 4711", Label.of(Origin(Author.STRANGER, "web:x.org"))
    script = [calls(("read", {"text": "the page"})), says(f"it says: {secret}"), says(f"as I said, {secret}"), says("all is well")]

    async def read(arguments: dict[str, JsonValue], call: Call) -> Result:
        return Result({"found": secret}, labels={"": page})

    async with journal_at(file) as journal, kernel(script=script, tools=[Tool("read", behaviour=read)], journal=journal) as rig:
        turn, _ = await rig.ask("read that page")
        later, _ = await rig.ask("what was it?")
        await rig.until(lambda: _is_delivered(journal))
        forget = Amendment(id="am-1", space=HOME_SPACE, principal=OWNER, at=rig.clock.now(), operations=(ForgetSource("web:x.org"),))
        assert await journal.forget_source(forget) > 0
        assert _files_with(file.parent, secret.encode()) == []
        last, _ = await rig.ask("and now?")
        assert last.ending is Ending.ANSWERED
        seen = rig.model.requests[-1].messages
        assert secret not in str(seen)
        assert [message.text for message in seen if message.role is Role.USER] == ["read that page", "what was it?", "and now?"]
        assert seen[-1].label.is_trusted
        assert (await journal.turn(later.id)).ending is Ending.ANSWERED
        kinds = [step.body.kind for step in await journal.steps(turn.id)]
        assert kinds.index("intent") < kinds.index("erased")


async def test_a_call_that_failed_has_the_label_and_the_references_of_its_prompt() -> None:
    page = Label.of(Origin(Author.STRANGER, "web:x.org"))
    script = [calls(("read", {"text": "the page"})), says("read it"), ProviderFailed("cut", "gone"), says("here I am")]

    async def read(arguments: dict[str, JsonValue], call: Call) -> Result:
        return Result("words of the page", labels={"": page})

    async with kernel(script=script, tools=[Tool("read", behaviour=read)]) as rig:
        first, _ = await rig.ask("read that page")
        _, steps = await rig.ask("what was it?")
        (failed,) = [step for step in steps if isinstance(step.body, ModelFailed)]
        assert Origin(Author.STRANGER, "web:x.org") in failed.label.origins
        assert failed.body.context == (ContextRef("turn", first.id),)
