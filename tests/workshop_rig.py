"""A workshop with a role of its own, a vault with a secret, and a server on loopback that the role may reach."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.vault.rig import vault_at

from daimon.machine.clock import SystemClock
from daimon.sandbox.pool import Pool
from daimon.testing.upstream import Upstream
from daimon.vault.store import Scope, Vault
from daimon.workshop import Sandboxes, WiredBox, Workshop

VALUE = "sk-the-real-value-0123456789abcdef"
ROLE = """
read = ["."]
write = ["."]
[secrets]
TOKEN = "vault:token"
[[places]]
host = "open.test"
[[places]]
host = "*.wide.test"
methods = ["GET"]
"""
FETCH = "python3 -c '%s'" % "; ".join((  # noqa: UP031
    "import os, sys, urllib.request as u",
    "r = u.Request(sys.argv[1], headers={\"X-Token\": os.environ[\"TOKEN\"]})",
    "print(u.urlopen(r, timeout=60).status)",
))  # fmt: skip
"""Reads a page with the token in a header, and prints how that went."""


@dataclass(frozen=True, slots=True)
class Shop:
    workshop: Workshop
    pool: Pool[WiredBox]
    server: Upstream
    vault: Vault
    workspace: Path


@asynccontextmanager
async def workshop(place: Path, most: int = 4) -> AsyncIterator[Shop]:
    (place / "roles").mkdir()
    (place / "roles" / "online.toml").write_text(ROLE)
    vault = vault_at(place)
    vault.add("token", VALUE, Scope("test", ("open.test",), ("*",)))
    async with Upstream() as server:
        local = dict.fromkeys(("open.test", "a.wide.test", "other.test"), ("127.0.0.1", server.port))
        sandboxes = Sandboxes(place / "roles", place / "work", 59_001, local, {}, "online", True)
        shop = Workshop(sandboxes, vault, SystemClock())
        pool = shop.pool(600, most)
        try:
            yield Shop(shop, pool, server, vault, place / "work")
        finally:
            await pool.close()
            shop.close()
