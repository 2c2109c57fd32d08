"""Memory over HTTP: the port `Curator`, one route for each of its operations.

    GET    /v1/memory/search     ?text ?kind (repeated) ?since ?until ?source ?limit: the best matches, each with why
    GET    /v1/memory/items      ?kind (repeated) ?after ?limit: all that was ever kept, in the order of ids
    POST   /v1/memory/items      {"text", "on_page"}: keep a note
    GET    /v1/memory/items/ID   the item with its receipt
    DELETE /v1/memory/items/ID   it becomes history
    POST   /v1/memory/facts      {"subject", "statement", "about"}
    GET    /v1/memory/history    ?about: an item or a subject
    GET    /v1/memory/page       what stands in every prompt
    DELETE /v1/memory/page/ID    take a note off it
    GET    /v1/memory/source     ?name: what would go if it were forgotten
    DELETE /v1/memory/source     ?name: delete for good all that came from there
    GET    /v1/memory/rewind     ?to: what would change
    POST   /v1/memory/rewind     {"to"}: everything kept becomes as it was then
    POST   /v1/memory/import     {"items", "is_own"}
    POST   /v1/memory/graph      {"query"}

Times have a zone, as in 2026-11-15T09:30:00Z.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass as checked
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from daimon.abi.codec import adapter
from daimon.abi.curator import Account, Curator, Forgotten, Imported, Rewound
from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import KINDS, Answered, Item, Kind, Page, Query, Recalled
from daimon.abi.plain import Moment

MOST_BYTES = 8 << 20
MOST_ITEMS = 1_000
Answer = Callable[[Any, object, int], Response]
T = TypeVar("T")
_STRICT = ConfigDict(extra="forbid", strict=True)


@checked(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Note:
    text: str
    on_page: bool = False


@checked(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Fact:
    subject: str
    statement: str
    about: str = ""


@checked(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class To:
    to: Moment


@checked(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Brought:
    items: tuple[Item, ...]
    is_own: bool = True


@checked(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Asked:
    query: str


@dataclass(frozen=True, slots=True)
class MemoryRoutes:
    curator: Curator
    answer: Answer

    def all(self) -> list[Route]:
        table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", "search", self._search),
            ("GET", "items", self._items),
            ("POST", "items", self._remember),
            ("GET", "items/{id:path}", self._why),
            ("DELETE", "items/{id:path}", self._forget),
            ("POST", "facts", self._learn),
            ("GET", "history", self._history),
            ("GET", "page", self._page),
            ("DELETE", "page/{id:path}", self._take_off),
            ("GET", "source", self._foresee_forgetting),
            ("DELETE", "source", self._forget_source),
            ("GET", "rewind", self._foresee_rewinding),
            ("POST", "rewind", self._rewind),
            ("POST", "import", self._take_in),
            ("POST", "graph", self._ask_graph),
        ]
        return [Route(f"/v1/memory/{path}", does, methods=[method]) for method, path, does in table]

    async def _search(self, request: Request) -> Response:
        asked = request.query_params
        query = Query(
            space=HOME_SPACE, principal=OWNER, text=asked.get("text", ""), limit=_limit(asked.get("limit"), 10), kinds=_kinds(request),
            since=_moment(asked.get("since"), "since"), until=_moment(asked.get("until"), "until"), source=asked.get("source", ""),
        )  # fmt: skip
        return self.answer(Recalled, await self.curator.search(query), 200)

    async def _items(self, request: Request) -> Response:
        asked = request.query_params
        found = await self.curator.items(_kinds(request), asked.get("after", ""), _limit(asked.get("limit"), 500))
        return self.answer(tuple[Item, ...], found, 200)

    async def _remember(self, request: Request) -> Response:
        note = await _read(Note, request)
        return self.answer(Item, await self.curator.remember(note.text, note.on_page), 201)

    async def _why(self, request: Request) -> Response:
        return self.answer(Account, await self.curator.why(request.path_params["id"]), 200)

    async def _forget(self, request: Request) -> Response:
        return self.answer(Item, await self.curator.forget(request.path_params["id"]), 200)

    async def _learn(self, request: Request) -> Response:
        fact = await _read(Fact, request)
        return self.answer(Item, await self.curator.learn(fact.subject, fact.statement, fact.about), 201)

    async def _history(self, request: Request) -> Response:
        return self.answer(tuple[Item, ...], await self.curator.history(_needed(request, "about")), 200)

    async def _page(self, request: Request) -> Response:
        return self.answer(Page, await self.curator.page(), 200)

    async def _take_off(self, request: Request) -> Response:
        return self.answer(Item, await self.curator.take_off(request.path_params["id"]), 200)

    async def _foresee_forgetting(self, request: Request) -> Response:
        return self.answer(Forgotten, await self.curator.foresee_forgetting(_needed(request, "name")), 200)

    async def _forget_source(self, request: Request) -> Response:
        return self.answer(Forgotten, await self.curator.forget_source(_needed(request, "name")), 200)

    async def _foresee_rewinding(self, request: Request) -> Response:
        to = _moment(_needed(request, "to"), "to")
        assert to is not None
        return self.answer(Rewound, await self.curator.foresee_rewinding(to), 200)

    async def _rewind(self, request: Request) -> Response:
        return self.answer(Rewound, await self.curator.rewind((await _read(To, request)).to), 200)

    async def _take_in(self, request: Request) -> Response:
        brought = await _read(Brought, request)
        return self.answer(Imported, await self.curator.take_in(brought.items, brought.is_own), 200)

    async def _ask_graph(self, request: Request) -> Response:
        return self.answer(Answered, await self.curator.ask_graph((await _read(Asked, request)).query), 200)


async def _read(kind: type[T], request: Request) -> T:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise TooLarge(f"the request has more than {MOST_BYTES} bytes; send it in parts")
    try:
        shape: Any = kind
        wish: T = adapter(shape).validate_json(bytes(body) or b"{}")
    except ValidationError as broken:
        first = broken.errors(include_url=False)[0]
        raise BadInput(f"the request cannot be read: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return wish


def _kinds(request: Request) -> tuple[Kind, ...]:
    asked = request.query_params.getlist("kind")
    for kind in asked:
        if kind not in KINDS:
            raise BadInput(f"kind={kind[:20]!r} is none of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in asked)


def _limit(text: str | None, usual: int) -> int:
    if text is None:
        return usual
    if not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= MOST_ITEMS:
        raise BadInput(f"limit={text[:20]!r} is no number from 1 to {MOST_ITEMS}")
    return int(text)


def _moment(text: str | None, name: str) -> datetime | None:
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{name}={text[:40]!r} is no time; write it as 2026-11-15T09:30:00Z") from None
    if at.tzinfo is None:
        raise BadInput(f"{name}={text[:40]!r} has no zone; write it as 2026-11-15T09:30:00Z")
    return at


def _needed(request: Request, name: str) -> str:
    text = request.query_params.get(name, "")
    if not text:
        raise BadInput(f"{name!r} is missing in the request")
    return text
