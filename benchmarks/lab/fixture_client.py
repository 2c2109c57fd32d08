"""The client that Daimon has for servers, driven by the public suite: one process for each scenario.

    python -m lab.fixture_client URL     with MCP_CONFORMANCE_SCENARIO in the environment

A home of its own, whose owner mapped `localhost` by hand, approves whatever tools there are and accepts what they ask. Where the scenario
is about signing in, the owner runs what `daimon mcp login` runs, with a browser that says yes to everything; then every tool is called
through the guarded way out, as a turn would. It exits with 1 where a call failed, which some scenarios expect.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from pydantic import JsonValue

from daimon import config, keeper, workshop
from daimon.abi.errors import DaimonError
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, BlobHash, Conversation, Key
from daimon.abi.label import owned
from daimon.abi.tool import Call, Continuing, Pending, Result, Tool, Word
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home
from daimon.mcp.forms import ACCEPT
from daimon.mcp.hooking import answering, signing_only
from daimon.mcp.oauth.asking import Asking
from daimon.mcp.oauth.keeping import Keeping
from daimon.mcp.oauth.login import Login, Wish
from daimon.mcp.servers import Around, Servers
from daimon.mcp.talks import Talks
from daimon.vault.store import Vault

NAME = "suite"
WORDS: dict[str, JsonValue] = {"a": 5, "b": 3}
"""What a tool may be called with, by the name of the argument."""
LONGEST_S = 45.0
BROWSER_S = 10.0


class Blobs:
    """Results of the suite hold no files."""

    async def put(self, data: bytes) -> BlobHash:
        return BlobHash("")

    async def get(self, blob: BlobHash) -> bytes:
        return b""


def call() -> Call:
    now = SystemClock().now()
    return Call(Key("suite:1"), HOME_SPACE, OWNER, SELF, Conversation(HOME_SPACE, "suite"), None, now, owned("suite"))


async def sign_in(login: Login, url: str, given: dict[str, Any]) -> None:
    """As `daimon mcp login` does; the browser is one that says yes."""
    wish = Wish(name=NAME, server=url, client_id=given.get("client_id", ""), client_secret=given.get("client_secret", ""))
    async with login.by_browser(wish, await login.places(wish)) as way, httpx2.AsyncClient(timeout=BROWSER_S) as browser:
        page = await browser.get(way.begun.url)
        finishing = asyncio.ensure_future(way.finish(BROWSER_S))
        if page.status_code in (301, 302, 303, 307, 308):
            await browser.get(page.headers["location"])
        await finishing


async def call_all(servers: Servers, tools: dict[str, tuple[Tool, ...]]) -> bool:
    """All of them, one after the other. False: one failed."""
    changes = await servers.get(NAME).review()
    servers.get(NAME).approve(frozenset(change.hash for change in changes.waiting))
    is_well = True
    for tool in [each for group in tools.values() for each in group if each.manifest.name.startswith(f"{NAME}_")]:
        takes: Any = tool.manifest.parameters.get("properties", {})
        arguments = {name: WORDS[name] for name in takes if name in WORDS}
        try:
            print(tool.manifest.name, await finished(tool, await tool.run(arguments, call())), flush=True)
        except DaimonError as failed:
            print(f"{tool.manifest.name}: {failed}", file=sys.stderr, flush=True)
            is_well = False
    return is_well


async def finished(tool: Tool, outcome: Result | Pending) -> Result | Pending:
    """What a server asks in the middle, the owner accepts as it is offered."""
    while isinstance(outcome, Pending) and outcome.goes_on and isinstance(tool, Continuing):
        print(outcome.question, flush=True)
        outcome = await tool.go_on(outcome.handle, Word(ACCEPT), call())
    return outcome


async def drive(place: Path, vault: Vault, url: str, scenario: str, given: dict[str, Any]) -> bool:
    clock, host = SystemClock(), urlsplit(url).hostname or ""
    boxes = workshop.Sandboxes(place / "roles", place / "work", 59_001, {host: ("127.0.0.1", 0)}, {}, "none", can_be_made=False)
    shop = workshop.Workshop(boxes, vault, clock)
    is_signed = scenario.startswith("auth/")
    if is_signed:
        await sign_in(Login(Asking(shop.web()), Keeping(place, vault), clock), url, given)
    tools: dict[str, tuple[Tool, ...]] = {}
    talks = Talks()
    hooks = answering(signing_only(place, vault, shop.web(), clock), talks)
    around = Around(shop=shop, clock=clock, blobs=Blobs(), hooks=hooks, talks=talks)
    servers = Servers(around, tools.__setitem__, lambda _: frozenset())
    try:
        await servers.change({NAME: config.Server(url=url, oauth=is_signed, timeout_s=20)})
        return await call_all(servers, tools)
    finally:
        await servers.close()
        shop.close()


async def main() -> int:
    scenario, given = os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory(prefix="daimon-conformance-") as directory:
        home = Home(Path(directory) / "home")
        (home.path / "roles").mkdir(parents=True)
        vault = keeper.opened(home, {})
        try:
            async with asyncio.timeout(LONGEST_S):
                return 0 if await drive(home.path, vault, sys.argv[-1], scenario, given) else 1
        except DaimonError as failed:
            print(f"{type(failed).__name__}: {failed}", file=sys.stderr)
            return 1
        finally:
            vault.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
