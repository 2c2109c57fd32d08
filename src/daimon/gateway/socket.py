"""The WebSocket of the API, `GET /v1/socket`: everything that happens, live, and a way in for events. One for each page that looks.

The first frame is the client's: where it was (`after`, the cursor of the last change that it has; left out: from now on). Then come

    {"kind": "ready", "cursor": C}            what was asked for stands; changes after C follow
    {"kind": "change", "cursor": C, "item": …}  an event, step, amendment or erasure, as it is on disk, in order, none left out
    {"kind": "live", "update": …}             what is never on disk (tokens, output of tools) or tells how a turn and a message fare
    {"kind": "taken", "re": N, …}, {"kind": "error", "re": N, "code", "message"}   the answer to frame N of the client

and the client sends {"kind": "event", "re": N, "event": {…}} with an event as in `wire.py`, or {"kind": "ping", "re": N} to hear whether
the line is alive. A client that was cut off comes back with the cursor of the last change that it saw. Of a reply under way it gets all so
far, as tokens from offset 0, which take the place of what it has.

A page that reads views of its own says `brief`: of a change it is told what changed, not how it is now, and where it was away for longer
than `FAR` changes it is told so (`skipped`) and goes on from the end.

Whoever reads slowly slows down this connection alone: changes are read from the journal as they are sent, live updates wait in a bounded
queue. Who may look needs READ, and for an event what `taking.py` says.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from daimon.abi.access import OWNERS_SOCKET, Caller, Right
from daimon.abi.cleaning import cleaned_json
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, DaimonError
from daimon.abi.event import Event
from daimon.abi.memory import Amendment
from daimon.abi.ports import Change, Cursor, Erasure, Followed
from daimon.abi.secret import Redactor
from daimon.abi.step import Step
from daimon.gateway.access.acts import Acts
from daimon.gateway.answers import Taken
from daimon.gateway.entry import CALLER, require
from daimon.gateway.inbox import Inbox
from daimon.gateway.taking import allow, noted
from daimon.kernel.feed import Feed, Recorded, Update

BEGIN_S = 10.0
"""A client that says nothing for so long after it connected is sent away."""
FAR = 2_000
"""Who missed more reads what it shows again, which is less."""
POLICY, TOO_BIG, GOING = 1008, 1009, 1001
SOURCE = "web"


class _Frame(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Begin(_Frame):
    kind: Literal["begin"]
    after: str | None = None
    conversation: str | None = None
    """Only what belongs to this one."""
    brief: bool = False
    """What changed, and not how it is now."""


class Ping(_Frame):
    kind: Literal["ping"]
    re: int = 0


class Hand(_Frame):
    kind: Literal["event"]
    event: dict[str, JsonValue]
    re: int = 0
    """Comes back with the answer."""


_FRAME: TypeAdapter[Begin | Hand | Ping] = TypeAdapter(Annotated[Begin | Hand | Ping, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class Told:
    """A change, as it is sent."""

    cursor: Cursor
    item: Event | Step | Erasure | Amendment
    sort: Literal["event", "step", "erasure", "amendment"]
    kind: Literal["change"] = "change"


@dataclass(frozen=True, slots=True)
class Hinted:
    """That something changed."""

    cursor: Cursor
    sort: Literal["event", "step", "erasure", "amendment"]
    conversation: str | None
    turn: str | None = None
    n: int | None = None
    step: str | None = None
    """The kind of the step, or of the event."""
    kind: Literal["change"] = "change"


class Socket:
    def __init__(self, inbox: Inbox, archive: Followed, feed: Feed, redactor: Redactor, acts: Acts) -> None:
        self._inbox, self._archive, self._feed, self._redactor, self._acts = inbox, archive, feed, redactor, acts

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            require(_caller(socket), Right.READ)
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
        if is_far := begin.brief and await self._archive.behind(after) > FAR:
            after = await self._archive.end()
        await self._say(socket, encode(dict[str, str | bool], {"kind": "ready", "cursor": after, **({"skipped": True} if is_far else {})}))
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
            where = await self._where(change, places) if begin.brief or begin.conversation is not None else None
            if begin.conversation is not None and where not in (begin.conversation, None):
                continue
            if begin.brief:
                await self._say(socket, encode(Hinted, _hint(change, where)))
            else:
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
        caller = _caller(socket)
        while True:
            text = await socket.receive_text()
            if len(text) > 2 * self._inbox.max_event_bytes:
                await socket.close(TOO_BIG)
                return
            await self._say(socket, await self._answer(text, caller))

    async def _answer(self, text: str, caller: Caller) -> bytes:
        re = 0
        try:
            frame = _frame(text)
            if isinstance(frame, Ping):
                return encode(dict[str, str | int], {"kind": "pong", "re": frame.re})
            if not isinstance(frame, Hand):
                raise BadInput("this connection has begun already; open another one")
            re = frame.re
            data = encode(dict[str, JsonValue], frame.event)
            event, accepted = await self._inbox.take(data, source=SOURCE, may=lambda event: allow(caller, event))
            await noted(self._acts, caller, event)
        except DaimonError as failure:
            return _error(re, failure.code, self._redactor.clean(str(failure)))
        taken = encode(Taken, Taken(accepted.event, accepted.seq, event.conversation, accepted.is_new))
        return b'{"kind":"taken","re":%d,"taken":%s}' % (re, taken)

    async def _say(self, socket: WebSocket, frame: bytes) -> None:
        try:
            await socket.send_text(cleaned_json(frame, self._redactor.clean_known).decode())
        except RuntimeError:  # closed in the meantime
            raise WebSocketDisconnect(GOING) from None


def _caller(socket: WebSocket) -> Caller:
    caller: Caller = socket.scope.get(CALLER, OWNERS_SOCKET)
    return caller


async def _without_steps(feed: Feed) -> AsyncIterator[Update]:
    """Steps come with the changes, in order."""
    with feed.subscribe(from_the_start=True) as updates:
        async for update in updates:
            if not isinstance(update, Recorded):
                yield update


def _frame(text: str) -> Begin | Hand | Ping:
    try:
        return _FRAME.validate_json(text)
    except ValidationError as bad:
        first = bad.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"this is no frame: {place}: {first['msg']}" if place else f"this is no frame: {first['msg']}") from None
    except RecursionError:
        raise BadInput("the frame is nested too deep") from None


def _hint(change: Change, where: str | None) -> Hinted:
    match change.item:
        case Step(turn=turn, n=n, body=body):
            return Hinted(change.cursor, "step", where, turn, n, body.kind)
        case Event(body=body):
            return Hinted(change.cursor, "event", where, step=body.kind)
        case item:
            return Hinted(change.cursor, _sort(item), where)


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
