"""`GET /v1/openapi.json`: the document of the API, made when it is first asked for, in a thread, since it takes a moment, and kept."""

import asyncio
import json

from starlette.responses import Response

from daimon import __version__
from daimon.abi.access import Right
from daimon.gateway.entry import Call, Entry
from daimon.gateway.openapi import Document, document

PATH = "/v1/openapi.json"


class Documented:
    def __init__(self, entries: tuple[Entry, ...]) -> None:
        own = Entry("GET", PATH, self._show, dict[str, object], "This document: all of the API, as OpenAPI 3.1", Right.READ)
        self.entries = (*entries, own)
        self._made: asyncio.Future[bytes] | None = None

    async def _show(self, call: Call[None, None]) -> Response:
        if self._made is None:
            self._made = asyncio.ensure_future(asyncio.to_thread(_written, self.entries))
        return Response(await asyncio.shield(self._made), media_type="application/json")


def _written(entries: tuple[Entry, ...]) -> bytes:
    made: Document = document(entries, __version__)
    return json.dumps(made, ensure_ascii=False).encode()
