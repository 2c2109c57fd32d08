"""Automations over HTTP: the port `Clerk`, one route for each of its operations.

    GET    /v1/automations               all, with the schedule in words, the next time and the last tick
    PUT    /v1/automations/NAME          {"schedule", "task", …}: make it, or put this one in its place
    GET    /v1/automations/NAME          one
    DELETE /v1/automations/NAME          take it away; its ticks stay on record
    POST   /v1/automations/NAME/pause    ticks are recorded as skipped from now on
    POST   /v1/automations/NAME/resume
    POST   /v1/automations/NAME/run      now; answers with the tick
    GET    /v1/automations/NAME/ticks    newest first; ?limit
    GET    /v1/automations/NAME/preview  the next times; ?n
    GET    /v1/ticks                     of all, newest first; ?limit
    GET    /v1/preview                   ?schedule ?timezone ?n: of a schedule in words

A name that is not there is 404.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from daimon.abi.automation import Clerk, Draft, Shown, Tick
from daimon.abi.errors import BadInput, NotFound, TooLarge

MOST_BYTES = 1 << 20
MOST_ROWS = 1_000
Answer = Callable[[Any, object, int], Response]
Times = tuple[datetime, ...]
DRAFT: TypeAdapter[Draft] = TypeAdapter(Draft)


@dataclass(frozen=True, slots=True)
class AutomationRoutes:
    clerk: Clerk
    answer: Answer

    def all(self) -> list[Route]:
        table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", "automations", self._all),
            ("PUT", "automations/{id}", self._put),
            ("GET", "automations/{id}", self._one),
            ("DELETE", "automations/{id}", self._cease),
            ("POST", "automations/{id}/pause", self._pause),
            ("POST", "automations/{id}/resume", self._resume),
            ("POST", "automations/{id}/run", self._run),
            ("GET", "automations/{id}/ticks", self._ticks),
            ("GET", "automations/{id}/preview", self._preview),
            ("GET", "ticks", self._ticks),
            ("GET", "preview", self._preview),
        ]
        return [Route(f"/v1/{path}", does, methods=[method]) for method, path, does in table]

    async def _all(self, request: Request) -> Response:
        return self.answer(tuple[Shown, ...], await self.clerk.all(), 200)

    async def _put(self, request: Request) -> Response:
        data = await request.body()
        if len(data) > MOST_BYTES:
            raise TooLarge(f"the automation has {len(data):,} bytes; {MOST_BYTES:,} are the most")
        return self.answer(Shown, await self.clerk.put(_draft(data, request.path_params["id"])), 200)

    async def _one(self, request: Request) -> Response:
        name = request.path_params["id"]
        found = next((each for each in await self.clerk.all() if each.automation.id == name), None)
        if found is None:
            raise NotFound(f"there is no automation {name[:60]!r}; GET /v1/automations lists them")
        return self.answer(Shown, found, 200)

    async def _cease(self, request: Request) -> Response:
        await self.clerk.cease(request.path_params["id"])
        return self.answer(dict[str, str], {"removed": request.path_params["id"]}, 200)

    async def _pause(self, request: Request) -> Response:
        return self.answer(Shown, await self.clerk.pause(request.path_params["id"], True), 200)

    async def _resume(self, request: Request) -> Response:
        return self.answer(Shown, await self.clerk.pause(request.path_params["id"], False), 200)

    async def _run(self, request: Request) -> Response:
        return self.answer(Tick, await self.clerk.run(request.path_params["id"]), 200)

    async def _ticks(self, request: Request) -> Response:
        found = await self.clerk.ticks(request.path_params.get("id", ""), _number(request, "limit", 50))
        return self.answer(tuple[Tick, ...], found, 200)

    async def _preview(self, request: Request) -> Response:
        asked = request.query_params
        schedule = request.path_params.get("id") or asked.get("schedule", "")
        return self.answer(Times, await self.clerk.preview(schedule, asked.get("timezone", ""), _number(request, "n", 10)), 200)


def _draft(data: bytes, name: str) -> Draft:
    try:
        given = TypeAdapter(dict[str, Any]).validate_json(data)
        if unknown := sorted(set(given) - set(Draft.__slots__)):
            raise BadInput(f"{unknown[0]}: an automation has no such field; known are {', '.join(Draft.__slots__)}")
        return DRAFT.validate_python({**given, "id": name})
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        raise BadInput(f"{'.'.join(map(str, first['loc'])) or 'the body'}: {first['msg']}") from None


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= MOST_ROWS:
        raise BadInput(f"{name}={text[:20]!r} is not a number from 1 to {MOST_ROWS}")
    return int(text)
