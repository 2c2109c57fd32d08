"""Whose words they are is never forgotten: not by a note, a timer, a child, an error, another agent, an earlier turn or a restart."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from tests.journal.stripping import strip_journal, strip_notes
from tests.kernel.errands import World
from tests.kernel.rig import Rig, Tool, kernel, outcomes, replies

from daimon.abi.errors import ToolFailed
from daimon.abi.event import Fired, FromAgent
from daimon.abi.ids import HOME_SPACE, AgentId, StepRef
from daimon.abi.judgement import Gate, Situation
from daimon.abi.label import EMPTY, UNLABELLED, Author, Label, Origin, owned
from daimon.abi.message import Text
from daimon.abi.step import Asked, Happened, Intended, Step
from daimon.abi.tool import Call, Capability, HandOver, Pending, Post, Result, ResultLabel
from daimon.context.reread import Reread
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.memory.store import MemoryStore
from daimon.testing.clock import START, ManualClock
from daimon.testing.judgement import FixedPolicy
from daimon.testing.model import Line, calls, says
from daimon.tools.notes import notes_tools
from daimon.tools.people import people_tools
from daimon.tools.planning import planning_tools
from daimon.tools.reminders import reminder_tools

MAILS = calls(("mails", {}))
STRANGER = Origin(Author.STRANGER, "mail")


@asynccontextmanager
async def home(place: Path, *script: Line, later: timedelta = timedelta(0), **more: Any) -> AsyncIterator[Rig]:
    """A kernel on a journal and a memory file that are on disk."""
    clock, ids = ManualClock(START + later), SortableIds(SystemClock(), SystemRandom())
    journal = await SqliteJournal.open(place / "journal.db", clock, ids)
    ids.go_on_after(await journal.newest())
    memory, _ = await MemoryStore.open(place / "memory.db", journal)
    kept = (*notes_tools(memory, Reread(journal)), *reminder_tools(journal))
    tools = (*World().tools(), *kept, *people_tools(), *planning_tools(), *more.pop("tools", ()))
    more = {"policy": FixedPolicy(Gate("allow"))} | more
    try:
        async with kernel(script=script, tools=tools, journal=journal, clock=clock, ids=ids, **more) as rig:
            yield rig
    finally:
        await memory.close()
        await journal.close()


async def asked(rig: Rig, words: str, conversation: str = "main") -> tuple[Step, ...]:
    turn = await rig.rested(await rig.say(words, conversation))
    return tuple(await rig.journal.steps(turn.id))


def last_of(steps: tuple[Step, ...]) -> Happened:
    return outcomes(steps)[-1]


REMIND = calls(("remind", {"at": (START + timedelta(days=1)).isoformat(), "about": "pay eve"}))
RECALL, REMINDERS = calls(("recall", {"query": ""})), calls(("reminders", {}))


@pytest.mark.parametrize("reads_mail", [True, False])
async def test_a_note_is_as_trusted_as_what_was_read_when_it_was_made(tmp_path: Path, reads_mail: bool) -> None:
    note = calls(("remember", {"text": "pay eve"}))
    async with home(tmp_path, *((MAILS, note) if reads_mail else (note,))) as rig:
        await asked(rig, "note it")
    async with home(tmp_path, RECALL) as rig:
        result = last_of(await asked(rig, "what is there?", "other")).result
    assert (STRANGER in result.label.origins, result.label.is_trusted) == (reads_mail, not reads_mail)


@pytest.mark.parametrize("reads_mail", [True, False])
async def test_a_reminder_is_as_trusted_as_what_was_read_when_it_was_set(tmp_path: Path, reads_mail: bool) -> None:
    async with home(tmp_path, *((MAILS, REMIND) if reads_mail else (REMIND,))) as rig:
        await asked(rig, "remind me")
    async with home(tmp_path, REMINDERS) as rig:
        listed = last_of(await asked(rig, "what is to come?")).result
    assert listed.label.is_trusted is not reads_mail
    event = await fired(tmp_path)
    assert (STRANGER in event.label.origins, event.label.is_trusted) == (reads_mail, not reads_mail)


async def fired(place: Path) -> Any:
    """The event of the one timer, two days later."""
    found: list[Any] = []
    async with home(place, later=timedelta(days=2)) as rig:

        async def has_fired() -> bool:
            for turn in await rig.journal.turns(HOME_SPACE, 10):
                event = await rig.journal.event(turn.event)
                found.extend([event] if isinstance(event.body, Fired) else [])
            return bool(found)

        await rig.until(has_fired)
    return found[0]


async def test_what_a_tool_says_when_it_fails_is_as_untrusted_as_its_worst_field() -> None:
    async def fails(arguments: dict[str, JsonValue], call: Call) -> Result:
        raise ToolFailed("no_row", "line 1 is no row: pay eve")

    for fields, is_trusted in (({"/rows/*": Author.STRANGER}, False), ({}, True)):
        tool = Tool("table", behaviour=fails, result=ResultLabel(Author.SERVICE, "table", fields))
        async with kernel(script=[calls(("table", {"text": "x"}))], tools=[tool]) as rig:
            _, steps = await rig.ask("go")
        assert (last_of(steps).result.label.is_trusted, last_of(steps).code) == (is_trusted, "no_row")


async def test_what_a_tool_says_when_it_breaks_is_a_strangers() -> None:
    async def breaks(arguments: dict[str, JsonValue], call: Call) -> Result:
        raise ValueError("pay eve")

    tool = Tool("table", behaviour=breaks, result=ResultLabel(Author.SERVICE, "table"))
    async with kernel(script=[calls(("table", {"text": "x"}))], tools=[tool]) as rig:
        _, steps = await rig.ask("go")
    assert last_of(steps).result.label == UNLABELLED


async def test_a_tool_cannot_pass_on_words_under_a_label_that_names_nobody() -> None:
    async def reads(arguments: dict[str, JsonValue], call: Call) -> Result:
        return Result({"text": "pay eve"}, labels={"": EMPTY, "/text": EMPTY})

    tool = Tool("reads", behaviour=reads, result=ResultLabel(Author.SERVICE, "files"))
    async with kernel(script=[calls(("reads", {"text": "x"}))], tools=[tool]) as rig:
        _, steps = await rig.ask("go")
    assert (last_of(steps).result.label, last_of(steps).result.labels) == (UNLABELLED, {"": UNLABELLED, "/text": UNLABELLED})
    assert not replies(steps) or not steps[-1].label.is_trusted


async def post(arguments: dict[str, JsonValue], call: Call) -> Pending:
    return Pending(call.key, operations=(Post(AgentId("scout"), "scouting", (Text(str(arguments["text"])),)),))


async def test_another_agent_hears_a_strangers_words_as_such_and_so_does_its_report() -> None:
    tools = (*World().tools(), Tool("post_it", behaviour=post))
    script = [MAILS, calls(("post_it", {"text": "pay eve"})), says("paid?"), says("done")]
    async with kernel(script=script, tools=tools, policy=FixedPolicy(Gate("allow"))) as rig:
        turn = await rig.ended(await rig.rested(await rig.say("go")))
        (child,) = await rig.journal.turns(HOME_SPACE, 1, "scouting")
        told, steps = await rig.journal.event(child.event), await rig.journal.steps(turn.id)
    assert isinstance(told.body, FromAgent)
    assert STRANGER in told.label.origins
    assert STRANGER in last_of(steps).result.label.origins


async def test_a_childs_own_reading_comes_back_with_its_report() -> None:
    tools = (*World().tools(), Tool("post_it", behaviour=post, result=ResultLabel(Author.SERVICE, "helper")))
    script = [calls(("post_it", {"text": "look"})), MAILS, says("pay eve"), says("done")]
    async with kernel(script=script, tools=tools, policy=FixedPolicy(Gate("allow"))) as rig:
        turn = await rig.ended(await rig.rested(await rig.say("go")))
        steps = await rig.journal.steps(turn.id)
    assert STRANGER in last_of(steps).result.label.origins
    assert not steps[-1].label.is_trusted


async def test_who_takes_over_a_turn_takes_over_what_it_has_heard() -> None:
    async def hand(arguments: dict[str, JsonValue], call: Call) -> Result:
        return Result("ok", operations=(HandOver(AgentId("banker"), "money"),))

    tools = (*World().tools(), Tool("hand", behaviour=hand, result=ResultLabel(Author.SERVICE, "hand")))
    policy = FixedPolicy(Gate("allow"))
    script = [MAILS, calls(("hand", {"text": "x"})), calls(("safe", {}))]
    async with kernel(script=script, tools=tools, policy=policy) as rig:
        await rig.ask("go")
    manifest, _, situation = policy.asked[-1]
    assert (manifest.name, situation.call.agent, situation.is_clean) == ("safe", "banker", False)


async def test_a_later_turn_of_the_conversation_stands_under_what_an_earlier_one_heard() -> None:
    policy = FixedPolicy(Gate("allow"))
    async with kernel(script=[MAILS, says("read"), calls(("safe", {}))], tools=World().tools(), policy=policy) as rig:
        await rig.ask("read my mail")
        await rig.ask("and now?")
    assert STRANGER in policy.asked[-1][2].call.label.origins


async def test_a_turn_that_was_parked_is_judged_after_a_restart_as_before(tmp_path: Path) -> None:
    """All that the gate looks at is on disk, or is read again."""
    first, second = Recording(Gate("ask")), Recording(Gate("ask"))
    script = (calls(("safe", {})), says("kept"), calls(("plan", {"steps": ["delete(id='f1')"]})), MAILS, calls(("delete", {"id": "f1"})))
    async with home(tmp_path, *script, policy=first) as rig:
        await asked(rig, "is it kept?")
        steps = await asked(rig, "tidy up")
    (question,) = [step for step in steps if isinstance(step.body, Asked)]
    async with home(tmp_path, policy=second) as rig:
        await rig.answer(question.ref, "allow")
        await rig.ended(await rig.journal.turn(question.turn))
    before, after = first.situations[-1], second.situations[-1]
    assert told(before) == told(after)
    assert ([seen.tool for seen in after.before], len(after.plans), after.is_clean) == (["safe"], 1, False)


class Recording(FixedPolicy):
    """Asks about what deletes; keeps what it was shown."""

    def judge(self, manifest: Any, arguments: dict[str, JsonValue], situation: Situation) -> Gate:
        gate = super().judge(manifest, arguments, situation)
        return gate if Capability.DELETES in manifest.capabilities else Gate("allow")

    @property
    def situations(self) -> list[Situation]:
        return [situation for manifest, _, situation in self.asked if manifest.name == "delete"]


def told(situation: Situation) -> tuple[object, ...]:
    seen = [(each.n, each.tool, each.arguments, each.label, each.labels) for each in (*situation.before, *situation.seen)]
    return situation.words, seen, situation.made, situation.plans, situation.declined, situation.call.label


# -- without labels on disk


async def test_without_labels_on_disk_everything_comes_back_as_a_strangers(tmp_path: Path) -> None:
    async with home(tmp_path, calls(("remember", {"text": "tea"})), REMIND) as rig:
        await asked(rig, "remember tea, and remind me")
    strip_journal(tmp_path / "journal.db")
    strip_notes(tmp_path / "memory.db")
    async with home(tmp_path, RECALL, says("tea"), REMINDERS, says("tomorrow")) as rig:
        noted, listed = [last_of(await asked(rig, words, where)).result for words, where in (("tea?", "other"), ("when?", "main"))]
        prompt = rig.model.requests[-1]
    assert [noted.label, noted.labels["/notes/0"]] == [UNLABELLED, UNLABELLED]
    assert [listed.label, listed.labels["/reminders/0"]] == [UNLABELLED, UNLABELLED]
    assert not prompt.label.is_trusted
    system, *earlier, now = [message for message in prompt.messages if message.role in ("user", "system")]
    assert ([message.label for message in earlier], now.label) == ([UNLABELLED], owned("test"))
    assert system.label.is_trusted
    assert (await fired(tmp_path)).label == UNLABELLED


async def test_without_labels_on_disk_the_owners_words_license_nothing(tmp_path: Path) -> None:
    policy = Recording(Gate("ask"))
    async with home(tmp_path, calls(("delete", {"id": "f1"})), policy=policy) as rig:
        (question,) = [step for step in await asked(rig, "delete f1") if isinstance(step.body, Asked)]
    assert (policy.situations[-1].words, policy.situations[-1].is_clean) == (("delete f1",), True)
    strip_journal(tmp_path / "journal.db")
    async with home(tmp_path, policy=policy) as rig:
        await rig.answer(question.ref, "allow")
        await rig.ended(await rig.journal.turn(question.turn))
    assert (policy.situations[-1].words, policy.situations[-1].is_clean) == ((), False)


# -- what a person said


@pytest.mark.parametrize(("said", "choice"), [("no, never", "f1"), ("f1", "f1"), ("f2", "f2")])
async def test_an_option_stays_the_agents_words_and_what_was_typed_is_the_owners(said: str, choice: str) -> None:
    question = calls(("ask_owner", {"question": "Which?", "options": ["f1", "f2"]}))
    async with kernel(script=[MAILS, question], tools=(*World().tools(), *people_tools()), policy=FixedPolicy(Gate("allow"))) as rig:
        turn, steps = await rig.ask("go")
        n = next(step.n for step in steps if isinstance(step.body, Intended) and step.body.tool == "ask_owner")
        await rig.answer(StepRef(turn.id, n), said)
        await rig.ended(turn)
        result = last_of(await rig.journal.steps(turn.id)).result
    assert f'"choice": "{choice}"' in result.parts[0].text  # type: ignore[union-attr]
    assert STRANGER in result.labels["/choice"].origins
    assert result.labels[""] == owned("test")
    assert isinstance(result.labels["/choice"], Label)
