"""The lessons of a running gateway, through the port that a local one has."""

import asyncio
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from pydantic import JsonValue

from daimon.abi.codec import encode
from daimon.abi.lesson import Proposal, Service
from daimon.gateway.client import Client

T = TypeVar("T")
PATIENCE_S = 60.0


class RemoteLessons:
    def __init__(self, socket: Path) -> None:
        self._client = Client(socket, PATIENCE_S)

    async def proposals(self, is_all: bool = False) -> tuple[Proposal, ...]:
        return await self._ask(tuple[Proposal, ...], "GET", "", None, {"all": "true"} if is_all else {})

    async def proposal(self, id_: str) -> Proposal:
        return await self._ask(Proposal, "GET", f"/{quote(id_, safe='')}")

    async def accept(self, id_: str, text: str = "") -> Proposal:
        body = encode(dict[str, JsonValue], {"text": text})
        return await self._ask(Proposal, "POST", f"/{quote(id_, safe='')}/accept", body)

    async def reject(self, id_: str) -> Proposal:
        return await self._ask(Proposal, "POST", f"/{quote(id_, safe='')}/reject", b"")

    async def uses(self) -> tuple[Service, ...]:
        return await self._ask(tuple[Service, ...], "GET", "/uses")

    async def _ask(
        self, answer: type[T], method: str, path: str, body: bytes | None = None, query: dict[str, str | tuple[str, ...]] | None = None
    ) -> T:
        return await asyncio.to_thread(self._client.ask, answer, method, f"/v1/lessons{path}", body, query or {})
