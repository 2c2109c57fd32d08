"""Who calls the gateway, and what they may do there.

A `Caller` is made by the door for every request: the owner's own programs (the socket, the token) hold every right, a browser, a phone or a
client of `/mcp` holds those of its `Device`. A route says which right it needs. What changes how Daimon is run leaves an `Act`, whoever did
it.

A device comes in by a `Link`, a secret that works once, or by a `Request` that somebody who is in already confirms. Of every secret (of
devices, links, requests) only the hash is kept: whoever reads the disk or a backup cannot come in with what they find.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol


class Right(StrEnum):
    READ = "read"
    """To look at everything."""
    CHAT = "chat"
    """To speak with the agent, and to stop it."""
    APPROVE = "approve"
    """To answer questions: permission is given with this."""
    ADMIN = "admin"
    """To change how it is set up."""


ALL_RIGHTS = frozenset(Right)
By = Literal["link", "code", "client", "deputy"]
"""How a device came in. The last two hold a token that was made for a program: a client speaks for itself, and so as a stranger; a deputy
with the owner's own voice."""
PROGRAMS: frozenset[By] = frozenset({"client", "deputy"})


@dataclass(frozen=True, slots=True)
class Caller:
    id: str
    """`socket`, `token`, or that of a device."""
    name: str
    rights: frozenset[Right]
    by: By | None = None
    """Of a device."""


OWNERS_SOCKET = Caller("socket", "this machine", ALL_RIGHTS)
OWNERS_TOKEN = Caller("token", "the token of the home", ALL_RIGHTS)
NOBODY = Caller("nobody", "nobody", frozenset())
"""Whoever looks at what is open to all: the page itself, and the ways to sign in."""


@dataclass(frozen=True, slots=True)
class Device:
    """What was let in: a browser or phone, by a one-time link or by a code that was confirmed elsewhere; a program, by a token."""

    id: str
    name: str
    rights: frozenset[Right]
    by: By
    made_at: datetime
    seen_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Act:
    """Something administrative that was done or tried."""

    at: datetime
    by: str
    """The id of the caller."""
    name: str
    did: str
    """Such as `DELETE /v1/grants/{id}`."""
    on: str
    """What it was done to, such as the id of the grant; never a secret."""
    outcome: str
    """`done`, or the code of the error."""


@dataclass(frozen=True, slots=True)
class Link:
    """A one-time way in, as it is kept."""

    hash: bytes
    name: str
    """What the device that comes by it is called; empty: as its browser calls itself."""
    rights: frozenset[Right]
    until: datetime


@dataclass(frozen=True, slots=True)
class Request:
    """A device that asks to be let in, and what was decided: `rights` is None as long as nothing was, and empty if it was refused."""

    code: str
    """Shown on both ends, so that the right one is confirmed. It opens nothing by itself."""
    name: str
    address: str
    made_at: datetime
    until: datetime
    rights: frozenset[Right] | None = None


class Access(Protocol):
    """Who was let in, and what they did. Hashes are of secrets that are 256 random bits, so they need no salt."""

    async def devices(self, at: datetime) -> tuple[tuple[Device, bytes], ...]:
        """All that are not over, with the hashes of their secrets."""
        ...

    async def admit(self, device: Device, hash: bytes) -> None: ...

    async def update(self, device: Device) -> None:
        """Its name, its rights, when it was seen, when it ends."""
        ...

    async def offer(self, link: Link, at: datetime) -> None: ...

    async def redeem(self, hash: bytes, at: datetime) -> Link | None:
        """Uses it up. None: there is none, or it was used, or is too old."""
        ...

    async def ask(self, request: Request, hash: bytes) -> bool:
        """False: too many wait already."""
        ...

    async def requests(self, at: datetime) -> tuple[Request, ...]:
        """Those that wait for a decision."""
        ...

    async def decide(self, code: str, rights: frozenset[Right], at: datetime) -> Request:
        """No rights: refused. Raises NotFound."""
        ...

    async def collect(self, hash: bytes, at: datetime) -> Request | None:
        """The request whose secret this is. One that was decided is used up. None: there is none any more."""
        ...

    async def note(self, act: Act) -> None: ...

    async def acts(self, limit: int) -> tuple[Act, ...]:
        """Newest first."""
        ...
