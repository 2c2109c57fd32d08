"""The servers of a running gateway, managed as those of a home that nobody runs."""

import asyncio
from pathlib import Path
from urllib.parse import quote

from daimon.abi.codec import encode
from daimon.abi.connector import ServerStatus
from daimon.abi.server import ServerAccount
from daimon.gateway.client import Client
from daimon.gateway.servers import Agreed, AllServers

PATIENCE_S = 180.0
"""A server may have to be started first."""


class RemoteConnectors:
    def __init__(self, socket: Path) -> None:
        self._client = Client(socket, PATIENCE_S)

    async def all(self) -> tuple[ServerStatus, ...]:
        return (await asyncio.to_thread(self._client.ask, AllServers, "GET", "/v1/servers")).servers

    async def account(self, name: str) -> ServerAccount:
        return await asyncio.to_thread(self._client.ask, ServerAccount, "GET", f"/v1/servers/{quote(name, safe='')}")

    async def review(self, name: str) -> ServerAccount:
        return await asyncio.to_thread(self._client.ask, ServerAccount, "POST", f"/v1/servers/{quote(name, safe='')}/review")

    async def approve(self, name: str, hashes: tuple[str, ...]) -> ServerAccount:
        body = encode(Agreed, Agreed(hashes=hashes))
        return await asyncio.to_thread(self._client.ask, ServerAccount, "POST", f"/v1/servers/{quote(name, safe='')}/approve", body)
