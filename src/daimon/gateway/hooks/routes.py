"""Hooks over the API, for their owner.

    GET    /v1/hooks                    all of them
    GET    /v1/hooks/NAME               one
    PUT    /v1/hooks/NAME               make it, or change it; its secret is made where there is none
    DELETE /v1/hooks/NAME               remove it; what it collected goes with it
    GET    /v1/hooks/NAME/deliveries    newest first; ?limit

No answer has a secret in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from daimon.abi.codec import adapter
from daimon.abi.errors import BadInput, NotFound, TooLarge
from daimon.abi.hook import Hook, Hooked, Hooks, Posted
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import owned
from daimon.gateway.hooks.check import check
from daimon.gateway.hooks.ready import Shelf

MOST_BYTES = 256 * 1024
MOST_ROWS = 1_000
Answer = Callable[[Any, object, int], Response]


@dataclass(frozen=True, slots=True)
class HookRoutes:
    hooks: Hooks
    shelf: Shelf
    answer: Answer

    def all(self) -> list[Route]:
        return [
            Route("/v1/hooks", self._list),
            Route("/v1/hooks/{name}", self._show),
            Route("/v1/hooks/{name}", self._make, methods=["PUT"]),
            Route("/v1/hooks/{name}", self._remove, methods=["DELETE"]),
            Route("/v1/hooks/{name}/deliveries", self._deliveries),
        ]

    async def _list(self, request: Request) -> Response:
        return self.answer(tuple[Hooked, ...], await self.hooks.hooks(HOME_SPACE), 200)

    async def _show(self, request: Request) -> Response:
        return self.answer(Hooked, await self._found(request), 200)

    async def _make(self, request: Request) -> Response:
        hook = await _read(request)
        if hook.name != request.path_params["name"]:
            raise BadInput(f"the hook is called {hook.name[:80]!r} inside, and otherwise in the address")
        check(hook)
        made = await self.hooks.hook(HOME_SPACE, hook, OWNER, owned("api"))
        await self.shelf.refresh()
        return self.answer(Hooked, made, 200)

    async def _remove(self, request: Request) -> Response:
        found = await self._found(request)
        await self.hooks.unhook(HOME_SPACE, found.hook.name, OWNER)
        return self.answer(Hooked, found, 200)

    async def _deliveries(self, request: Request) -> Response:
        limit = request.query_params.get("limit", "50")
        if not limit.isdecimal() or len(limit) > 5 or not 1 <= int(limit) <= MOST_ROWS:
            raise BadInput(f"limit={limit[:20]!r} is not a number from 1 to {MOST_ROWS}")
        found = await self.hooks.posted(HOME_SPACE, request.path_params["name"], int(limit))
        if not found:  # of one that was removed, the record stays
            await self._found(request)
        return self.answer(tuple[Posted, ...], found, 200)

    async def _found(self, request: Request) -> Hooked:
        name = request.path_params["name"]
        for each in await self.hooks.hooks(HOME_SPACE):
            if each.hook.name == name:
                return each
        raise NotFound(f"there is no hook {name[:80]!r}; `daimon hooks list` shows all")


async def _read(request: Request) -> Hook:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise TooLarge(f"the hook has more than {MOST_BYTES} bytes")
    try:
        hook: Hook = adapter(Hook).validate_json(bytes(body))
    except ValidationError as broken:
        first = broken.errors(include_url=False)[0]
        raise BadInput(f"the hook cannot be read: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return hook
