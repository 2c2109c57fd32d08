"""What the homeserver knows of rooms, asked when it is needed and kept while it holds: who is there, and single events.

Members are asked for anew when somebody came, went or took another name. An event never changes, except that it may be redacted: who
sent it stays. Both are caches: a restart starts with nothing.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeVar

from daimon.gateway.channels.matrix_line import Line, segment
from daimon.gateway.channels.matrix_wire import Event, Json, events, inner, text

_KEPT = 512
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A room, or a thread of it: `ROOM` or `ROOM/ROOT`."""

    room: str
    root: str = ""

    @classmethod
    def of(cls, name: str) -> "Place":
        room, slash, root = name.partition("/$")  # old event ids hold slashes of their own
        return cls(room, f"${root}" if slash else "")

    def __str__(self) -> str:
        return f"{self.room}/{self.root}" if self.root else self.room


class Rooms:
    def __init__(self, line: Line, user: str) -> None:
        self._line = line
        self._user = user
        self._members: OrderedDict[str, dict[str, str]] = OrderedDict()
        self._events: OrderedDict[str, Event] = OrderedDict()

    async def members(self, room: str) -> dict[str, str]:
        """Their names by user; who is invited may come and read at any moment, and counts. Empty: we are not there (any more)."""
        if room not in self._members:
            answer: Json = await self._line.look(f"/rooms/{segment(room)}/members?not_membership=leave") or {}
            found = answer.get("chunk")
            _keep(self._members, room, dict(_member(each) for each in (found if isinstance(found, list) else ()) if _is_there(each)))
        return self._members[room]

    def changed(self, room: str) -> None:
        self._members.pop(room, None)

    async def event(self, room: str, event: str) -> Event | None:
        if event not in self._events:
            found = await self._line.look(f"/rooms/{segment(room)}/event/{segment(event)}")
            parsed = events([found] if found else [])
            if not parsed:
                return None
            _keep(self._events, event, parsed[0])
        return self._events[event]

    async def is_ours(self, room: str, event: str) -> bool:
        found = await self.event(room, event) if event else None
        return found is not None and found.sender == self._user


def _is_there(event: object) -> bool:
    match event:
        case {"state_key": str(), "content": {"membership": "join" | "invite"}}:
            return True
        case _:
            return False


def _member(event: Json) -> tuple[str, str]:
    return text(event, "state_key"), text(inner(event, "content"), "displayname")


def _keep(kept: OrderedDict[str, T], name: str, value: T) -> None:
    kept[name] = value
    if len(kept) > _KEPT:
        kept.popitem(last=False)
