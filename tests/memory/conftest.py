"""A journal that can be written to and read from, as far as a notebook cares."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from daimon.abi.event import Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, EventId, Key, PrincipalId, SpaceId, TurnId
from daimon.abi.label import Label, owned
from daimon.abi.memory import Forget, Remember
from daimon.abi.message import Text, ToolResult
from daimon.abi.ports import START, Change, Cursor
from daimon.abi.step import Happened, Step, StepBody
from daimon.abi.tool import Operation
from daimon.memory.notebook import Notebook

NOON = datetime(2026, 3, 13, 12, tzinfo=UTC)


@dataclass
class Written:
    """Implements `Changes`. Each record is a minute later than the one before."""

    changes: list[Change] = field(default_factory=list)
    asked: list[Cursor] = field(default_factory=list)

    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        self.asked.append(cursor)
        first = 0 if cursor == START else int(cursor) + 1
        return self.changes[first : first + limit]

    def remember(self, text: str, note: str = "", **about: Any) -> str:
        note = note or f"note_{len(self.changes)}"
        self.outcome(Remember(text, note), **about)
        return note

    def forget(self, note: str, **about: Any) -> None:
        self.outcome(Forget(note), **about)

    def outcome(self, *operations: Operation, code: str = "", **about: Any) -> None:
        result = ToolResult("c1", "remember", (Text("{}"),))
        self.step(Happened(0, result, code=code, operations=operations), **about)

    def step(
        self,
        body: StepBody,
        space: str = HOME_SPACE,
        principal: str = OWNER,
        label: Label | None = None,
        at: datetime | None = None,
    ) -> None:
        n = len(self.changes)
        step = Step(
            turn=TurnId("t1"),
            n=n,
            body=body,
            at=at or NOON + timedelta(minutes=n),
            space=SpaceId(space),
            principal=PrincipalId(principal),
            agent=SELF,
            label=label or owned("terminal"),
        )
        self.changes.append(Change(Cursor(str(n)), step))

    def event(self) -> None:
        n = len(self.changes)
        event = Event(
            id=EventId(f"e{n}"),
            source="terminal",
            key=Key(str(n)),
            conversation="terminal",
            principal=OWNER,
            body=Said((Text("Remember that Anna likes tea"),)),
            occurred_at=NOON,
            received_at=NOON,
        )
        self.changes.append(Change(Cursor(str(n)), event))


@pytest.fixture
def journal() -> Written:
    return Written()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def notebook(path: Path, journal: Written) -> AsyncIterator[Notebook]:
    opened, warnings = await Notebook.open(path, journal)
    assert warnings == []
    yield opened
    await opened.close()
