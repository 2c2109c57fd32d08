"""What is kept of a sign-in: tokens in the vault, the rest in a file beside the server's other files.

    vault   mcp-NAME-token    may go to the server's own host, and nowhere else
            mcp-NAME-refresh  may go to the token endpoint
            mcp-NAME-client   the client's secret, where it has one; to the token endpoint
    HOME/mcp/NAME.login.json  who issued them, where they are renewed, until when they are good. No secrets.

The vault is written first, tokens together: a crash in between leaves tokens that are newer than the file says, and they are then renewed
early, or found to be refused. Both processes that may write (the gateway that renews, `daimon mcp login`) hold a lock while they do.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from daimon.abi.errors import Misconfigured, NotFound
from daimon.abi.plain import Moment
from daimon.machine import files
from daimon.mcp.oauth.asking import host_of
from daimon.mcp.oauth.granting import Granted
from daimon.mcp.oauth.places import Places
from daimon.mcp.oauth.registering import Client

DIRECTORY = "mcp"
LOCK_S = 60.0
BY = "mcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """The file."""

    server: str
    """The address that the tokens are for."""
    resource: str
    issuer: str
    token: str
    revoke: str = ""
    client: str
    method: str = "none"
    scopes: tuple[str, ...] = ()
    at: Moment
    expires_at: Moment | None = None
    is_over: bool = False
    """The service takes them no more: somebody must sign in."""
    is_told: bool = False
    """The owner knows."""
    wanted: tuple[str, ...] | None = None
    """Scopes that the server asked for since then and that this does not cover; empty: it did not say which."""

    def renewed(self, granted: Granted) -> "SignedIn":
        return replace(self, at=granted.at, expires_at=granted.expires_at, is_over=False, is_told=False)


_FILE = TypeAdapter(SignedIn)


class Vault(Protocol):
    """As much of the vault as this needs."""

    def reveal(self, name: str, by: str, host: str) -> str: ...

    def has(self, name: str) -> bool: ...

    def keep_all(self, keys: tuple[tuple[str, str, str, tuple[str, ...]], ...]) -> None: ...

    def remove(self, name: str) -> None: ...


def secret_of(name: str) -> str:
    """What the token of a server is called in the vault."""
    return f"mcp-{name}-token"


def _refresh(name: str) -> str:
    return f"mcp-{name}-refresh"


def _client(name: str) -> str:
    return f"mcp-{name}-client"


@dataclass(frozen=True, slots=True)
class Keeping:
    home: Path
    vault: Vault

    def read(self, name: str) -> SignedIn | None:
        """Raises Misconfigured for a file that cannot be read."""
        try:
            return _FILE.validate_json(self._path(name).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError):
            raise Misconfigured(f"{self._path(name)} cannot be read; `daimon mcp login {name}` makes it anew") from None

    def write(self, name: str, state: SignedIn) -> None:
        try:
            self._path(name).parent.mkdir(mode=0o700, exist_ok=True)
            files.replace(self._path(name), _FILE.dump_json(state, indent=1), 0o600)
        except OSError as error:
            raise Misconfigured(f"{self._path(name)} cannot be written: {error.strerror}") from None

    def begin(self, name: str, server: str, places: Places, client: Client, granted: Granted) -> None:
        """A new sign-in takes the place of whatever was there: tokens of another issuer never go to this one's hosts."""
        self._drop(name)
        state = SignedIn(
            server=server, resource=places.resource, issuer=places.issuer, token=places.token, revoke=places.revoke, client=client.id,
            method=client.method, scopes=places.scopes, at=granted.at, expires_at=granted.expires_at,
        )  # fmt: skip
        self._keep(name, state, granted, client.secret)

    def renew(self, name: str, state: SignedIn, granted: Granted) -> None:
        self._keep(name, state.renewed(granted), granted, "")

    def end(self, name: str) -> None:
        """Nothing is left of it."""
        self._drop(name)
        for path in (self._path(name), self._lock(name)):
            path.unlink(missing_ok=True)

    def client(self, name: str, state: SignedIn) -> Client:
        secret = self.vault.reveal(_client(name), BY, host_of(state.token)) if self.vault.has(_client(name)) else ""
        return Client(state.client, secret, state.method)

    def access(self, name: str, state: SignedIn) -> str:
        return self.vault.reveal(secret_of(name), BY, host_of(state.server))

    def refresh(self, name: str, state: SignedIn) -> str:
        """Empty: there is none."""
        return self.vault.reveal(_refresh(name), BY, host_of(state.token)) if self.vault.has(_refresh(name)) else ""

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        """No other process changes this sign-in meanwhile. Raises Misconfigured when one does not let go."""
        self._path(name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._lock(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                async with asyncio.timeout(LOCK_S):
                    while not _has_locked(descriptor):  # noqa: ASYNC110 - another process lets go of it, and tells nobody
                        await asyncio.sleep(0.05)
            except TimeoutError:
                raise Misconfigured(f"another process has held {self._lock(name)} for {LOCK_S:g} s") from None
            yield
        finally:
            os.close(descriptor)

    def _keep(self, name: str, state: SignedIn, granted: Granted, secret: str) -> None:
        own, far = (host_of(state.server),), (host_of(state.token),)
        keys = [(secret_of(name), granted.access, f"MCP server {name}", own)]
        keys += [(_refresh(name), granted.refresh, f"MCP server {name}", far)] if granted.refresh else []
        keys += [(_client(name), secret, f"MCP server {name}", far)] if secret else []
        self.vault.keep_all(tuple(keys))
        self.write(name, state)

    def _drop(self, name: str) -> None:
        for secret in (secret_of(name), _refresh(name), _client(name)):
            with suppress(NotFound):
                self.vault.remove(secret)

    def _path(self, name: str) -> Path:
        return self.home / DIRECTORY / f"{name}.login.json"

    def _lock(self, name: str) -> Path:
        return self.home / DIRECTORY / f"{name}.login.lock"


def _has_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
