"""Events and the turns that they cause, over HTTP. How an event comes in is in `taking.py`."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.event import Event, Stop
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, Key, TurnId
from daimon.abi.label import owned
from daimon.abi.ports import Clock, Followed, Ids, Store
from daimon.abi.turn import State, Turn
from daimon.context.provenance import SeenRequest, seen
from daimon.gateway.answers import Caused, Trace
from daimon.gateway.asked import CHECKED, Limit
from daimon.gateway.entry import Call, Entry
from daimon.gateway.inbox import Inbox


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Which:
    limit: Limit = 50
    conversation: str | None = None
    state: State | None = None


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class At:
    step: Annotated[int, Field(ge=0)] | None = None
    """The number of a model call; left out: the last."""


@dataclass(frozen=True, slots=True)
class TurnRoutes:
    archive: Followed
    store: Store
    inbox: Inbox
    clock: Clock
    ids: Ids

    def all(self) -> tuple[Entry, ...]:
        path, read = "/v1/turns", Right.READ
        one = f"{path}/{{id}}"
        saw = "What the model saw at a call (`step`; else the last), message by message, with where each comes from and why it was there"
        return (
            Entry("GET", "/v1/events/{id}", self._event, Caused, "An event, and the turn that took it in, or null", read),
            Entry("GET", path, self._list, tuple[Turn, ...], "Turns, newest first", read, query=Which),
            Entry("GET", one, self._trace, Trace, "A whole trace: turn, event, steps, and what came for it when it was over", read),
            Entry("GET", f"{one}/context", self._context, SeenRequest, saw, read, query=At),
            Entry("POST", f"{one}/stop", self._stop, Turn, "Stop a turn; answered when the stop is on disk", Right.CHAT, status=202),
        )

    async def _event(self, call: Call[None, None]) -> Caused:
        event = await self.archive.event(EventId(call.path["id"]))
        return Caused(event, await self.archive.turn_of(event.id))

    async def _list(self, call: Call[Which, None]) -> tuple[Turn, ...]:
        return await self.archive.turns(HOME_SPACE, call.query.limit, call.query.conversation, call.query.state)

    async def _trace(self, call: Call[None, None]) -> Trace:
        turn = await self.archive.turn(TurnId(call.path["id"]))
        event, steps, late = await self.archive.event(turn.event), await self.archive.steps(turn.id), await self.archive.late(turn.id)
        return Trace(turn, event, steps, late)

    async def _context(self, call: Call[At, None]) -> SeenRequest:
        turn = await self.archive.turn(TurnId(call.path["id"]))
        return await seen(self.archive, self.store, turn.id, call.query.step)

    async def _stop(self, call: Call[None, None]) -> Turn:
        turn = await self.archive.turn(TurnId(call.path["id"]))
        now, id_ = self.clock.now(), EventId(self.ids.new("e"))
        stop = Event(
            id=id_, source="api", key=Key(f"stop:{turn.id}:{id_}"), conversation=turn.conversation, principal=OWNER,
            body=Stop(turn.id, "asked by the owner"), label=owned("api"), occurred_at=now, received_at=now,
        )  # fmt: skip
        await self.inbox.accept(stop)
        return turn
