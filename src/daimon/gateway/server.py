"""uvicorn on two sockets: loopback TCP behind the token, a Unix socket in the home directory without.

The sockets are bound before the server starts, so that "ready" means that a connection succeeds. Closing drains open requests
for two seconds; endless streams do not hold the process up.
"""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from daimon.abi.errors import Misconfigured
from daimon.gateway.api import Api
from daimon.gateway.door import Door, Guarded
from daimon.gateway.lane import lane

USUAL_PORT = 7310
GRACE_S = 2


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals belong to the process, not to each of its servers


class Server:
    def __init__(self, api: Api, door: Door, sock: socket.socket) -> None:
        config = uvicorn.Config(
            Guarded(api, door),
            http=lane(api.take, api.post, door.refusal),  # type: ignore[arg-type]  # uvicorn calls it, and never asks whether it is a class
            ws=_websocket,  # type: ignore[arg-type]  # likewise
            ws_max_size=2 * api.most_bytes,
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
            server_header=False,
        )
        self._server = _Server(config)
        self._socket = sock

    async def serve(self) -> None:
        await self._server.serve(sockets=[self._socket])

    async def started(self) -> None:
        while not self._server.started:  # noqa: ASYNC110 - uvicorn has a flag, not an event
            await asyncio.sleep(0.005)

    def close(self) -> None:
        self._server.should_exit = True


def _websocket(**given: Any) -> asyncio.Protocol:
    """What uvicorn calls for a connection that becomes one; the library is loaded with the first."""
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    return WebSocketsSansIOProtocol(**given)


def bind_tcp(host: str, port: int | None) -> socket.socket:
    """The given port; with None the usual one, or any if that is taken."""
    if port is not None:
        try:
            return _listen(host, port)
        except OSError as taken:
            raise Misconfigured(
                f"port {port} on {host} cannot be used: {taken.strerror}; choose another with --port or gateway.port"
            ) from taken
    try:
        return _listen(host, USUAL_PORT)
    except OSError:
        return _listen(host, 0)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio lets small pieces go at once (TCP_NODELAY); else an answer waits 40 ms for its second half.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(512)
    except OSError:
        sock.close()
        raise
    return sock
