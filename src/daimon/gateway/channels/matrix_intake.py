"""From events of a room to what somebody said.

An event is read by what it is: words and files are a message, an annotation is a reaction, a redaction of one's own message takes it back.
Own events and notices (what other programs say: two of them would answer each other for ever) are nothing. Nothing here raises for what
stands in an event; only the homeserver itself can fail.
"""

import re
from dataclasses import replace

from daimon.abi.channel import Arrival, Message, Reacted, Reception
from daimon.abi.message import Content, Text
from daimon.gateway.channels.matrix_media import KINDS, Media
from daimon.gateway.channels.matrix_rooms import Place, Rooms
from daimon.gateway.channels.matrix_wire import Event, Json, inner, text

_QUOTE = re.compile(r"\A> <@[^\n]*\n(?:>[^\n]*\n)*\n?")
"""What older clients put before an answer, for those that cannot show what it answers."""


class Intake:
    def __init__(self, name: str, user: str, media: Media, rooms: Rooms) -> None:
        self._name = name
        self._user = user
        self._rooms = rooms
        self._media = media

    async def read(self, room: str, event: Event, reception: Reception) -> Arrival | None:
        if event.sender == self._user or not event.event_id:
            return None
        match event.type:
            case "m.room.message" if event.relation.get("rel_type") == "m.replace":
                return await self._edit(room, event, reception)
            case "m.room.message":
                return await self._message(room, event, event.content, reception)
            case "m.reaction":
                return await self._reaction(room, event)
            case "m.room.redaction":
                return await self._redaction(room, event)
            case _:
                return None

    async def _message(self, room: str, event: Event, content: Json, reception: Reception) -> Message | None:
        parts = await self._parts(event, content, reception)
        if parts is None:
            return None
        members = await self._rooms.members(room)
        is_group = not 1 <= len(members) <= 2
        return Message(
            key=event.event_id,
            place=str(Place(room, event.thread)),
            sender=event.sender,
            parts=parts,
            at=event.at,
            name=members.get(event.sender, ""),
            ref=event.event_id,
            answers=event.answers,
            is_group=is_group,
            is_direct=not is_group or await self._is_meant(room, event, content, members.get(self._user, "")),
        )

    async def _parts(self, event: Event, content: Json, reception: Reception) -> tuple[Content, ...] | None:
        """None: nothing that anybody said to anybody."""
        body = text(content, "body")
        match text(content, "msgtype"):
            case "m.text" | "m.location":
                said = _QUOTE.sub("", body) if event.answers else body
                return (Text(said),) if said else None
            case "m.emote":
                return (Text(f"* {body}"),) if body else None
            case kind if kind in KINDS:
                # A stranger's file is not fetched: it would be kept here though nothing of theirs is heard.
                return await self._media.parts(content, reception) if await reception.is_known(event.sender) else ()
            case _:
                return None

    async def _is_meant(self, room: str, event: Event, content: Json, own_name: str) -> bool:
        mentioned = inner(content, "m.mentions").get("user_ids")
        if isinstance(mentioned, list) and self._user in mentioned:
            return True
        words = _QUOTE.sub("", text(content, "body"))
        names = {self._user, self._user[1:].partition(":")[0], own_name} - {""}
        if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words, re.IGNORECASE) for name in names):
            return True
        return await self._rooms.is_ours(room, event.answers) or await self._rooms.is_ours(room, event.thread)

    async def _edit(self, room: str, event: Event, reception: Reception) -> Message | None:
        """Its new wording. Servers do not check whose message is edited."""
        first = await self._rooms.event(room, event.related) if event.related else None
        if first is None or first.sender != event.sender:
            return None
        said = await self._message(room, event, inner(event.content, "m.new_content"), reception)
        if said is None:
            return None
        is_direct = said.is_direct or await self._is_meant(room, first, first.content, "")
        return replace(said, place=str(Place(room, first.thread)), ref=first.event_id, replaces=first.event_id, is_direct=is_direct)

    async def _reaction(self, room: str, event: Event) -> Reacted | None:
        sign = text(event.relation, "key")
        if event.relation.get("rel_type") != "m.annotation" or not sign or not await self._rooms.is_ours(room, event.related):
            return None
        target = await self._rooms.event(room, event.related)
        place = Place(room, target.thread if target is not None else "")
        name = (await self._rooms.members(room)).get(event.sender, "")
        return Reacted(key=event.event_id, place=str(place), sender=event.sender, at=event.at, sign=sign[:64], ref=event.related, name=name)

    async def _redaction(self, room: str, event: Event) -> Message | None:
        """Only of one's own message: what a moderator removes was said all the same."""
        target = text(event.content, "redacts") or event.redacts
        first = await self._rooms.event(room, target) if target else None
        if first is None or first.sender != event.sender or first.type != "m.room.message":
            return None
        members = await self._rooms.members(room)
        return Message(
            key=event.event_id,
            place=str(Place(room, first.thread)),
            sender=event.sender,
            parts=(),
            at=event.at,
            name=members.get(event.sender, ""),
            ref=target,
            replaces=target,
            is_group=not 1 <= len(members) <= 2,
            is_direct=False,
        )
