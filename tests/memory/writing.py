"""A journal that can be written to and read from, as far as memory cares."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from daimon.abi.event import Body, Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, AgentId, EventId, Key, PrincipalId, SpaceId, StepRef, TurnId
from daimon.abi.label import Label, owned
from daimon.abi.memory import AmendedBy, Amendment, Forget, Remember
from daimon.abi.message import Text, ToolResult
from daimon.abi.ports import START, Change, Cursor, Erasure
from daimon.abi.step import Complete, ContextRef, Decided, Happened, Replied, Step, StepBody
from daimon.abi.tool import Operation
from daimon.abi.turn import Ending, State, Turn

NOON = datetime(2026, 3, 13, 12, tzinfo=UTC)


@dataclass
class Written:
    """Implements `Changes`. Each record is a minute later than the one before."""

    changes: list[Change] = field(default_factory=list)
    asked: list[Cursor] = field(default_factory=list)
    turns: dict[TurnId, Turn] = field(default_factory=dict)

    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        self.asked.append(cursor)
        first = 0 if cursor == START else int(cursor) + 1
        return self.changes[first : first + limit]

    def known_turn(self, turn: TurnId) -> Turn | None:
        return self.turns.get(turn)

    @property
    def now(self) -> datetime:
        return NOON + timedelta(minutes=len(self.changes))

    def remember(self, text: str, note: str = "", **about: Any) -> str:
        note = note or f"note_{len(self.changes)}"
        self.outcome(Remember(text, note), **about)
        return note

    def forget(self, note: str, **about: Any) -> None:
        self.outcome(Forget(note), **about)

    def outcome(self, *operations: Operation, code: str = "", **about: Any) -> str:
        result = ToolResult("c1", "remember", (Text("{}"),))
        return self.step(Happened(0, result, code=code, operations=operations), **about)

    def reply(self, text: str, *used: str, **about: Any) -> str:
        context = tuple(ContextRef("memory", id_) for id_ in used)
        return self.step(Replied("model", (Text(text),), "stop", context=context), **about)

    def complete(self, ending: Ending = Ending.ANSWERED, **about: Any) -> str:
        return self.step(Decided(Complete(ending), "1"), **about)

    def step(
        self,
        body: StepBody,
        space: str = HOME_SPACE,
        principal: str = OWNER,
        label: Label | None = None,
        at: datetime | None = None,
        turn: str = "t1",
        n: int | None = None,
    ) -> str:
        step = Step(
            turn=TurnId(turn),
            n=len(self.changes) if n is None else n,
            body=body,
            at=at or self.now,
            space=SpaceId(space),
            principal=PrincipalId(principal),
            agent=SELF,
            label=label or owned("terminal"),
        )
        self.add(step)
        return str(step.ref)

    def event(
        self,
        text: str = "Remember that Anna likes tea",
        body: Body | None = None,
        conversation: str = "terminal",
        space: str = HOME_SPACE,
        principal: str = OWNER,
        label: Label | None = None,
        id_: str = "",
    ) -> str:
        id_ = id_ or f"e{len(self.changes)}"
        event = Event(
            id=EventId(id_),
            source="terminal",
            key=Key(id_),
            conversation=conversation,
            principal=PrincipalId(principal),
            body=body or Said((Text(text),)),
            occurred_at=self.now,
            received_at=self.now,
            space=SpaceId(space),
            label=label or owned("terminal"),
        )
        self.add(event)
        return id_

    def turn(self, id_: str, event: str, conversation: str = "terminal", forked_from: StepRef | None = None) -> str:
        turn = TurnId(id_)
        self.turns[turn] = Turn(
            id=turn, conversation=conversation, event=EventId(event), principal=OWNER, agent=AgentId(SELF), root=turn, state=State.RUNNING,
            created_at=self.now, space=HOME_SPACE, forked_from=forked_from,
        )  # fmt: skip
        return id_

    def exchange(self, said: str, replied: str, turn: str, **about: Any) -> tuple[str, str]:
        """A whole turn: what was asked, the answer, the end."""
        event = self.event(said, conversation=about.pop("conversation", "terminal"))
        self.turn(turn, event)
        reply = self.reply(replied, turn=turn, n=0, **about)
        self.complete(turn=turn, n=1, **about)
        return event, reply

    def amend(self, *operations: AmendedBy, label: Label | None = None, at: datetime | None = None) -> str:
        id_ = f"a{len(self.changes)}"
        self.add(
            Amendment(id=id_, space=HOME_SPACE, principal=OWNER, at=at or self.now, operations=operations, label=label or owned("terminal"))
        )
        return id_

    def erase(self, turn: str, *only: str) -> None:
        self.add(Erasure(TurnId(turn), self.now, "asked for", only))

    def add(self, item: Event | Step | Erasure | Amendment) -> None:
        self.changes.append(Change(Cursor(str(len(self.changes))), item))
