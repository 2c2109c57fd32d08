"""People over HTTP.

    GET    /v1/people              who is known, by which chats, and who knocked
    POST   /v1/people/invitations  {"name", "rank"}: a pairing code, shown this once
    POST   /v1/people/contacts     {"channel", "sender", "name", "rank"}: let a chat in without a code
    POST   /v1/people/ID/rank      {"rank"}
    DELETE /v1/people/ID           ?channel ?sender: one chat of theirs, or the person with all of them

Ranks are `owner`, `trusted` and `guest`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass as checked
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from daimon.abi.codec import adapter
from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.ids import PrincipalId
from daimon.abi.people import Invitation, Person, Rank
from daimon.gateway.introductions import Everybody, Introductions

MOST_BYTES = 64 * 1024
Answer = Callable[[Any, object, int], Response]
T = TypeVar("T")
_CHECKED = ConfigDict(extra="forbid")


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Invited:
    name: str = ""
    rank: Rank = Rank.OWNER


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Allowed:
    channel: str
    sender: str
    name: str
    rank: Rank = Rank.GUEST


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Ranked:
    rank: Rank


@dataclass(frozen=True, slots=True)
class PeopleRoutes:
    introductions: Introductions
    answer: Answer

    def all(self) -> list[Route]:
        table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", "", self._everybody),
            ("POST", "/invitations", self._invite),
            ("POST", "/contacts", self._allow),
            ("POST", "/{id}/rank", self._change),
            ("DELETE", "/{id}", self._remove),
        ]
        return [Route(f"/v1/people{path}", does, methods=[method]) for method, path, does in table]

    async def _everybody(self, request: Request) -> Response:
        return self.answer(Everybody, await self.introductions.everybody(), 200)

    async def _invite(self, request: Request) -> Response:
        wish = await _read(Invited, request)
        return self.answer(Invitation, await self.introductions.invite(wish.name, wish.rank), 200)

    async def _allow(self, request: Request) -> Response:
        wish = await _read(Allowed, request)
        return self.answer(Person, await self.introductions.allow(wish.channel, wish.sender, wish.name, wish.rank), 200)

    async def _change(self, request: Request) -> Response:
        rank = (await _read(Ranked, request)).rank
        return self.answer(Person, await self.introductions.change(PrincipalId(request.path_params["id"]), rank), 200)

    async def _remove(self, request: Request) -> Response:
        asked = request.query_params
        person = PrincipalId(request.path_params["id"])
        await self.introductions.remove(person, asked.get("channel", ""), asked.get("sender", ""))
        return self.answer(dict[str, str], {"removed": str(person)}, 200)


async def _read(kind: type[T], request: Request) -> T:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise TooLarge(f"the request has more than {MOST_BYTES} bytes")
    try:
        shape: Any = kind
        wish: T = adapter(shape).validate_json(bytes(body) or b"{}")
    except ValidationError as broken:
        first = broken.errors(include_url=False)[0]
        raise BadInput(f"the request cannot be read: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return wish
