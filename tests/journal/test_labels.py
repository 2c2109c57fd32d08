"""A label that is gone, or says nothing, makes what it stood on a stranger's: at every place where the journal keeps one."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.journal.stripping import TABLES, strip_columns, strip_payloads, without_labels
from tests.journal.world import DONE, MAIN, PINS, TTL_S, begun, claimed, event, intent, opened, outcome, step

from daimon.abi.codec import encode
from daimon.abi.event import Event
from daimon.abi.fields import label_at
from daimon.abi.ids import HOME_SPACE, SELF, TimerId
from daimon.abi.label import EMPTY, UNLABELLED, Label, join, owned, stated
from daimon.abi.message import Message, Role, Text, ToolResult, said
from daimon.abi.step import Happened, Started
from daimon.abi.tool import Post, Send, SetTimer
from daimon.testing.clock import ManualClock

NOBODY = encode(Label, EMPTY)


async def filled(path: Path) -> None:
    """A turn that is over, with a labelled result, a timer, a message that waits, and work for another conversation."""
    clock = ManualClock()
    async with opened(path, clock) as journal:
        claim = await begun(journal)
        timer = SetTimer(TimerId("tm-1"), clock.now() + timedelta(hours=1), "tea")
        result = ToolResult("c1", "pay", (Text('{"ok": true, "data": {"id": 1}}'),), label=owned("bank"), labels={"/id": owned("bank")})
        sent = Send(event("x").reply_to, (Text("hi"),))  # type: ignore[arg-type]
        steps = [intent(claim, 0), step(claim, 1, Happened(0, result, operations=(timer, sent))), intent(claim, 2)]
        await journal.record(claim, [*steps, step(claim, 3, Started(2, "h", operations=(Post(SELF, "b", (Text("look"),)),)))])
        await journal.finish(claim, [], DONE)


async def labels(path: Path) -> dict[str, Label]:
    """What each table says of what it keeps."""
    clock = ManualClock()
    async with opened(path, clock) as journal:
        (turn,) = await journal.turns(HOME_SPACE, 1)
        return {
            "events": (await journal.event(turn.event)).label,
            "turns": turn.label,
            "steps": join(each.label for each in await journal.steps(turn.id)),
            "timers": join(each.label for each in await journal.pending(MAIN)),
            "outbox": join(each.label for each in await journal.outgoing(10)),
        }


async def test_what_was_written_with_a_label_comes_back_with_it(tmp_path: Path) -> None:
    await filled(tmp_path / "journal.db")
    assert {name: label.is_trusted for name, label in (await labels(tmp_path / "journal.db")).items()} == dict.fromkeys(TABLES, True)


@pytest.mark.parametrize("table", TABLES)
async def test_a_label_that_names_nobody_is_no_label(tmp_path: Path, table: str) -> None:
    await filled(tmp_path / "journal.db")
    strip_columns(tmp_path / "journal.db", (table,), NOBODY)
    read = await labels(tmp_path / "journal.db")
    assert read.pop(table) == UNLABELLED
    assert all(label.is_trusted for label in read.values())


async def test_a_timer_whose_label_names_nobody_fires_as_a_strangers(tmp_path: Path) -> None:
    await filled(tmp_path / "journal.db")
    strip_columns(tmp_path / "journal.db", ("timers",), NOBODY)
    clock = ManualClock()
    async with opened(tmp_path / "journal.db", clock) as journal:
        await clock.advance(7_200)
        await journal.due(clock.now(), 10)
        assert claimed(await journal.claim(MAIN, "w1", TTL_S, PINS)).event.label == UNLABELLED


async def test_a_result_without_its_labels_is_a_strangers_in_every_field(tmp_path: Path) -> None:
    await filled(tmp_path / "journal.db")
    strip_payloads(tmp_path / "journal.db")
    async with opened(tmp_path / "journal.db") as journal:
        (turn,) = await journal.turns(HOME_SPACE, 1)
        (result,) = [each.body.result for each in await journal.steps(turn.id) if isinstance(each.body, Happened)]
    assert (result.label, result.labels) == (UNLABELLED, {})
    assert label_at(result.labels, ("id",), result.label) == UNLABELLED


async def test_work_for_another_conversation_without_its_label_arrives_as_a_strangers(tmp_path: Path) -> None:
    await filled(tmp_path / "journal.db")
    strip_payloads(tmp_path / "journal.db")
    async with opened(tmp_path / "journal.db") as journal:
        (posted,) = [each.content for each in await journal.outgoing(10) if isinstance(each.content, Event)]
        await journal.accept(posted)
        assert claimed(await journal.claim(posted.where, "w1", TTL_S, PINS)).event.label == UNLABELLED


def test_a_message_of_a_prompt_without_its_label_is_a_strangers() -> None:
    spoken = said(Role.USER, "pay", owned("terminal"))
    assert Message(spoken.role, spoken.parts).label == UNLABELLED
    assert not join([Message(spoken.role, spoken.parts).label, spoken.label]).is_trusted
    assert without_labels({"label": 1, "parts": [{"labels": {}, "text": "x"}]}) == {"parts": [{"text": "x"}]}


def test_a_label_that_was_handed_over_counts_only_if_it_names_somebody() -> None:
    assert (stated(None), stated(EMPTY), stated(Label((), ()))) == (UNLABELLED, UNLABELLED, UNLABELLED)
    assert stated(owned("terminal")) == owned("terminal")


async def test_an_outcome_keeps_the_label_of_its_step_when_its_own_is_gone(tmp_path: Path) -> None:
    """The two are kept apart: losing one does not lift the other."""
    async with opened(tmp_path / "journal.db") as journal:
        claim = await begun(journal)
        await journal.record(claim, [intent(claim, 0), outcome(claim, 1)])
    strip_columns(tmp_path / "journal.db", ("steps",))
    async with opened(tmp_path / "journal.db") as journal:
        (turn,) = await journal.turns(HOME_SPACE, 1)
        *_, last = await journal.steps(turn.id)
    assert isinstance(last.body, Happened)
    assert (last.label, last.body.result.label) == (UNLABELLED, owned("test"))
