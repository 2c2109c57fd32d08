"""The HTTP API, version 1. JSON in, JSON out, errors as {"error": {"code", "message"}}.

    POST /v1/events              take an event in (Idempotency-Key header or `key`); 202 when it is on disk
    GET  /v1/events/ID           the event and the turn that it caused
    GET  /v1/turns               newest first; ?limit ?conversation ?state
    GET  /v1/turns/ID            the whole trace: turn, event, steps
    GET  /v1/turns/ID/context    what the model saw, and why; ?step=N for a certain call
    POST /v1/turns/ID/stop       end it
    GET  /v1/questions           what people are being asked
    GET  /v1/letters             input that could not be used
    GET  /v1/outbox              what went out to people, and what became of it; ?limit ?channel ?state
    POST /v1/blobs               store a value, for a message to name; the body is its bytes
    GET  /v1/blobs/HASH          a stored value, such as the exact request of a model call
    GET  /v1/costs               what models cost; ?by (day, month, job, agent, model, conversation, turn) ?since ?until (days)
    GET  /v1/grants              what the owner allowed ahead of time, and is in force; ?all=true for all that ever was
    DELETE /v1/grants/ID         take it back
    POST /v1/reload              read policies and the settings of agents, models, routes, budget and channels again
    POST /v1/channels/NAME/poke  try a channel that is down or locked out now; 202
    GET  /v1/feed                live progress as lines of JSON; ?conversation
    GET  /v1/socket              a WebSocket: everything that happens, from a cursor on, and a way in; see `socket.py`
    GET  /v1/status              how it is
    …    /v1/workspaces, /v1/undo  see `workspaces.py`
    …    /v1/memory              see `memories.py`
    …    /v1/people              see `people.py`
    …    /v1/hooks               see `hooks/routes.py`
    POST /hooks/NAME             what a service posts; needs its signature, no token (`hooks/route.py`)
    …    /v1/automations, /v1/ticks, /v1/preview  see `automations.py`
    GET  /healthz                200 while it runs; needs no token
    GET  /readyz                 200 when it takes work, else 503 and what is missing; needs no token

It knows nothing of sockets: who may call is decided in `door`. Whatever it answers is cleaned: of known secrets, which may have become
known after something was written down, and errors of what is shaped like one too.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, get_args

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from daimon.abi.automation import Clerk
from daimon.abi.cleaning import cleaned_json, cleaned_text
from daimon.abi.codec import encode
from daimon.abi.curator import Curator
from daimon.abi.errors import BadInput, DaimonError, Fenced, JournalFailed, JournalFull, Misconfigured, NotFound, TooLarge
from daimon.abi.event import Event, Stop
from daimon.abi.hook import Hooks
from daimon.abi.ids import HOME_SPACE, OWNER, BlobHash, EventId, Key, TurnId
from daimon.abi.label import owned
from daimon.abi.money import Account
from daimon.abi.plain import clean, is_utf8
from daimon.abi.ports import Clock, DeadLetter, Delivery, Followed, Given, Grouping, Ids, Ledger, Mailing, Overview, Store
from daimon.abi.secret import Redactor
from daimon.abi.turn import State, Turn
from daimon.abi.workspace import Trials, Workspaces
from daimon.context.provenance import SeenRequest, seen
from daimon.gateway.answers import Caused, Costs, Letter, Reloaded, Status, Taken, Trace, explained
from daimon.gateway.automations import AutomationRoutes
from daimon.gateway.hooks.ready import Shelf
from daimon.gateway.hooks.receive import Receiver
from daimon.gateway.hooks.route import HookRoute
from daimon.gateway.hooks.routes import HookRoutes
from daimon.gateway.inbox import KEPT_BYTES, Inbox
from daimon.gateway.introductions import Introductions
from daimon.gateway.memories import MemoryRoutes
from daimon.gateway.people import PeopleRoutes
from daimon.gateway.readiness import Readiness
from daimon.gateway.socket import Socket
from daimon.gateway.workspaces import WorkspaceRoutes
from daimon.kernel.feed import Feed, Update
from daimon.kernel.grants import Standing
from daimon.kernel.questions import OpenQuestion, open_questions

MOST_ROWS = 1_000
READY_AGAIN_S = 5


@dataclass(frozen=True, slots=True)
class Parts:
    """What the API stands on."""

    inbox: Inbox
    archive: Followed
    overview: Overview
    store: Store
    ledger: Ledger
    grants: Standing
    feed: Feed
    clock: Clock
    ids: Ids
    status: Callable[[], Awaitable[Status]]
    reload: Callable[[], Awaitable[Reloaded]]
    accounts: Callable[[], tuple[Account, ...]]
    """Those of today and this month."""
    warm: Callable[[], None]
    """Somebody listens, so somebody will speak."""
    redactor: Redactor
    workspaces: Workspaces
    trials: Trials
    curator: Curator
    introductions: Introductions
    hooks: Hooks
    shelf: Shelf
    receiver: Receiver
    clerk: Clerk
    readiness: Readiness
    poke: Callable[[str], bool]
    """Try a channel again now. False: there is none of that name."""


class Api:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._posted = HookRoute(parts.receiver)
        self.post = parts.receiver.post
        self._others = Starlette(
            routes=[
                Route("/v1/events/{id}", self._event),
                Route("/v1/turns", self._turns),
                Route("/v1/turns/{id}", self._trace),
                Route("/v1/turns/{id}/context", self._context),
                Route("/v1/turns/{id}/stop", self._stop, methods=["POST"]),
                Route("/v1/questions", self._questions),
                Route("/v1/letters", self._letters),
                Route("/v1/outbox", self._outbox),
                Route("/v1/blobs", self._keep, methods=["POST"]),
                Route("/v1/blobs/{hash}", self._blob),
                Route("/v1/costs", self._costs),
                Route("/v1/grants", self._grants),
                Route("/v1/grants/{id}", self._revoke, methods=["DELETE"]),
                Route("/v1/reload", self._reload, methods=["POST"]),
                Route("/v1/channels/{name}/poke", self._poke, methods=["POST"]),
                Route("/v1/feed", self._feed),
                Route("/v1/status", self._status),
                *WorkspaceRoutes(parts.workspaces, parts.trials, self._json).all(),
                *MemoryRoutes(parts.curator, self._json).all(),
                *PeopleRoutes(parts.introductions, self._json).all(),
                *HookRoutes(parts.hooks, parts.shelf, self._json).all(),
                *AutomationRoutes(parts.clerk, self._json).all(),
                Route("/healthz", self._health),
                Route("/readyz", self._ready),
                WebSocketRoute("/v1/socket", Socket(parts.inbox, parts.archive, parts.feed, parts.redactor).serve),
            ],
            exception_handlers={DaimonError: self._failed, 404: self._nowhere, 405: self._nowhere, Exception: self._bug},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Events and deliveries are taken in here; everything else goes through Starlette."""
        if scope["type"] == "http" and scope["path"].startswith("/hooks/"):
            await self._posted(scope, receive, send)
            return
        if scope["type"] == "http" and scope["path"] == "/v1/events":
            await (self._take if scope["method"] == "POST" else error(405, "bad_method", "events are handed in with POST"))(
                scope, receive, send
            )
        else:
            await self._others(scope, receive, send)

    @property
    def most_bytes(self) -> int:
        return self._parts.inbox.max_event_bytes

    async def take(self, body: bytes, key: str | None) -> tuple[int, bytes]:
        """One event in, status and answer out."""
        try:
            event, accepted = await self._parts.inbox.take(body, key)
        except DaimonError as failure:
            return _status_of(failure), explained(failure.code, self._parts.redactor.clean(str(failure)))
        return 202, encode(Taken, Taken(accepted.event, accepted.seq, event.conversation, accepted.is_new))

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self._parts.inbox.max_event_bytes
        try:
            body = await _body(receive, most)
        except ClientDisconnect:
            return
        if len(body) > most:
            reason = f"the event has more than {most} bytes (gateway.max_event_bytes)"
            await self._parts.inbox.bury("api", reason, body[:KEPT_BYTES])
            status, answer = 413, explained(TooLarge.code, reason)
        else:
            status, answer = await self.take(body, key_in(scope["headers"]))
        await Response(answer, status, media_type="application/json")(scope, receive, send)

    async def _event(self, request: Request) -> Response:
        event = await self._parts.archive.event(EventId(request.path_params["id"]))
        return self._json(Caused, Caused(event, await self._parts.archive.turn_of(event.id)))

    async def _turns(self, request: Request) -> Response:
        asked = request.query_params
        state = asked.get("state")
        if state is not None and state not in State.__members__.values():
            raise BadInput(f"state={state!r} is none of {', '.join(State)}")
        turns = await self._parts.archive.turns(
            HOME_SPACE, _limit(asked.get("limit")), asked.get("conversation"), State(state) if state else None
        )
        return self._json(tuple[Turn, ...], turns)

    async def _trace(self, request: Request) -> Response:
        turn = await self._parts.archive.turn(TurnId(request.path_params["id"]))
        archive = self._parts.archive
        event, steps, late = await archive.event(turn.event), await archive.steps(turn.id), await archive.late(turn.id)
        return self._json(Trace, Trace(turn, event, steps, late))

    async def _context(self, request: Request) -> Response:
        turn = await self._parts.archive.turn(TurnId(request.path_params["id"]))
        step = request.query_params.get("step")
        if step is not None and not step.isdecimal():
            raise BadInput(f"step={step[:20]!r} is no number of a step")
        found = await seen(self._parts.archive, self._parts.store, turn.id, None if step is None else int(step))
        return self._json(SeenRequest, found)

    async def _stop(self, request: Request) -> Response:
        turn = await self._parts.archive.turn(TurnId(request.path_params["id"]))
        now, id_ = self._parts.clock.now(), EventId(self._parts.ids.new("e"))
        stop = Event(
            id=id_, source="api", key=Key(f"stop:{turn.id}:{id_}"), conversation=turn.conversation, principal=OWNER,
            body=Stop(turn.id, "asked by the owner"), label=owned("api"), occurred_at=now, received_at=now,
        )  # fmt: skip
        await self._parts.inbox.accept(stop)
        return self._json(Turn, turn, 202)

    async def _questions(self, request: Request) -> Response:
        return self._json(tuple[OpenQuestion, ...], await open_questions(self._parts.archive, HOME_SPACE))

    async def _letters(self, request: Request) -> Response:
        found = await self._parts.overview.letters(_limit(request.query_params.get("limit")))
        return self._json(tuple[Letter, ...], tuple(map(_letter, found)))

    async def _keep(self, request: Request) -> Response:
        most = self._parts.inbox.max_event_bytes
        try:
            data = await _body(request.receive, most)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        if len(data) > most:
            raise TooLarge(f"the value has more than {most} bytes (gateway.max_event_bytes)")
        return self._json(dict[str, str | int], {"blob": await self._parts.store.put(data), "size": len(data)}, 201)

    async def _blob(self, request: Request) -> Response:
        data = await self._parts.store.get(BlobHash(request.path_params["hash"]))
        if is_utf8(data):  # such as the request of a model call; pictures and sounds are handed out as they are
            data = cleaned_text(data, self._parts.redactor.clean_known)
        return Response(data, media_type="application/octet-stream")

    async def _outbox(self, request: Request) -> Response:
        asked = request.query_params
        state = asked.get("state", "")
        if state and state not in get_args(Delivery):
            raise BadInput(f"state={state[:40]!r} is none of {', '.join(get_args(Delivery))}")
        found = await self._parts.overview.mailings(_limit(asked.get("limit")), asked.get("channel", ""), state)
        return self._json(tuple[Mailing, ...], found)

    async def _costs(self, request: Request) -> Response:
        asked = request.query_params
        by = asked.get("by", "day")
        if by not in get_args(Grouping):
            raise BadInput(f"by={by[:20]!r} is none of {', '.join(get_args(Grouping))}")
        since, until = _day(asked.get("since", "")), _day(asked.get("until", ""))
        rows = await self._parts.ledger.spending(HOME_SPACE, by, since, until)  # type: ignore[arg-type]
        return self._json(Costs, Costs(by, rows, await self._parts.ledger.balances(HOME_SPACE, self._parts.accounts())))  # type: ignore[arg-type]

    async def _grants(self, request: Request) -> Response:
        given, now = await self._parts.grants.given(), self._parts.clock.now()
        is_all = request.query_params.get("all") == "true"
        return self._json(tuple[Given, ...], tuple(each for each in given if is_all or each.is_in_force(now)))

    async def _revoke(self, request: Request) -> Response:
        return self._json(Given, await self._parts.grants.revoke(request.path_params["id"], OWNER))

    async def _reload(self, request: Request) -> Response:
        return self._json(Reloaded, await self._parts.reload())

    async def _poke(self, request: Request) -> Response:
        name = str(request.path_params["name"])
        if not self._parts.poke(name):
            raise NotFound(f"there is no channel {name[:80]!r}; `daimon channel list` shows those that there are")
        return self._json(dict[str, str], {"poked": name}, 202)

    async def _feed(self, request: Request) -> Response:
        self._parts.warm()
        return StreamingResponse(self._updates(request.query_params.get("conversation")), media_type="application/x-ndjson")

    async def _updates(self, conversation: str | None) -> AsyncIterator[bytes]:
        with self._parts.feed.subscribe() as updates:
            yield b"\n"  # the subscription stands: whatever is accepted from here on will be seen
            async for update in updates:
                if conversation is None or update.kind == "gap" or update.conversation.name == conversation:
                    yield encode(Update, update) + b"\n"

    async def _status(self, request: Request) -> Response:
        return self._json(Status, await self._parts.status())

    async def _health(self, request: Request) -> Response:
        return Response(b"ok\n", media_type="text/plain")

    async def _ready(self, request: Request) -> Response:
        missing = await self._parts.readiness.missing()
        later = {"retry-after": str(READY_AGAIN_S)} if missing else None
        return Response(f"{missing or 'ready'}\n", 503 if missing else 200, later, "text/plain")

    def _json(self, kind: Any, value: object, status: int = 200) -> Response:
        data = cleaned_json(encode(kind, value), self._parts.redactor.clean_known)
        return Response(data, status, media_type="application/json")

    async def _failed(self, request: Request, failure: Exception) -> Response:
        assert isinstance(failure, DaimonError)
        return error(_status_of(failure), failure.code, self._parts.redactor.clean(str(failure)))

    async def _bug(self, request: Request, failure: Exception) -> Response:
        told = self._parts.redactor.clean(f"{type(failure).__name__}: {clean(str(failure))}")
        return error(500, "bug", f"an error in Daimon itself: {told}")

    async def _nowhere(self, request: Request, failure: Exception) -> Response:
        status = getattr(failure, "status_code", 404)
        told = self._parts.redactor.clean(f"there is no {request.method} {request.url.path}")
        return error(status, "not_found" if status == 404 else "bad_method", told)


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


