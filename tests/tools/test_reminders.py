from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import HOME_SPACE, Conversation, Key, TimerId
from daimon.abi.label import UNLABELLED, owned
from daimon.abi.ports import Reminder
from daimon.abi.tool import Call, CancelTimer, Result, SetTimer, Tool
from daimon.testing.timers import FakeTimers
from daimon.tools.reminders import reminder_tools


@pytest.fixture
def tools(timers: FakeTimers) -> dict[str, Tool]:
    return {each.manifest.name: each for each in reminder_tools(timers)}


async def run(tool: Tool, arguments: dict[str, JsonValue], call: Call) -> Result:
    result = await tool.run(arguments, call)
    assert isinstance(result, Result)
    return result


async def test_a_reminder_becomes_a_timer_in_utc_with_the_outcome(tools: dict[str, Tool], call: Call) -> None:
    result = await run(tools["remind"], {"at": "2026-03-14T09:00:00+01:00", "about": "Call Anna."}, call)
    (operation,) = result.operations
    assert isinstance(operation, SetTimer)
    assert operation == SetTimer(operation.timer, datetime(2026, 3, 14, 8, tzinfo=UTC), "Call Anna.")
    assert result.data == {"reminder": operation.timer, "at": "2026-03-14T08:00:00+00:00"}
    assert result.labels == {"": call.label}


async def test_a_call_run_again_sets_the_same_timer(tools: dict[str, Tool], call: Call) -> None:
    arguments: dict[str, JsonValue] = {"at": "2026-03-14T09:00:00+01:00", "about": "Call Anna."}
    assert await run(tools["remind"], arguments, call) == await run(tools["remind"], arguments, call)
    assert await run(tools["remind"], arguments, call) != await run(tools["remind"], arguments, replace(call, key=Key("t2:1")))


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        ("2026-03-13T17:30:00Z", "in_past"),
        ("2026-03-13T18:00:00+01:00", "in_past"),
        ("0001-01-01T00:00:00+14:00", "in_past"),
        ("9999-12-31T23:59:59-12:00", "too_far"),
    ],
)
async def test_a_time_that_cannot_be_waited_for_is_told_to_the_model(tools: dict[str, Tool], call: Call, at: str, reason: str) -> None:
    with pytest.raises(ToolFailed, match="give a") as failed:
        await run(tools["remind"], {"at": at, "about": "x"}, call)
    assert failed.value.reason == reason


def pending(call: Call, name: str, day: int, where: Conversation | None = None) -> Reminder:
    return Reminder(TimerId(name), where or call.conversation, call.now.replace(day=day), f"about {name}")


async def test_reminders_of_this_conversation_are_listed_the_next_one_first(tools: dict[str, Tool], timers: FakeTimers, call: Call) -> None:
    elsewhere = Conversation(HOME_SPACE, "elsewhere")
    timers.reminders = [pending(call, "b", 20), pending(call, "a", 15), pending(call, "c", 16, elsewhere)]
    result = await run(tools["reminders"], {}, call)
    assert result.data == {
        "reminders": [
            {"id": "a", "at": "2026-03-15T17:30:00+00:00", "about": "about a"},
            {"id": "b", "at": "2026-03-20T17:30:00+00:00", "about": "about b"},
        ]
    }


async def test_reminders_come_back_with_the_labels_that_they_were_set_under(tools: dict[str, Tool], timers: FakeTimers, call: Call) -> None:
    assert (await run(tools["reminders"], {}, call)).labels == {}
    mine = replace(pending(call, "b", 16), label=owned("terminal"))
    timers.reminders = [pending(call, "a", 15), mine]
    assert (await run(tools["reminders"], {}, call)).labels == {
        "": UNLABELLED.joined(mine.label),
        "/reminders/0": UNLABELLED,
        "/reminders/1": mine.label,
    }


async def test_a_reminder_is_cancelled_with_the_outcome(tools: dict[str, Tool], timers: FakeTimers, call: Call) -> None:
    timers.reminders = [pending(call, "a", 15)]
    assert (await run(tools["cancel_reminder"], {"reminder": "a"}, call)).operations == (CancelTimer(TimerId("a")),)


async def test_a_reminder_that_is_not_there_cannot_be_cancelled(tools: dict[str, Tool], timers: FakeTimers, call: Call) -> None:
    timers.reminders = [pending(call, "a", 15), pending(call, "c", 16, Conversation(HOME_SPACE, "elsewhere"))]
    with pytest.raises(ToolFailed, match="no reminder 'c' is to come in this conversation; there are: a") as failed:
        await run(tools["cancel_reminder"], {"reminder": "c"}, call)
    assert failed.value.reason == "not_found"
