"""Slack, in socket mode: no address of ours needs to be reachable. Events come over a WebSocket that we open; answers go by the Web API.

An envelope is acknowledged only when `Reception.take` has returned. Slack sends one that was not again, three times at most within some
minutes: so what came while nobody ran for longer is read from the history of the bot's conversations when it comes back, from the mark
up to which all was taken in. A message is named by its channel and `ts` either way, so it is taken in once. How far each conversation was
read is kept beside the mark: a reading that is cut off again and again gets further each time. History does not show answers in old
threads: those in the threads that were used last are looked for one by one.

A message that goes out carries its key as metadata, so that after a cut it can be looked for in the conversation. A file carries it in
its title.
"""

import asyncio
import hashlib
import json
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import JsonValue
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from daimon.abi.channel import Attachment, Message, Piece, Receipt, Reception, Traits
from daimon.abi.errors import InDoubt, LockedOut, NotFound, NotSent, RetryLater, TooLarge
from daimon.abi.message import Audio, Content, File, Image, Text
from daimon.abi.ports import Clock, Outgoing, Store
from daimon.abi.tool import Rate
from daimon.gateway.channels import slack_events
from daimon.gateway.channels.slack_api import Answer, WebApi
from daimon.gateway.channels.slack_events import Event, split_place
from daimon.gateway.notation.slack import render
from daimon.gateway.pieces import Form, cut

