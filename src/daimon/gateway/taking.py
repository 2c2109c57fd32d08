"""`POST /v1/events`: one event in, on disk when it is answered.

It has a way of its own past Starlette, since it is the request that comes most: here the long one, for a body that is large or comes in
parts; the short one is in `lane.py`, for who calls with the token of the home. Both take with `take`. What a caller needs depends on what
the event is: to speak and to stop is CHAT, an answer is APPROVE, anything else speaks for services and machines and is ADMIN. To have the
answer sent out, to a channel, says what leaves and to whom: that is APPROVE too. To speak under the name of another source is ADMIN: its
keys tell which of its events were there before.

An answer that a device gave is written down among the acts: to the agent it is the owner's word, whichever device it came from.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from daimon.abi.access import OWNERS_SOCKET, OWNERS_TOKEN, Caller, Right
from daimon.abi.codec import encode
from daimon.abi.errors import DaimonError, TooLarge
from daimon.abi.event import Answer, Event, Said, Stop
from daimon.abi.secret import Redactor
from daimon.gateway.access.acts import Acts
from daimon.gateway.answers import Taken, explained
from daimon.gateway.entry import CALLER, Call, Entry, require
from daimon.gateway.faults import status_of
from daimon.gateway.inbox import KEPT_BYTES, Inbox
from daimon.gateway.wire import EventIn, Name

PATH = "/v1/events"
KEY = "Idempotency-Key"
HERE = "local"
SOURCES = frozenset({"inject", "web"})
"""Of those who speak for themselves."""


@dataclass(frozen=True, slots=True)
class Taking:
    inbox: Inbox
    redactor: Redactor
    acts: Acts

    def all(self) -> tuple[Entry, ...]:
        """For the document and for who asks with another method."""
        what = "Take an event in; answered when it is on disk. A message or stop needs `chat`, an answer `approve`, the others `admin`"
        what += "; so does a `source` of its own, and `reply_to` elsewhere needs `approve`"
        most = self.inbox.max_event_bytes
        return (
            Entry(
                "POST", PATH, _elsewhere, Taken, what, Right.CHAT, body=EventIn, status=202, fails=(404, 409), most_bytes=most,
                heeds={KEY: Name},
            ),
        )  # fmt: skip

    async def take(self, body: bytes, key: str | None, caller: Caller = OWNERS_SOCKET) -> tuple[int, bytes]:
        """One event in, status and answer out."""
        try:
            event, accepted = await self.inbox.take(body, key, may=lambda event: allow(caller, event))
            await noted(self.acts, caller, event)
        except DaimonError as failure:
            return status_of(failure), explained(failure.code, self.redactor.clean(str(failure)))
        return 202, encode(Taken, Taken(accepted.event, accepted.seq, event.conversation, accepted.is_new))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self.inbox.max_event_bytes
        try:
            body = await _body(receive, most)
        except ClientDisconnect:
            return
        if len(body) > most:
            reason = f"the event has more than {most} bytes (gateway.max_event_bytes)"
            await self.inbox.bury("api", reason, body[:KEPT_BYTES])
            status, answer = 413, explained(TooLarge.code, reason)
        else:
            status, answer = await self.take(body, key_in(scope["headers"]), scope.get(CALLER, OWNERS_SOCKET))
        await Response(answer, status, media_type="application/json")(scope, receive, send)


def allow(caller: Caller, event: Event) -> None:
    """Raises Forbidden."""
    require(caller, right_for(event))
    if event.reply_to is not None and event.reply_to.channel != HERE:
        require(caller, Right.APPROVE)
    if event.source not in SOURCES:
        require(caller, Right.ADMIN)


async def noted(acts: Acts, caller: Caller, event: Event) -> None:
    """What the owner's own programs answer is theirs."""
    if isinstance(event.body, Answer) and event.resolves is not None and caller not in (OWNERS_SOCKET, OWNERS_TOKEN):
        await acts.note(caller, "answer", f"{event.resolves} {event.body.choice}")


def right_for(event: Event) -> Right:
    match event.body:
        case Said() | Stop():
            return Right.CHAT
        case Answer():
            return Right.APPROVE
        case _:
            return Right.ADMIN


def key_in(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The idempotency key beside an event. Space around it is not part of it, whichever way it came."""
    return next((value.strip(b" \t").decode("latin-1") for name, value in headers if name == b"idempotency-key"), None)


async def _body(receive: Receive, most: int) -> bytes:
    """All of it, or the beginning of one that is longer than `most`. Raises ClientDisconnect."""
    data = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        data += message.get("body", b"")
        if len(data) > most or not message.get("more_body"):
            return bytes(data)


async def _elsewhere(call: Call[None, EventIn]) -> object:
    raise AssertionError("the API takes events in before it looks at its routes")
