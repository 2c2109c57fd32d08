"""The HTTP client of one endpoint, and the certainty that a call on it ends when nobody listens any more.

Invariant: when `call` is left, in whatever way, the connection of that call is closed or free for the next one. Not every library
closes what it opened when its stream is dropped half-way, so the responses are caught here as they begin. A call is opened by one
task without anything else in between, which is how a response finds the call that it belongs to.

What goes out is what the endpoint says: the libraries read headers, keys and names of organisations from variables of the
environment, so all headers are written anew here, and nothing of theirs is kept but what the request is about. What comes in has
an end (`bounded.py`).

Time is the kernel's: it waits for the first word and the next one, and closes the stream when they do not come. So here is no
deadline but the one for connecting.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from daimon.models.bounded import answer, bound
from daimon.models.endpoint import Endpoint
from daimon.models.failures import keyless, moved, not_a_stream, web_page

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import AsyncClient, Request, Response

T = TypeVar("T")

_OK = 200
_KEPT = {"openai": ("content-length",), "anthropic": ("content-length", "anthropic-beta"), "google": ("content-length",)}
"""The size of a request, and the features that it needs."""
_PLAIN = {"accept": "*/*", "accept-encoding": "identity", "content-type": "application/json", "user-agent": "daimon"}


@cache
def certificates() -> "SSLContext":
    """Whom to trust, read from disk once for all wires."""
    import httpx2

    return httpx2.create_ssl_context()


class Wire:
    """Making the first one blocks: certificates are read."""

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx2

        self._endpoint = endpoint
        self._opening: dict[asyncio.Task[object] | None, list[Response]] = {}
        self.client: AsyncClient = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=endpoint.connect_s),
            event_hooks={"request": [self._limit, self._undress], "response": [self._bound, self._check, self._catch]},
            trust_env=not endpoint.is_near,
            verify=certificates(),
        )

    @asynccontextmanager
    async def call(self, opening: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
        task = asyncio.current_task()
        begun: list[Response] = []
        async with AsyncExitStack() as stack:
            stack.push_async_callback(_hang_up, begun)
            self._opening[task] = begun
            try:
                opened = await stack.enter_async_context(opening)
            finally:
                del self._opening[task]
            yield opened

    async def close(self) -> None:
        await self.client.aclose()

    async def _limit(self, request: "Request") -> None:
        """The libraries set deadlines of their own for each request; this takes them off again."""
        connect_s = self._endpoint.connect_s
        request.extensions = {**request.extensions, "timeout": {"connect": connect_s, "read": None, "write": None, "pool": None}}

    async def _undress(self, request: "Request") -> None:
        """An address with a password in it is the owner's word too: the client has made a header of it."""
        if self._endpoint.served_by.needs_key and not self._endpoint.has_key:
            raise keyless(self._endpoint)  # it was taken away after the client was made
        own = {"authorization": request.headers["authorization"]} if request.url.userinfo else {}
        kept = {name: request.headers[name] for name in _KEPT[self._endpoint.served_by.shape] if name in request.headers}
        host = request.url.netloc.decode("ascii").rpartition("@")[2]
        request.headers.clear()
        request.headers.update({"host": host, **_PLAIN, **kept, **self._endpoint.credentials(), **own})

    async def _bound(self, response: "Response") -> None:
        bound(response, partial(answer, endpoint=self._endpoint))

    async def _check(self, response: "Response") -> None:
        """A stream of anything but events would be read as one without any. A redirect is not followed: the key was not given to others."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.is_redirect:
            raise moved(self._endpoint, response.headers.get("location", ""))
        if response.status_code == _OK and kind == "text/html":
            raise web_page(self._endpoint)
        if response.status_code == _OK and kind == "application/json":
            raise not_a_stream(self._endpoint, kind)

    async def _catch(self, response: "Response") -> None:
        if (begun := self._opening.get(asyncio.current_task())) is not None:
            begun.append(response)


async def _hang_up(begun: "list[Response]") -> None:
    for response in begun:
        await response.aclose()
