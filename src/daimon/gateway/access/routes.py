"""Coming in, over HTTP: links, sessions, devices, and what was done.

A session is put into a cookie that scripts cannot read and no other site can have sent along. Its name says where it belongs (`places.py`).
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked
from starlette.requests import Request as Sent
from starlette.responses import Response

from daimon.abi.access import ALL_RIGHTS, Act, Device, Request, Right
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput
from daimon.gateway.access.acts import Acts
from daimon.gateway.access.entrance import Asked, Entrance
from daimon.gateway.access.places import Place
from daimon.gateway.access.sessions import LONGEST, MOST_NAME
from daimon.gateway.answers import Opened
from daimon.gateway.door import SOURCE, Source
from daimon.gateway.entry import Call, Entry

_CHECKED = ConfigDict(extra="forbid")
Secret = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(max_length=MOST_NAME)]
Rights = Annotated[frozenset[Right], Field(min_length=1)]


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Linking:
    name: Name = ""
    rights: Rights = ALL_RIGHTS


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Entering:
    secret: Secret
    name: Name = ""


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Asking:
    name: Name = ""


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Collecting:
    secret: Secret


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Giving:
    rights: Rights


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Newest:
    limit: Annotated[int, Field(ge=1, le=1_000)] = 50


@dataclass(frozen=True, slots=True)
class Me:
    """Who calls."""

    id: str
    name: str
    rights: frozenset[Right]


@dataclass(frozen=True, slots=True)
class Waiting:
    state: Literal["waiting", "in"]
    device: Device | None = None


@dataclass(frozen=True, slots=True)
class AccessRoutes:
    entrance: Entrance
    acts: Acts
    origins: tuple[str, ...]
    """Under which the page is reached, the nearest first."""

    def all(self) -> tuple[Entry, ...]:
        devices, admin = "/v1/devices", Right.ADMIN
        asked = f"{devices}/requests"
        return (
            Entry("POST", "/v1/links", self._link, Opened, "Make a link that signs a browser in once", admin, body=Linking, is_act=True),
            Entry("POST", "/v1/enter", self._enter, Device, "Sign in with the secret of a link", None, body=Entering, fails=(429,)),
            Entry("POST", "/v1/leave", self._leave, dict[str, str], "Sign out", None),
            Entry("GET", "/v1/me", self._me, Me, "Who calls, and what they may do", None),
            Entry("GET", devices, self._devices, tuple[Device, ...], "Browsers and phones that are signed in", admin),
            Entry("DELETE", f"{devices}/{{id}}", self._end, Device, "Sign a device out for good", admin, is_act=True),
            Entry("POST", f"{devices}/{{id}}/rights", self._give, Device, "Change what a device may do", admin, body=Giving, is_act=True),
            Entry("POST", asked, self._ask, Asked, "Ask to be let in", None, body=Asking, status=201, fails=(429,)),
            Entry("GET", asked, self._requests, tuple[Request, ...], "Devices that ask to be let in", admin),
            Entry("POST", f"{asked}/collect", self._collect, Waiting, "Whether one was let in", None, body=Collecting, fails=(429,)),
            Entry("POST", f"{asked}/{{code}}", self._confirm, Request, "Let a device in", admin, body=Giving, is_act=True),
            Entry("DELETE", f"{asked}/{{code}}", self._refuse, Request, "Refuse a device", admin, is_act=True),
            Entry("GET", "/v1/acts", self._acts, tuple[Act, ...], "Administrative acts, newest first", admin, query=Newest),
        )

    async def _link(self, call: Call[None, Linking]) -> Opened:
        made = await self.entrance.link(call.body.name, call.body.rights)
        return Opened(tuple(f"{origin}/enter#{made.secret}" for origin in self.origins), made.until)

    async def _enter(self, call: Call[None, Entering]) -> Response:
        source, place = _from_browser(call.request)
        device, secret = await self.entrance.enter(call.body.secret, call.body.name, source)
        await self._end_old(call.request, place)
        return _with_cookie(Response(encode(Device, device), media_type="application/json"), place, secret)

    async def _leave(self, call: Call[None, None]) -> Response:
        source = _source(call.request)
        if self.entrance.sessions.alive(call.caller.id) is not None:
            await self.entrance.sessions.end(call.caller.id)
            await self.acts.note(call.caller, "sign out", call.caller.id)
        response = Response(encode(dict[str, str], {"left": call.caller.id}), media_type="application/json")
        if source.place is not None:
            _set_cookie(response, source.place, "", 0)
        return response

    async def _me(self, call: Call[None, None]) -> Me:
        return Me(call.caller.id, call.caller.name, call.caller.rights)

    async def _devices(self, call: Call[None, None]) -> tuple[Device, ...]:
        return self.entrance.sessions.all()

    async def _end(self, call: Call[None, None]) -> Device:
        return await self.entrance.sessions.end(call.path["id"])

    async def _give(self, call: Call[None, Giving]) -> Device:
        return await self.entrance.sessions.change(call.path["id"], call.body.rights)

    async def _ask(self, call: Call[None, Asking]) -> Asked:
        return await self.entrance.ask(call.body.name, _source(call.request))

    async def _requests(self, call: Call[None, None]) -> tuple[Request, ...]:
        return await self.entrance.requests()

    async def _confirm(self, call: Call[None, Giving]) -> Request:
        return await self.entrance.decide(call.path["code"], call.body.rights)

    async def _refuse(self, call: Call[None, None]) -> Request:
        return await self.entrance.decide(call.path["code"], frozenset())

    async def _collect(self, call: Call[None, Collecting]) -> object:
        source, place = _from_browser(call.request)
        got = await self.entrance.collect(call.body.secret, source)
        if got is None:
            return Waiting("waiting")
        await self._end_old(call.request, place)
        return _with_cookie(Response(encode(Waiting, Waiting("in", got[0])), media_type="application/json"), place, got[1])

    async def _acts(self, call: Call[Newest, None]) -> tuple[Act, ...]:
        return await self.entrance.access.acts(call.query.limit)

    async def _end_old(self, request: Sent, place: Place) -> None:
        """The session that this browser had before."""
        had = self.entrance.sessions.find(request.cookies.get(place.cookie, ""))
        if had is not None:
            await self.entrance.sessions.end(had.id)


def _source(request: Sent) -> Source:
    source: Source = request.scope.get(SOURCE, Source("", is_local=True))
    return source


def _from_browser(request: Sent) -> tuple[Source, Place]:
    source = _source(request)
    if source.place is None:
        raise BadInput("a session is for a browser: sign in through the address that the link names, not through the socket")
    return source, source.place


def _with_cookie(response: Response, place: Place, secret: str) -> Response:
    _set_cookie(response, place, secret, int(LONGEST.total_seconds()))
    return response


def _set_cookie(response: Response, place: Place, secret: str, seconds: int) -> None:
    response.set_cookie(place.cookie, secret, seconds, path="/", secure=place.is_secure, httponly=True, samesite="strict")
