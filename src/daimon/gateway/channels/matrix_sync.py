"""How far the channel has read, and how it reads on.

    since = recalled, or that of a first look, of which only what was said since this program started is taken
    for ever: /sync since ... -> every event of every room to the reception, in order -> remember the next since

Invariant: `since` is remembered only when all that came before it was taken. A crash in between reads the same batch again, and the
reception knows each event by its id. What was said while nobody listened is in the first batch after the start; where that is too much
for one answer (`limited`), the gap is read page by page before what came behind it. In a room that we came into just now, what was said
before we were asked in is not for us.

Invitations of people are accepted, those of strangers are a knock and are kept: when the owner lets that stranger in, they are accepted.
Rooms with encryption can be joined and not be read; whoever is known is told so there, once.
"""

import json
from collections.abc import AsyncIterator
from datetime import datetime

import httpx2

from daimon.abi.channel import Message, Reception
from daimon.abi.errors import LockedOut, NotSent, RetryLater
from daimon.abi.message import Text
from daimon.gateway.channels.matrix_intake import Intake
from daimon.gateway.channels.matrix_line import Account, Line, segment
from daimon.gateway.channels.matrix_media import Media
from daimon.gateway.channels.matrix_rooms import Rooms
from daimon.gateway.channels.matrix_wire import Batch, Event, Invited, Joined, Json, events, text

POLL_S = 30
PAGE = 50
MOST_INVITATIONS = 50
UNREADABLE = "Messages in this room are encrypted, and I cannot read them. Please write to me in a room without encryption."
_SILENT: Json = {"presence": {"types": []}, "account_data": {"types": []}}
_ROOM: Json = {"ephemeral": {"types": []}, "account_data": {"types": []}}
_FIRST = json.dumps({**_SILENT, "room": {**_ROOM, "timeline": {"limit": 20}, "state": {"types": []}}})
# Members are asked for whenever they change, not with their first words: our own entry would look as if we had come in just now.
_NEXT = json.dumps({**_SILENT, "room": {**_ROOM, "timeline": {"limit": 20}, "state": {"types": ["m.room.member"]}}})


