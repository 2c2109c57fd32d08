"""What a homeserver sends, as far as it is read here.

Anybody on any server can put anything into the content of an event, so nothing in it is believed to have the right type: what is not
as it should be reads as if it were not there. The frame around it is made by the owner's own homeserver.
"""

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field, ValidationError

Json = dict[str, Any]


class Timeline(BaseModel):
    events: list[Json] = []
    limited: bool = False
    prev_batch: str = ""


class Events(BaseModel):
    events: list[Json] = []


class Joined(BaseModel):
    timeline: Timeline = Timeline()
    state: Events = Events()


class Invited(BaseModel):
    invite_state: Events = Events()


class Rooms(BaseModel):
    join: dict[str, Joined] = {}
    invite: dict[str, Invited] = {}


class Batch(BaseModel):
    """One answer of /sync."""

    next_batch: str
    rooms: Rooms = Rooms()


class Event(BaseModel):
    type: str
    sender: str
    event_id: str = ""
    origin_server_ts: int = Field(default=0, ge=0, le=253_402_300_799_000)
    content: Json = {}
    unsigned: Json = {}
    state_key: str | None = None
    redacts: str = ""

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.origin_server_ts / 1_000, UTC)

    @property
    def relation(self) -> Json:
        return inner(self.content, "m.relates_to")

    @property
    def related(self) -> str:
        return text(self.relation, "event_id")

    @property
    def thread(self) -> str:
        """The root of the thread that it stands in."""
        return self.related if self.relation.get("rel_type") == "m.thread" else ""

    @property
    def answers(self) -> str:
        """What it answers. In a thread, clients that know no threads are given the last message as well: that is no answer."""
        if self.relation.get("is_falling_back") is True:
            return ""
        return text(inner(self.relation, "m.in_reply_to"), "event_id")

    def is_membership_of(self, user: str) -> bool:
        """It brought the user in: an invitation, or a way in; not a new name or picture of somebody who was there."""
        if self.type != "m.room.member" or self.state_key != user:
            return False
        before = text(inner(self.unsigned, "prev_content"), "membership")
        now = text(self.content, "membership")
        return now == "invite" or (now == "join" and before != "join")


def events(raw: list[Json]) -> list[Event]:
    """Those that are events at all."""
    found = []
    for item in raw:
        try:
            found.append(Event.model_validate(item))
        except ValidationError:
            continue
    return found


def text(content: Json, name: str) -> str:
    value = content.get(name)
    return value if isinstance(value, str) else ""


def number(content: Json, name: str) -> int | None:
    value = content.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def inner(content: Json, name: str) -> Json:
    value = content.get(name)
    return value if isinstance(value, dict) else {}
