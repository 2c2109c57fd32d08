"""A call to serve, and the table of all tools that need nothing but ports."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.label import owned
from daimon.abi.ports import Count
from daimon.abi.tool import Call
from daimon.abi.turn import State
from daimon.memory.graph import limits
from daimon.testing.memory import FakeMemory, FakeTexts
from daimon.testing.timers import FakeTimers
from daimon.tools.clock import clock_tools
from daimon.tools.facts import fact_tools
from daimon.tools.graph import graph_tools
from daimon.tools.notes import notes_tools
from daimon.tools.people import people_tools
from daimon.tools.registry import Registry
from daimon.tools.reminders import reminder_tools
from daimon.tools.status import status_tools

NOW = datetime(2026, 3, 13, 17, 30, tzinfo=UTC)


@dataclass
class FakeCounter:
    turns: dict[State, int] = field(default_factory=dict)

    async def count(self) -> Count:
        return Count(events=7, turns=self.turns, steps=40, timers=2, outgoing=1, dead_letters=0, bytes=4096)


@pytest.fixture
def call() -> Call:
    return Call(Key("t1:4"), HOME_SPACE, OWNER, SELF, Conversation(HOME_SPACE, "terminal"), None, NOW, owned("terminal"))


@pytest.fixture
def memory() -> FakeMemory:
    return FakeMemory()


@pytest.fixture
def timers() -> FakeTimers:
    return FakeTimers()


@pytest.fixture
def counter() -> FakeCounter:
    return FakeCounter({State.RUNNING: 1, State.DONE: 5})


@pytest.fixture
def registry(memory: FakeMemory, timers: FakeTimers, counter: FakeCounter) -> Registry:
    kept = (*notes_tools(memory, FakeTexts()), *fact_tools(), *graph_tools(memory, limits.check), *reminder_tools(timers))
    return Registry([*clock_tools("Europe/Berlin"), *kept, *people_tools(), *status_tools(counter)])