class Reader:
    def __init__(self, account: Account, line: Line, media: Media, reception: Reception, started_at: datetime) -> None:
        self._name = account.name
        self._user = account.user
        self._line = line
        self._reception = reception
        self._started_at = started_at
        self._rooms = Rooms(line, account.user)
        self._intake = Intake(account.name, account.user, media, self._rooms)

    async def read(self) -> None:
        """Until it is cancelled, or something breaks."""
        since = await self._reception.recall(self._name, f"since/{self._user}")
        if not since:
            first = await self._sync(_FIRST)
            for room, news in first.rooms.join.items():
                await self._take_newer(room, news)
            await self._invitations(first.rooms.invite)
            since = await self._read_to(first, since)
        while True:
            batch = await self._sync(_NEXT, since)
            for room, news in batch.rooms.join.items():
                await self._take(room, news, since)
            await self._invitations(batch.rooms.invite)
            since = await self._read_to(batch, since)

    async def _sync(self, wanted: str, since: str = "") -> Batch:
        query = {"filter": wanted, "timeout": str(POLL_S * 1_000 if since else 0), **({"since": since} if since else {})}
        return Batch.model_validate(await self._line.ask("GET", "/sync", query=query, more_s=POLL_S))

    async def _read_to(self, batch: Batch, since: str) -> str:
        if batch.next_batch != since:
            await self._reception.remember(self._name, f"since/{self._user}", batch.next_batch)
        return batch.next_batch

    # -- rooms

    async def _take(self, room: str, news: Joined, since: str) -> None:
        timeline, changed = events(news.timeline.events), events(news.state.events)
        if any(event.type == "m.room.member" for event in (*changed, *timeline)):
            self._rooms.changed(room)
        seen: set[str] = set()
        if news.timeline.limited and not self._came(timeline):
            async for event in self._since_asked_in(self._gap(room, since, news.timeline.prev_batch), self._came(changed)):
                seen.add(event.event_id)
                await self._one(room, event)
        async for event in self._since_asked_in(_each(timeline), self._came(timeline)):
            if event.event_id not in seen:
                await self._one(room, event)

    async def _take_newer(self, room: str, news: Joined) -> None:
        """At the first look, by the clocks of two machines: there is nothing else to tell old from new."""
        for event in events(news.timeline.events):
            if event.at >= self._started_at:
                await self._one(room, event)

    def _came(self, among: list[Event]) -> bool:
        """Did we come into the room just now?"""
        return any(event.is_membership_of(self._user) for event in among)

    async def _since_asked_in(self, among: AsyncIterator[Event], came: bool) -> AsyncIterator[Event]:
        async for event in among:
            came = came and not event.is_membership_of(self._user)
            if not came:
                yield event

    async def _gap(self, room: str, since: str, until: str) -> AsyncIterator[Event]:
        query = {"dir": "f", "from": since, "limit": str(PAGE), **({"to": until} if until else {})}
        while True:
            page = await self._line.ask("GET", f"/rooms/{segment(room)}/messages", query=query)
            chunk = page.get("chunk")
            for event in events(chunk if isinstance(chunk, list) else []):
                yield event
            if not (end := text(page, "end")) or end == query["from"] or not chunk:
                return
            query["from"] = end

    async def _one(self, room: str, event: Event) -> None:
        if event.type == "m.room.encrypted" and event.sender != self._user:
            await self._explain(room, event.sender)
        arrival = await self._intake.read(room, event, self._reception)
        if arrival is not None:
            await self._reception.take(arrival)

    async def _explain(self, room: str, sender: str) -> None:
        kept = f"encrypted/{room}"
        if await self._reception.recall(self._name, kept) or not await self._reception.is_known(sender):
            return
        content = {"msgtype": "m.notice", "body": UNREADABLE}
        try:
            await self._line.ask("PUT", f"/rooms/{segment(room)}/send/m.room.message/daimon-encrypted", content)
        except RetryLater:
            raise
        except NotSent:
            return  # a room in which we may not speak
        await self._reception.remember(self._name, kept, "told")

    # -- invitations

    async def _invitations(self, invited: dict[str, Invited]) -> None:
        kept = f"invitations/{self._user}"
        before = await self._reception.recall(self._name, kept)
        open_ones: dict[str, str] = json.loads(before) if before else {}
        for room, invitation in invited.items():
            if event := self._own(invitation):
                open_ones[room] = event.sender
                await self._knock(room, event)
        open_ones = {room: by for room, by in list(open_ones.items())[-MOST_INVITATIONS:] if not await self._is_settled(room, by)}
        after = json.dumps(open_ones) if open_ones else ""
        if after != before:
            await self._reception.remember(self._name, kept, after)

    def _own(self, invitation: Invited) -> Event | None:
        found = [event for event in events(invitation.invite_state.events) if event.is_membership_of(self._user)]
        return found[-1] if found else None

    async def _knock(self, room: str, event: Event) -> None:
        """A stranger's reason may be a pairing code: there is no other way to say one to somebody who is not in the room."""
        if await self._reception.is_known(event.sender):
            return
        reason, at = text(event.content, "reason"), event.at if event.origin_server_ts else self._started_at
        key = event.event_id or f"invitation/{room}/{event.sender}"
        parts = (Text(reason),) if reason else ()
        await self._reception.take(Message(key=key, place=room, sender=event.sender, parts=parts, at=at))

    async def _is_settled(self, room: str, inviter: str) -> bool:
        """Joined, or not to be joined any more."""
        if not await self._reception.is_known(inviter):
            return False
        try:
            await self._line.ask("POST", f"/rooms/{segment(room)}/join", {}, more_s=60)
        except (RetryLater, LockedOut):
            raise
        except NotSent:
            return True  # taken back meanwhile
        except httpx2.HTTPError:
            return False  # the room's own server may be down: again with the next batch
        return True


async def _each(among: list[Event]) -> AsyncIterator[Event]:
    for event in among:
        yield event
