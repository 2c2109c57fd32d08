"""A program that speaks MCP to a running Daimon, through the SDK's own client."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.gateway.live import Live

DEADLINE_S = 60.0
MODERN, LEGACY = "2026-07-28", "legacy"


@dataclass(frozen=True, slots=True)
class Program:
    """One that the owner let in."""

    daimon: Live
    id: str
    name: str
    token: str

    @property
    def authority(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def revoke(self) -> None:
        assert self.daimon.call("DELETE", f"/v1/devices/{self.id}").status == 200

    def post(self, message: dict[str, Any], **headers: str) -> Any:
        """A bare message, as no decent client sends it."""
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **self.authority}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.daimon.call_as("POST", "/mcp", message, {**usual, **named})

    @asynccontextmanager
    async def connected(self, mode: str = LEGACY) -> AsyncIterator["Connected"]:
        with anyio.fail_after(DEADLINE_S):
            async with (
                httpx2.AsyncClient(headers=self.authority, timeout=DEADLINE_S) as http,
                Client(streamable_http_client(f"{self.daimon.url}/mcp", http_client=http), mode=mode) as client,
            ):
                yield Connected(client)


@dataclass(frozen=True, slots=True)
class Connected:
    client: Client

    async def tools(self) -> set[str]:
        return {each.name for each in (await self.client.list_tools()).tools}

    async def call(self, name: str, **arguments: Any) -> Any:
        """What it answers, or the text of its refusal."""
        answer = await self.client.call_tool(name, arguments)
        text = answer.content[0].text  # type: ignore[union-attr]
        return text if answer.is_error else json.loads(text)


def let_in(daimon: Live, name: str, *rights: str, as_owner: bool = False) -> Program:
    made = daimon.call("POST", "/v1/clients", {"name": name, "rights": list(rights), "as_owner": as_owner})
    assert made.status == 201, made.body
    return Program(daimon, made.json["device"]["id"], name, made.json["token"])
