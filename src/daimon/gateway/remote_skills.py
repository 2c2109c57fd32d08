"""The skills of a running gateway, through the port that a local library has."""

import asyncio
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from pydantic import JsonValue

from daimon.abi.codec import encode
from daimon.abi.skill import Deed, Installed, Offer, Removal, Tested
from daimon.gateway.client import Client

T = TypeVar("T")
PATIENCE_S = 3_600.0
"""Fetching takes as long as a network does, and a removal rewrites files, however large they are."""


class RemoteLibrarian:
    def __init__(self, socket: Path) -> None:
        self._client = Client(socket, PATIENCE_S)

    async def all(self) -> tuple[Installed, ...]:
        """Without their texts."""
        return await self._ask(tuple[Installed, ...], "GET", "")

    async def one(self, name: str) -> Installed:
        return await self._ask(Installed, "GET", _at(name))

    async def offer(self, source: str) -> Offer:
        return await self._ask(Offer, "POST", "/offer", source=source)

    async def install(self, source: str, version: str = "", is_approved: bool = False) -> Installed:
        return await self._ask(Installed, "POST", "", source=source, version=version, is_approved=is_approved)

    async def change(self, name: str, deed: Deed) -> Installed:
        return await self._ask(Installed, "POST", f"{_at(name)}/state", deed=deed)

    async def test(self, name: str) -> Tested:
        return await self._ask(Tested, "POST", f"{_at(name)}/test")

    async def foresee_removal(self, name: str) -> Removal:
        return await self._ask(Removal, "GET", f"{_at(name)}/removal")

    async def remove(self, name: str) -> Removal:
        return await self._ask(Removal, "DELETE", _at(name))

    async def _ask(self, answer: type[T], method: str, path: str, /, **wish: JsonValue) -> T:
        body = encode(dict[str, JsonValue], wish) if wish else None
        return await asyncio.to_thread(self._client.ask, answer, method, f"/v1/skills{path}", body)


def _at(name: str) -> str:
    return f"/{quote(name, safe='')}"