def _letter(letter: DeadLetter) -> Letter:
    return Letter(letter.source, letter.reason, letter.at, letter.body.decode("utf-8", "backslashreplace"))


def key_in(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The idempotency key beside an event. Space around it is not part of it, whichever way it came."""
    return next((value.strip(b" \t").decode("latin-1") for name, value in headers if name == b"idempotency-key"), None)


def error(status: int, code: str, message: str) -> Response:
    return Response(explained(code, message), status, media_type="application/json")


def _status_of(failure: DaimonError) -> int:
    match failure:
        case TooLarge():
            return 413
        case BadInput() | Misconfigured():
            return 400
        case NotFound():
            return 404
        case Fenced():
            return 409
        case JournalFull():
            return 507
        case JournalFailed():
            return 503
        case _:
            return 500


def _day(text: str) -> str:
    try:
        return str(date.fromisoformat(text)) if text else ""
    except ValueError:
        raise BadInput(f"{text[:20]!r} is not a day such as 2026-11-15") from None


def _limit(text: str | None) -> int:
    if text is None:
        return 50
    if not text.isdecimal() or len(text) > len(str(MOST_ROWS)) or not 1 <= int(text) <= MOST_ROWS:
        raise BadInput(f"limit={text[:20]!r} is not a number from 1 to {MOST_ROWS}")
    return int(text)
