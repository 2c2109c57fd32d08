"""A workshop, and servers in it that are written in a few lines of Python and run in real boxes."""

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue
from tests.vault.rig import vault_at

from daimon import config
from daimon.abi.ids import AgentId, BlobHash, Conversation, Key, PrincipalId, SpaceId
from daimon.abi.label import owned
from daimon.abi.ports import Clock
from daimon.abi.tool import Call, Result, Tool
from daimon.machine.clock import SystemClock
from daimon.mcp.bounds import Bounds
from daimon.mcp.servers import Around, Servers
from daimon.sandbox.plan import has_bwrap
from daimon.vault.store import Vault
from daimon.workshop import Sandboxes, Workshop

QUICK = Bounds(handshake_s=60, first_s=0.01, burst=200, per_s=50, flood_s=0.3, grace_s=0.5, ping_s=2)
HEAD = """
import json, os, sys, time
from mcp.server.mcpserver import MCPServer
server = MCPServer("sample")
tool = server.tool
"""
SAMPLE = """
@tool()
def add(a: int, b: int) -> int:
    "Adds two whole numbers."
    return a + b
"""
RAW = """
import json, sys
def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
def answers(tools, call=None):
    for line in sys.stdin:
        asked = json.loads(line)
        match asked.get("method"):
            case "initialize":
                say(id=asked["id"], result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}},
                                            "serverInfo": {"name": "raw", "version": "1"}})
            case "tools/list":
                say(id=asked["id"], result={"tools": tools() if callable(tools) else tools})
            case "tools/call":
                call(asked)
            case "notifications/initialized":
                pass
            case "notifications/cancelled":
                open("cancelled", "w").close()
            case _ if "id" in asked:
                say(id=asked["id"], error={"code": -32601, "message": "no such method"})
TOOL = {"name": "act", "description": "Does something.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
"""
"""A server without the SDK: for those that do not keep to the protocol."""


class Blobs:
    def __init__(self) -> None:
        self.kept: dict[BlobHash, bytes] = {}

    async def put(self, data: bytes) -> BlobHash:
        found = BlobHash(f"{len(self.kept)}")
        self.kept[found] = data
        return found

    async def get(self, blob: BlobHash) -> bytes:
        return self.kept[blob]


@dataclass(slots=True)
class Rig:
    place: Path
    shop: Workshop
    vault: Vault
    clock: Clock
    blobs: Blobs = field(default_factory=Blobs)
    groups: dict[str, tuple[Tool, ...]] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    trusted: ssl.SSLContext | None = None

    def written(self, code: str, name: str = "sample", **settings: object) -> config.Server:
        """A server of these lines, with its own directory to write in."""
        place = self.place / "servers" / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "server.py").write_text(code)
        given = {"read": [sys.prefix], "write": [str(place)], "timeout_s": 60.0, **settings}
        return config.Server.model_validate({"command": [f"{sys.prefix}/bin/python", f"{place}/server.py"], **given})

    def sample(self, code: str = SAMPLE, name: str = "sample", **settings: object) -> config.Server:
        """One that is made with the SDK."""
        return self.written(f"{HEAD}\n{code}\nserver.run('stdio')\n", name, **settings)

    def servers(self, bounds: Bounds = QUICK) -> Servers:
        around = Around(shop=self.shop, clock=self.clock, blobs=self.blobs, bounds=bounds, trusted=self.trusted)
        return Servers(around, self.groups.__setitem__, lambda _: self.taken)

    def tool(self, name: str) -> Tool:
        return next(tool for group in self.groups.values() for tool in group if tool.manifest.name == name)


def call() -> Call:
    talk, now = Conversation(SpaceId("home"), "test"), SystemClock().now()
    return Call(Key("turn:1"), SpaceId("home"), PrincipalId("owner"), AgentId("daimon"), talk, None, now, owned("test"))


@asynccontextmanager
async def rig(place: Path, clock: Clock | None = None, local: dict[str, tuple[str, int]] | None = None) -> AsyncIterator[Rig]:
    home = place / "home"
    (home / "roles").mkdir(parents=True)
    clock = clock or SystemClock()
    vault = vault_at(home)
    shop = Workshop(Sandboxes(home / "roles", home / "work", 59_001, local or {}, {}, "none", has_bwrap()), vault, clock)
    try:
        yield Rig(place, shop, vault, clock)
    finally:
        shop.close()


@asynccontextmanager
async def approved(found: Rig, settings: config.Server, name: str = "sample", bounds: Bounds = QUICK) -> AsyncIterator[Servers]:
    """A server whose tools the owner has approved."""
    servers = found.servers(bounds)
    try:
        await servers.change({name: settings})
        changes = await servers.get(name).review()
        servers.get(name).approve(frozenset(change.hash for change in changes.waiting))
        yield servers
    finally:
        await servers.close()


async def ran(found: Rig, tool: str, /, **arguments: JsonValue) -> Result:
    async with asyncio.timeout(60):
        result = await found.tool(tool).run(arguments, call())
    assert isinstance(result, Result)
    return result


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - a file, or another process, tells nobody
            await asyncio.sleep(0.01)
