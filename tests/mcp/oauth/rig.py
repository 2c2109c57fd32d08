"""A sign-in service with TLS on loopback, a real vault in a directory, and the way out that leads to nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.vault.rig import vault_at

from daimon.machine.clock import SystemClock
from daimon.mcp.oauth.asking import Asking
from daimon.mcp.oauth.keeping import Keeping
from daimon.mcp.oauth.login import Login, Wish
from daimon.mcp.oauth.tokens import Tokens
from daimon.net.bounds import Bounds
from daimon.net.client import WebClient
from daimon.testing.certificates import Certificates
from daimon.testing.clock import ManualClock
from daimon.testing.oauth import SERVER, Service
from daimon.vault.store import Vault
from daimon.workshop import NoSecrets

DEADLINE_S = 60.0
CERTIFICATES = Certificates()
SERVING = CERTIFICATES.serving("mcp.test", "login.test", "evil.test")
WISH = Wish(name="notes", server=SERVER)


class Nowhere:
    async def resolve(self, host: str) -> tuple[str, ...]:
        raise OSError(f"{host} is not of this test")


@dataclass
class Rig:
    service: Service
    vault: Vault
    clock: ManualClock
    login: Login
    tokens: Tokens
    told: list[str] = field(default_factory=list)

    async def sign_in(self, wish: Wish = WISH) -> None:
        async with asyncio.timeout(DEADLINE_S), self.login.by_browser(wish, await self.login.places(wish)) as way:
            back = self.service.visit(way.begun.url)
            await asyncio.gather(way.finish(), knock(back))

    async def ready(self) -> str:
        async with asyncio.timeout(DEADLINE_S):
            return await self.tokens.ready("notes", SERVER)

    @property
    def token(self) -> str:
        return self.vault.reveal("mcp-notes-token", "test", "mcp.test")


@asynccontextmanager
async def rigged(home: Path, **more: object) -> AsyncIterator[Rig]:
    clock, told = ManualClock(), list[str]()
    vault = vault_at(home, clock=clock)

    async def tell(words: str) -> None:
        told.append(words)

    async with Service(SERVING, **more) as service:
        local = dict.fromkeys(("mcp.test", "login.test", "evil.test"), ("127.0.0.1", service.port))
        bounds = Bounds(failures=1_000)
        web = WebClient(
            resolver=Nowhere(), local=local, secrets=NoSecrets(), clock=SystemClock(), bounds=bounds, context=CERTIFICATES.trusting()
        )
        keeping, asking = Keeping(home, vault), Asking(web)
        yield Rig(service, vault, clock, Login(asking, keeping, clock), Tokens(keeping, asking, clock, tell), told)
    vault.close()


async def knock(address: str, host: str = "") -> str:
    """A browser's visit to this machine: the status line."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection("127.0.0.1", parts.port)
    writer.write(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {host or parts.netloc}\r\n\r\n".encode())
    line = (await reader.readline()).decode()
    writer.close()
    await writer.wait_closed()
    return line
