"""The HTTP API, version 1. JSON in, JSON out, errors as {"error": {"code", "message"}}.

What it offers are the entries of `table.py`; this is how they are served. They and their types are a tenth of all that the gateway loads,
so they are loaded when the first is asked for: a start does not wait for them, nor does a home that only takes messages. Events, what
services post and what programs of others ask have ways of their own (`taking.py`, `hooks/route.py`, `mcp/`, loaded in the same way),
everything else goes through Starlette. `GET /v1/socket` is a WebSocket (`socket.py`).

It knows nothing of sockets: who may call is decided in `door`. Whatever it answers is cleaned: of known secrets, which may have become
known after something was written down, and errors of what is shaped like one too.
"""

import asyncio
import math
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send

from daimon.abi.cleaning import cleaned_json
from daimon.abi.codec import encode
from daimon.abi.errors import DaimonError, TooMany
from daimon.abi.plain import clean
from daimon.gateway.access.front import is_page
from daimon.gateway.access.programs import AT
from daimon.gateway.documented import Documented
from daimon.gateway.entry import Entries
from daimon.gateway.faults import error, status_of
from daimon.gateway.hooks.route import HookRoute
from daimon.gateway.mcp.mount import Mount
from daimon.gateway.parts import Parts
from daimon.gateway.room.assets import Assets
from daimon.gateway.socket import Socket
from daimon.gateway.taking import PATH, Taking

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

TABLE = "daimon.gateway.table"


class Api:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._redactor = parts.redactor
        self._posted = HookRoute(parts.receiver)
        self._taking = Taking(parts.inbox, parts.redactor, parts.access.acts)
        self.post, self.take, self.most_bytes = parts.receiver.post, self._taking.take, parts.inbox.max_event_bytes
        self.clients = Mount(self._for_programs, parts.inbox.max_event_bytes)
        self._is_loaded = False

    @cached_property
    def _room(self) -> Assets:
        return Assets()

    @cached_property
    def _others(self) -> Starlette:
        from daimon.gateway.table import entries_of

        parts = self._parts
        return Starlette(
            routes=[
                *Entries(self._json, parts.access.acts.record).routes(Documented(entries_of(parts)).entries),
                *self._room.routes(),
                WebSocketRoute("/v1/socket", Socket(parts.inbox, parts.archive, parts.feed, parts.redactor, parts.access.acts).serve),
            ],
            exception_handlers={
                DaimonError: self._failed, ClientDisconnect: _gone, 404: self._nowhere, 405: self._nowhere, Exception: self._bug,
            },
        )  # fmt: skip

    def _for_programs(self) -> "Server[Any]":
        from daimon.gateway.mcp.abilities import server_for

        return server_for(self._parts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Events and deliveries are taken in here; everything else goes through Starlette."""
        if scope["type"] == "http" and scope["path"].startswith("/hooks/"):
            await self._posted(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "POST":
            await self._taking(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == AT:
            await self.clients(scope, receive, send)
        else:
            if not self._is_loaded:
                await asyncio.to_thread(import_module, TABLE)  # a quarter of a second in which everything else goes on
                self._is_loaded = True
            await self._others(scope, receive, send)

    def _json(self, kind: Any, value: object, status: int = 200) -> Response:
        data = cleaned_json(encode(kind, value), self._redactor.clean_known)
        return Response(data, status, media_type="application/json")

    async def _failed(self, request: Request, failure: Exception) -> Response:
        assert isinstance(failure, DaimonError)
        later = {"retry-after": str(math.ceil(failure.after_s))} if isinstance(failure, TooMany) and failure.after_s else None
        return error(status_of(failure), failure.code, self._redactor.clean(str(failure)), later)

    async def _bug(self, request: Request, failure: Exception) -> Response:
        told = self._redactor.clean(f"{type(failure).__name__}: {clean(str(failure))}")
        return error(500, "bug", f"an error in Daimon itself: {told}")

    async def _nowhere(self, request: Request, failure: Exception) -> Response:
        status = getattr(failure, "status_code", 404)
        if status == 404 and is_page(request.url.path) and "text/html" in request.headers.get("accept", ""):
            return await self._room.nowhere(request)
        told = self._redactor.clean(f"there is no {request.method} {request.url.path}")
        return error(status, "not_found" if status == 404 else "bad_method", told, getattr(failure, "headers", None))


async def _gone(request: Request, failure: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it
