"""The WebSocket of the API, `GET /v1/socket`: everything that happens, live, and a way in for events. One for each page that looks.

The first frame is the client's: where it was (`after`, the cursor of the last change that it has; left out: from now on). Then come

    {"kind": "ready", "cursor": C}            what was asked for stands; changes after C follow
    {"kind": "change", "cursor": C, "item": …}  an event, step, amendment or erasure, as it is on disk, in order, none left out
    {"kind": "live", "update": …}             what is never on disk (tokens, output of tools) or tells how a turn and a message fare
    {"kind": "taken", "re": N, …}, {"kind": "error", "re": N, "code", "message"}   the answer to frame N of the client

and the client sends {"kind": "event", "re": N, "event": {…}} with an event as in `wire.py`. A client that was cut off comes back with the
cursor of the last change that it saw; tokens are not kept, so a reply under way begins anew with its next token at its own offset.

Whoever reads slowly slows down this connection alone: changes are read from the journal as they are sent, live updates wait in a bounded
queue. It knows nothing of who may call: that is decided in `door`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from daimon.abi.cleaning import cleaned_json
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, DaimonError
from daimon.abi.event import Event
from daimon.abi.memory import Amendment
from daimon.abi.ports import Change, Cursor, Erasure, Followed
from daimon.abi.secret import Redactor
from daimon.abi.step import Step
from daimon.gateway.answers import Taken
from daimon.gateway.inbox import Inbox
from daimon.kernel.feed import Feed, Recorded, Update

BEGIN_S = 10.0
"""A client that says nothing for so long after it connected is sent away."""
POLICY, TOO_BIG, GOING = 1008, 1009, 1001
SOURCE = "web"


class _Frame(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Begin(_Frame):
    kind: Literal["begin"]
    after: str | None = None
    conversation: str | None = None
    """Only what belongs to this one."""


class Hand(_Frame):
    kind: Literal["event"]
    event: dict[str, JsonValue]
    re: int = 0
    """Comes back with the answer."""


_FRAME: TypeAdapter[Begin | Hand] = TypeAdapter(Annotated[Begin | Hand, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class Told:
    """A change, as it is sent."""

    cursor: Cursor
    item: Event | Step | Erasure | Amendment
    sort: Literal["event", "step", "erasure", "amendment"]
    kind: Literal["change"] = "change"


class Socket:
    def __init__(self, inbox: Inbox, archive: Followed, feed: Feed, redactor: Redactor) -> None:
        self._inbox, self._archive, self._feed, self._redactor = inbox, archive, feed, redactor

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            async with asyncio.timeout(BEGIN_S):
                begin = _frame(await socket.receive_text())
            if not isinstance(begin, Begin):
                raise BadInput('the first frame must be {"kind": "begin"}')
            await self._serve(socket, begin)
        except (WebSocketDisconnect, TimeoutError):
            pass
        except DaimonError as failure:
            await self._say(socket, _error(0, failure.code, self._redactor.clean(str(failure))))
        finally:
            if socket.application_state is not WebSocketState.DISCONNECTED:
                with suppress(RuntimeError, WebSocketDisconnect):  # the other end was faster
                    await socket.close(POLICY)

    async def _serve(self, socket: WebSocket, begin: Begin) -> None:
        after = await self._archive.end() if begin.after is None else Cursor(begin.after)
        await self._archive.require(after)
        await self._say(socket, encode(dict[str, str], {"kind": "ready", "cursor": after}))
        talking = [
            asyncio.ensure_future(work) for work in (self._tell(socket, begin, after), self._live(socket, begin), self._hear(socket))
        ]
        try:
            done, _ = await asyncio.wait(talking, return_when=asyncio.FIRST_COMPLETED)
            for ended in done:
                ended.result()
        finally:
            for task in talking:
                task.cancel()
            await asyncio.gather(*talking, return_exceptions=True)

    async def _tell(self, socket: WebSocket, begin: Begin, after: Cursor) -> None:
        places: dict[str, str] = {}
        async for change in self._archive.watch(after):
            if begin.conversation is None or await self._where(change, places) in (begin.conversation, None):
                await self._say(socket, encode(Told, Told(change.cursor, change.item, _sort(change.item))))

    async def _where(self, change: Change, places: dict[str, str]) -> str | None:
        """The conversation that it belongs to. None: to all of them."""
        match change.item:
            case Event(conversation=conversation):
                return conversation
            case Step(turn=turn):
                if turn not in places:
                    places[turn] = (await self._archive.turn(turn)).conversation
                return places[turn]
            case _:
                return None

    async def _live(self, socket: WebSocket, begin: Begin) -> None:
        async for update in _without_steps(self._feed):
            if begin.conversation is None or update.kind == "gap" or update.conversation.name == begin.conversation:
                await self._say(socket, b'{"kind":"live","update":' + encode(Update, update) + b"}")

    async def _hear(self, socket: WebSocket) -> None:
        while True:
            text = await socket.receive_text()
            if len(text) > 2 * self._inbox.max_event_bytes:
                await socket.close(TOO_BIG)
                return
            await self._say(socket, await self._answer(text))

    async def _answer(self, text: str) -> bytes:
        re = 0
        try:
            frame = _frame(text)
            if not isinstance(frame, Hand):
                raise BadInput("this connection has begun already; open another one")
            re = frame.re
            event, accepted = await self._inbox.take(encode(dict[str, JsonValue], frame.event), source=SOURCE)
        except DaimonError as failure:
            return _error(re, failure.code, self._redactor.clean(str(failure)))
        taken = encode(Taken, Taken(accepted.event, accepted.seq, event.conversation, accepted.is_new))
        return b'{"kind":"taken","re":%d,"taken":%s}' % (re, taken)

    async def _say(self, socket: WebSocket, frame: bytes) -> None:
        try:
            await socket.send_text(cleaned_json(frame, self._redactor.clean_known).decode())
        except RuntimeError:  # closed in the meantime
            raise WebSocketDisconnect(GOING) from None


async def _without_steps(feed: Feed) -> AsyncIterator[Update]:
    """Steps come with the changes, in order."""
    with feed.subscribe() as updates:
        async for update in updates:
            if not isinstance(update, Recorded):
                yield update


def _frame(text: str) -> Begin | Hand:
    try:
        return _FRAME.validate_json(text)
    except ValidationError as bad:
        first = bad.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"this is no frame: {place}: {first['msg']}" if place else f"this is no frame: {first['msg']}") from None
    except RecursionError:
        raise BadInput("the frame is nested too deep") from None


def _sort(item: object) -> Literal["event", "step", "erasure", "amendment"]:
    match item:
        case Event():
            return "event"
        case Step():
            return "step"
        case Erasure():
            return "erasure"
        case _:
            return "amendment"


def _error(re: int, code: str, message: str) -> bytes:
    return encode(dict[str, JsonValue], {"kind": "error", "re": re, "code": code, "message": message})