LONGEST = 3_000
"""Of a text: what a section with buttons under it may have."""
MOST_FRAME_BYTES = 4 * 1024 * 1024
HELLO_S = 30.0
LOOK_BACK_S = 60
"""History is read from a little before the mark: messages of one moment may come in any order."""
MOST_THREADS = 50
MOST_PAGES = 20
FIND_BACK_S = 30 * 24 * 3_600
"""What was being sent so long ago is looked for. Slack tells the newest first, so that mostly the first page has it."""
MOST_TRIES = 3
TITLE_DIGITS = 8
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Workspace:
    api: str = "https://slack.com/api"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Asked for at each use, so that a changed one counts."""

    bot: Callable[[], str]
    app: Callable[[], str]


class SlackChannel:
    name = "slack"
    traits = Traits(repeat="findable", has_buttons=True, place_rate=Rate(1, 1.0))

    def __init__(self, workspace: Workspace, tokens: Tokens, clock: Clock, store: Store) -> None:
        self._api = WebApi(workspace.api, tokens.bot, tokens.app)
        self._clock, self._store = clock, store
        self._chats: dict[str, bool] = {}
        """Conversations, and whether they are of two."""
        self._failed: dict[str, int] = {}
        """How often a file did not come."""

    # -- going out

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        return cut(message, Form(LONGEST, render, has_buttons=True))

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        channel, thread = split_place(to)
        if piece.attachment is not None:
            return await self._send_file(piece.attachment, channel, thread, key)
        args: dict[str, JsonValue] = {"channel": channel, "thread_ts": thread or None, "text": piece.text, "unfurl_links": False}
        args |= {"unfurl_media": False, "metadata": {"event_type": "daimon_message", "event_payload": {"key": key}}}
        if piece.choices:
            args["blocks"] = _blocks(piece)
        answer = await self._api.ask("chat.postMessage", args)
        return Receipt("confirmed", str(answer.get("ts", "")))

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        channel, thread = split_place(to)
        async for message in self._recent(channel, thread):
            match message:
                case {"ts": str(ts), "metadata": {"event_payload": {"key": str(found)}}} if found == key:
                    return Receipt("confirmed", ts)
                case {"ts": str(ts), "files": [{"title": str(title)}, *_]} if piece.attachment and title == _title(piece.attachment, key):
                    return Receipt("confirmed", ts)
        return None

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        """Slack lets bots show this only in its own pane for assistants."""

    async def _send_file(self, attachment: Attachment, channel: str, thread: str, key: str) -> Receipt:
        try:
            data = await self._store.get(attachment.blob)
        except NotFound as error:
            raise NotSent(f"a file to send is not there any more: {error}") from error
        name = _name(attachment)
        place = await self._api.ask("files.getUploadURLExternal", {"filename": name, "length": len(data)})
        await self._api.upload(str(place.get("upload_url", "")), data)
        files: list[JsonValue] = [{"id": place.get("file_id"), "title": _title(attachment, key)}]
        await self._api.ask("files.completeUploadExternal", {"files": files, "channel_id": channel, "thread_ts": thread or None})
        return Receipt("confirmed")

    async def _recent(self, channel: str, thread: str) -> AsyncIterator[Event]:
        """Raises InDoubt where there is more than is read: what was not seen may still be there, and must not be sent again."""
        args: dict[str, JsonValue] = {"channel": channel, "limit": 200, "include_all_metadata": True}
        args["oldest"] = f"{max(0.0, self._clock.now().timestamp() - FIND_BACK_S):.6f}"
        method, pages = ("conversations.replies" if thread else "conversations.history"), 0
        async for page in self._pages(method, args | ({"ts": thread} if thread else {})):
            pages += 1
            for message in page:
                yield message
        if pages == MOST_PAGES:
            raise InDoubt(f"so much was said in {channel} since that it cannot be seen whether the message is there")

    # -- coming in

    async def serve(self, reception: Reception) -> None:
        bot = str((await self._api.ask("auth.test", {})).get("user_id", ""))
        opened = await self._api.ask("apps.connections.open", {}, as_app=True)
        desk = _Desk(self, reception, bot, self._clock.now)
        try:
            async with connect(str(opened.get("url", "")), max_size=MOST_FRAME_BYTES, open_timeout=HELLO_S, proxy=None) as socket:
                await self._listen(socket, desk)
        except (WebSocketException, OSError, TimeoutError) as error:
            if isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code == 1000:
                return
            await self._api.ask("auth.test", {})  # a token that was revoked is the reason, then
            raise ConnectionError(f"the socket of Slack broke: {type(error).__name__}") from None

    async def _listen(self, socket: ClientConnection, desk: "_Desk") -> None:
        """What was missed is read while new envelopes come in already; of one conversation, what was missed is taken in first."""
        catching_up = asyncio.ensure_future(desk.catch_up())
        hearing = asyncio.ensure_future(self._hear(socket, desk))
        try:
            # Where it is quiet no frame would show that catching up failed: what was missed would wait for hours.
            await asyncio.wait({catching_up, hearing}, return_when=asyncio.FIRST_COMPLETED)
            if not hearing.done():
                catching_up.result()
            await hearing
        finally:
            catching_up.cancel()
            hearing.cancel()
            await asyncio.gather(catching_up, hearing, return_exceptions=True)

    async def _hear(self, socket: ClientConnection, desk: "_Desk") -> None:
        async for frame in socket:
            envelope = _object(frame)
            if envelope.get("type") == "disconnect":
                if envelope.get("reason") == "link_disabled":
                    raise LockedOut("socket mode is switched off for this Slack app; switch it on at its page, under Socket Mode")
                return  # Slack renews connections every few hours: the supervisor opens another one
            await desk.take(envelope)
            if isinstance(name := envelope.get("envelope_id"), str):
                await socket.send(json.dumps({"envelope_id": name}))

    async def is_chat(self, channel: str, kind: object) -> bool:
        """Of two. Slack says so with most events, but not with all."""
        if isinstance(kind, str):
            return kind == "im"
        if channel not in self._chats:
            found = (await self._api.ask("conversations.info", {"channel": channel})).get("channel")
            self._chats[channel] = isinstance(found, dict) and found.get("is_im") is True
        return self._chats[channel]

    async def file(self, reception: Reception, file: Event) -> Content:
        """Kept, or named in words where it is too large or does not come."""
        name, kind, size = str(file.get("name") or "file")[:200], str(file.get("mimetype") or "application/octet-stream"), file.get("size")
        url = file.get("url_private_download") or file.get("url_private")
        if isinstance(size, int) and size > reception.most_bytes:
            return Text(f"[file {name}, {size} bytes: too large to be kept]")
        data = await self._fetched(url, reception.most_bytes) if isinstance(url, str) else None
        if data is None:
            return Text(f"[file {name}: it could not be fetched]")
        try:
            blob = await reception.keep(data)
        except TooLarge:
            return Text(f"[file {name}, {len(data)} bytes: too large to be kept]")
        if kind.startswith("image/"):
            return Image(blob, kind, name)
        return Audio(blob, kind) if kind.startswith("audio/") else File(blob, name, kind, len(data))

    async def _fetched(self, url: str, most_bytes: int) -> bytes | None:
        """One that never comes must not hold up all that is behind it."""
        try:
            return await self._api.fetch(url, most_bytes)
        except ConnectionError:
            self._failed[url] = self._failed.get(url, 0) + 1
            if self._failed[url] >= MOST_TRIES:
                return None
            raise

    async def answered(self, ref: str, place: str, text: str) -> None:
        """The buttons go, what was chosen stays. Best effort."""
        channel, _ = split_place(place)
        args: dict[str, JsonValue] = {"channel": channel, "ts": ref, "text": text, "blocks": [_section(text)]}
        try:
            await self._api.ask("chat.update", args)
        except (NotSent, ConnectionError, LockedOut) as error:
            _LOG.debug("the buttons of a question were not taken away: %s", error)

    # -- history

    async def conversations(self) -> list[tuple[str, bool]]:
        found: list[tuple[str, bool]] = []
        asked: dict[str, JsonValue] = {"types": "im,mpim,public_channel,private_channel", "exclude_archived": True, "limit": 200}
        async for page in self._pages("users.conversations", asked, "channels"):
            found += [(str(each["id"]), each.get("is_im") is True) for each in page if "id" in each]
        return found

    async def history(self, place: str, oldest: str) -> list[Event]:
        """The oldest first."""
        channel, thread = split_place(place)
        args: dict[str, JsonValue] = {"channel": channel, "oldest": oldest, "limit": 200}
        method = "conversations.replies" if thread else "conversations.history"
        found: list[Event] = []
        async for page in self._pages(method, args | ({"ts": thread} if thread else {})):
            found += [{**message, "channel": channel} for message in page]
        return sorted(found, key=lambda message: str(message.get("ts", "")))

    async def _pages(self, method: str, args: dict[str, JsonValue], of: str = "messages") -> AsyncIterator[list[Event]]:
        cursor = ""
        for _ in range(MOST_PAGES):
            answer = await self._patiently(method, args | ({"cursor": cursor} if cursor else {}))
            yield _messages(answer, of)
            after = answer.get("response_metadata")
            cursor = str(after.get("next_cursor") or "") if isinstance(after, dict) else ""
            if not cursor:
                return

    async def _patiently(self, method: str, args: dict[str, JsonValue]) -> Answer:
        while True:
            try:
                return await self._api.ask(method, args)
            except RetryLater as pause:
                await self._clock.sleep(pause.after_s)


class _Desk:
    """One connection's way in."""

    def __init__(self, slack: SlackChannel, reception: Reception, bot: str, now: Callable[[], datetime]) -> None:
        self._slack, self._reception, self._bot, self._now = slack, reception, bot, now
        self._mark, self._newest, self._threads = "", "", list[str]()
        self._first_mark: str | None = None
        self._beginning, self._locks = asyncio.Lock(), defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._caught_up = set[str]()
        self._is_behind = True
        """What was missed is still being read: the mark stays where it is, or a cut would lose the rest."""

    async def take(self, envelope: Event) -> None:
        payload = envelope.get("payload")
        if not isinstance(payload, dict):
            return
        event = payload.get("event")
        if envelope.get("type") == "interactive":
            await self._press(payload)
        elif isinstance(event, dict) and event.get("type") in ("message", "app_mention"):
            with suppress(NotSent):  # a conversation whose history is closed to the app
                await self._catch_up_with(str(event.get("channel", "")), event.get("channel_type"))
            await self._message(event)
        elif isinstance(event, dict) and (reaction := slack_events.reaction_of(event, self._bot)):
            await self._reception.take(reaction)

    async def catch_up(self) -> None:
        """Everything that was said since the mark. At the very first start there is none, and nothing old is answered."""
        mark = await self._begin()
        if not mark:
            self._is_behind = False
            await self._remember(f"{self._now().timestamp():.6f}")
            return
        for channel, is_chat in await self._slack.conversations():
            await self._catch_up_with(channel, "im" if is_chat else "channel")
        for place in tuple(self._threads):
            for event in await self._slack.history(place, _before(mark)):
                await self._message(event)
        self._is_behind = False
        await self._remember(max(self._newest, mark))

    async def _begin(self) -> str:
        """Where the mark stood when this connection began."""
        async with self._beginning:
            if self._first_mark is None:
                self._threads = [place for place in (await self._reception.recall("slack", "threads")).split("\n") if place]
                self._first_mark = await self._reception.recall("slack", "mark")
            return self._first_mark

    async def _catch_up_with(self, channel: str, kind: JsonValue) -> None:
        """With one conversation, before anything new of it is taken: what was missed there was said earlier."""
        if not (mark := await self._begin()) or not self._is_behind:
            return
        async with self._locks[channel]:
            if channel not in self._caught_up:
                reached = await self._reception.recall("slack", f"reached {channel}")
                missed = await self._slack.history(channel, _before(max(mark, reached)))
                for event in missed:
                    await self._message({**event, "channel_type": kind})
                self._caught_up.add(channel)
                if missed and (last := str(missed[-1].get("ts", ""))) > reached:
                    await self._reception.remember("slack", f"reached {channel}", last)

    async def _message(self, event: Event) -> None:
        channel = str(event.get("channel", ""))
        is_chat = await self._slack.is_chat(channel, event.get("channel_type"))
        arrival = await slack_events.message_of(event, self._bot, self._keeper(str(event.get("user", ""))), is_chat=is_chat)
        if arrival is None:
            return
        await self._reception.take(arrival)
        if arrival.is_direct:
            await self._note(arrival)

    def _keeper(self, sender: str) -> slack_events.Keep:
        async def keep(file: Event) -> Content:
            if await self._reception.is_known(sender):
                return await self._slack.file(self._reception, file)
            return Text("[a file]")  # of strangers nothing is kept

        return keep

    async def _note(self, arrival: Message) -> None:
        _, thread = split_place(arrival.place)
        if thread and arrival.place not in self._threads:
            self._threads = [*self._threads, arrival.place][-MOST_THREADS:]
            await self._reception.remember("slack", "threads", "\n".join(self._threads))
        self._newest = max(self._newest, arrival.ref)
        await self._remember(self._newest)

    async def _press(self, payload: Event) -> None:
        pressed = slack_events.press_of(payload)
        if pressed is None:
            return
        told = await self._reception.take(pressed)
        message = payload.get("message")
        if told and isinstance(message, dict):
            await self._slack.answered(pressed.ref, pressed.place, f"{message.get('text', '')}\n_{told}_")

    async def _remember(self, mark: str) -> None:
        if mark > self._mark and not self._is_behind:
            self._mark = mark
            await self._reception.remember("slack", "mark", mark)


def _before(mark: str) -> str:
    return f"{max(0.0, float(mark) - LOOK_BACK_S):.6f}"


def _messages(answer: Answer, of: str = "messages") -> list[Event]:
    found = answer.get(of)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _blocks(piece: Piece) -> list[JsonValue]:
    buttons: list[JsonValue] = [
        {"type": "button", "action_id": f"choice-{n}", "value": choice.code, "text": {"type": "plain_text", "text": choice.text[:75]}}
        for n, choice in enumerate(piece.choices)
    ]
    return [_section(piece.text), {"type": "actions", "elements": buttons}]


def _section(text: str) -> JsonValue:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _name(attachment: Attachment) -> str:
    if isinstance(attachment, File):
        return attachment.name
    kind, _, form = attachment.media_type.partition("/")
    return f"{kind}.{form.partition(';')[0].partition('+')[0] or 'bin'}"


def _title(attachment: Attachment, key: str) -> str:
    return f"{_name(attachment)} · {hashlib.sha256(key.encode()).hexdigest()[:TITLE_DIGITS]}"


def _object(frame: str | bytes) -> Event:
    try:
        found = json.loads(frame)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
