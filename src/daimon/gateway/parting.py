"""Who is not known any more has nothing more done for them.

A turn may wait for days: for the owner's word, or for money. Whom it serves may have been removed by then, and strangers get nothing. So
when somebody goes, or their last chat does, the turns that still serve them are stopped, each by an event as the owner's own stop would be.
When one of several chats goes, it is the turns that began there, also the owner's: a chat that was taken away may be in other hands. What
was said to them before and is on its way still arrives. It does not know who may remove whom.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Event, Stop
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, Key, PrincipalId
from daimon.abi.label import owned
from daimon.abi.people import Contact
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
        for turn in await self._serving(person):
            await self._stop(turn, f"{person} is not known any more")

    async def lost(self, person: PrincipalId, removed: tuple[Contact, ...], left: tuple[Contact, ...]) -> None:
        """These chats are not theirs any more. Where no other of the channel is, all that began on the channel is meant."""
        still = {each.channel for each in left}
        for turn in await self._serving(person):
            channel, _, place = (turn.origin or turn.conversation).partition("/")
            if any(each.channel == channel and (channel not in still or _is_at(each, place)) for each in removed):
                await self._stop(turn, f"the chat {channel}:{place} was taken away from {person}")

    async def _serving(self, person: PrincipalId) -> tuple[Turn, ...]:
        found = [await self.archive.turns(HOME_SPACE, MOST, None, state) for state in (State.RUNNING, State.PARKED)]
        return tuple(turn for turns in found for turn in turns if turn.principal == person)

    async def _stop(self, turn: Turn, why: str) -> None:
        now, id_ = self.clock.now(), EventId(self.ids.new("e"))
        stop = Event(
            id=id_, source="people", key=Key(f"stop:{turn.id}:{id_}"), conversation=turn.conversation, principal=OWNER,
            body=Stop(turn.id, why), label=owned("people"), occurred_at=now, received_at=now,
        )  # fmt: skip
        with suppress(NotFound, BadInput):  # it is over by now
            await self.accept(stop)


def _is_at(contact: Contact, place: str) -> bool:
    """The place of a mail begins with its sender."""
    return place == contact.place or place.partition(" ")[0] == contact.sender
