"""The automations of a running gateway, through the port that a local clerk has."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from daimon.abi.automation import Draft, Shown, Tick
from daimon.abi.codec import encode
from daimon.gateway.client import Client

T = TypeVar("T")
PATIENCE_S = 300.0
"""A run by hand waits for its look."""


class RemoteClerk:
    def __init__(self, socket: Path) -> None:
        self._client = Client(socket, PATIENCE_S)

    async def all(self) -> tuple[Shown, ...]:
        return await self._ask(tuple[Shown, ...], "GET", "automations")

    async def put(self, draft: Draft, if_version: int | None = None) -> Shown:
        version = "" if if_version is None else str(if_version)
        return await self._ask(Shown, "PUT", _at(draft.id), encode(Draft, draft), if_version=version)

    async def cease(self, id_: str) -> None:
        await self._ask(dict[str, str], "DELETE", _at(id_))

    async def pause(self, id_: str, is_paused: bool) -> Shown:
        return await self._ask(Shown, "POST", f"{_at(id_)}/{'pause' if is_paused else 'resume'}", b"{}")

    async def run(self, id_: str) -> Tick:
        return await self._ask(Tick, "POST", f"{_at(id_)}/run", b"{}")

    async def ticks(self, id_: str = "", limit: int = 50) -> tuple[Tick, ...]:
        return await self._ask(tuple[Tick, ...], "GET", f"{_at(id_)}/ticks" if id_ else "ticks", None, limit=str(limit))

    async def preview(self, schedule: str, timezone: str = "", n: int = 10) -> tuple[datetime, ...]:
        return await self._ask(tuple[datetime, ...], "GET", "preview", None, schedule=schedule, timezone=timezone, n=str(n))

    async def _ask(self, answer: type[T], method: str, path: str, body: bytes | None = None, **query: str) -> T:
        given = {name: value for name, value in query.items() if value}
        return await asyncio.to_thread(self._client.ask, answer, method, f"/v1/{path}", body, given)


def _at(id_: str) -> str:
    return f"automations/{quote(id_, safe='')}"
