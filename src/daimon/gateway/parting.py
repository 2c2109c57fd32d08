"""Who is not known any more has nothing more done for them.

A turn may wait for days: for the owner's word, or for money. Whom it serves may have been removed by then, and strangers get nothing. So
when somebody goes, or their last chat does, the turns that still serve them are stopped, each by an event as the owner's own stop would be.
What was said to them before and is on its way still arrives. It does not know who may remove whom.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Event, Stop
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, Key, PrincipalId
from daimon.abi.label import owned
from daimon.abi.ports import Archive, Clock, Ids
from daimon.abi.turn import State, Turn

MOST = 10_000
"""Turns that are looked through, the newest."""


@dataclass(frozen=True, slots=True)
class Parting:
    archive: Archive
    accept: Callable[[Event], Awaitable[object]]
    clock: Clock
    ids: Ids

    async def gone(self, person: PrincipalId) -> None:
        for state in (State.RUNNING, State.PARKED):
            for turn in await self.archive.turns(HOME_SPACE, MOST, None, state):
                if turn.principal == person:
                    await self._stop(turn)

    async def _stop(self, turn: Turn) -> None:
        now, id_ = self.clock.now(), EventId(self.ids.new("e"))
        stop = Event(
            id=id_, source="people", key=Key(f"stop:{turn.id}:{id_}"), conversation=turn.conversation, principal=OWNER,
            body=Stop(turn.id, f"{turn.principal} is not known any more"), label=owned("people"), occurred_at=now, received_at=now,
        )  # fmt: skip
        with suppress(NotFound, BadInput):  # it is over by now
            await self.accept(stop)
