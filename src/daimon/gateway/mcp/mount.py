"""Where `/mcp` is served: the SDK's transport, behind our door.

`serve` runs for as long as the gateway does. It waits for the first request, loads the SDK beside the event loop, and then owns all
sessions: they end when it is cancelled. `__call__` is the ASGI application; whoever comes first waits until all is there.

A session belongs to whoever opened it: the transport is told who calls, and for anybody else's token the session is not there (404). That a
`Host` and an `Origin` are ours was looked at by the door, so it is not asked again.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.types import Receive, Scope, Send

from daimon.abi.access import NOBODY, Caller
from daimon.gateway.entry import CALLER
from daimon.gateway.faults import error

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

READY_S = 30.0
MOST_SESSIONS, IDLE_S = 200, 1_800.0


class Mount:
    def __init__(self, make: "Callable[[], Server[Any]]", most_bytes: int) -> None:
        self._make, self._most_bytes = make, most_bytes
        self._wanted, self._ready = asyncio.Event(), asyncio.Event()
        self._manager: StreamableHTTPSessionManager | None = None

    async def serve(self) -> None:
        await self._wanted.wait()
        manager = await asyncio.to_thread(self._manager_of)
        async with manager.run():
            self._manager = manager
            self._ready.set()
            try:
                await asyncio.Event().wait()
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._wanted.set()
        try:
            async with asyncio.timeout(READY_S):
                await self._ready.wait()
        except TimeoutError:
            pass
        if self._manager is None:
            await error(503, "not_ready", "the way in for clients is not open; come again in a moment")(scope, receive, send)
            return
        caller: Caller = scope.get(CALLER, NOBODY)
        await self._manager.handle_request({**scope, "user": _user(caller)}, receive, send)

    def _manager_of(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        return StreamableHTTPSessionManager(
            self._make(), max_request_body_size=self._most_bytes, max_sessions=MOST_SESSIONS, session_idle_timeout=IDLE_S
        )


def _user(caller: Caller) -> object:
    """Who calls, as the transport compares it with who opened a session."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=caller.id, scopes=sorted(caller.rights)))
