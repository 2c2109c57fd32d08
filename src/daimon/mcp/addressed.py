"""A server that is an address: a way over streamable HTTP, through `outward.py`. There is no line that could die; each request has one."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from daimon import config
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.secret import FROM_VAULT
from daimon.abi.tool import Touched
from daimon.mcp.bounds import BOUNDS, Bounds
from daimon.mcp.hooks import Hooks
from daimon.mcp.outward import Outward
from daimon.mcp.role import secret_of, secrets_in
from daimon.net.bounds import BOUNDS as NET
from daimon.net.dial import Dialler
from daimon.workshop import Workshop

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


class Addressed:
    def __init__(self, settings: config.Server, transport: Outward, hooks: Hooks, bounds: Bounds = BOUNDS) -> None:
        self._settings, self._transport, self._hooks, self._bounds = settings, transport, hooks, bounds

    @property
    def why(self) -> str:
        return self._transport.why

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def is_refused(self) -> bool:
        return self._transport.is_refused

    async def ended(self) -> None:
        await asyncio.get_running_loop().create_future()

    def admit(self, label: Label) -> None:
        known = self._transport.label
        self._transport.label = label if known == UNLABELLED else known.joined(label)

    def touched(self) -> tuple[Touched, ...]:
        found, self._transport.touched = tuple(self._transport.touched), []
        return found

    @asynccontextmanager
    async def streams(self) -> "AsyncIterator[TransportStreams]":
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        most = self._bounds.message_bytes
        client = httpx2.AsyncClient(transport=self._transport, auth=self._hooks.auth, timeout=None, trust_env=False)
        async with client, streamable_http_client(self._settings.url, http_client=client, max_sse_event_size=most) as streams:
            yield streams


def outward_of(settings: config.Server, shop: Workshop, bounds: Bounds = BOUNDS, trusted: ssl.SSLContext | None = None) -> Outward:
    """Raises Malformed for an address that is none."""
    dialler = Dialler(shop.resolver, shop.sandboxes.local, shop.clock, NET, trusted)
    headers = {name: value if secrets_in(value) else f"{{{FROM_VAULT}{secret_of(value)}}}" for name, value in settings.secrets.items()}
    names = tuple(dict.fromkeys(name for value in headers.values() for name in secrets_in(value)))
    return Outward(dialler, shop.secrets, settings.url, headers, names, bounds)
