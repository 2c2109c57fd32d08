"""Tokens for programs, over HTTP. A token is shown once; here and on disk is only its hash.

A program's name is part of every label and every conversation of its own, so it is short and plain, and no two that are in have the same.
Who comes back under an old name has its old memory. What changes how Daimon is set up is no right that `/mcp` knows.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import PROGRAMS, Device, Right
from daimon.abi.errors import BadInput
from daimon.gateway.access.programs import AT
from daimon.gateway.access.sessions import Sessions
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Wish:
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    rights: Annotated[frozenset[Right], Field(min_length=1)] = frozenset({Right.CHAT})
    as_owner: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    device: Device
    token: str
    """Shown this once."""
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenRoutes:
    sessions: Sessions
    origins: tuple[str, ...]
    _one_by_one: asyncio.Lock = field(default_factory=asyncio.Lock)

    def all(self) -> tuple[Entry, ...]:
        what = "A token for a program that speaks MCP, shown this once; with as_owner it speaks with the owner's voice"
        return (Entry("POST", "/v1/clients", self._make, Token, what, Right.ADMIN, body=Wish, status=201, fails=(429,), is_act=True),)

    async def _make(self, call: Call[None, Wish]) -> Token:
        wish = call.body
        if Right.ADMIN in wish.rights:
            raise BadInput(f"admin is no right of clients: {AT} changes nothing in how Daimon is set up; choose of read, chat, approve")
        async with self._one_by_one:  # two at once would both find the name free
            if any(each.name == wish.name and each.by in PROGRAMS for each in self.sessions.all()):
                raise BadInput(f"a client {wish.name!r} is in already; `daimon devices revoke ID` ends it, or choose another name")
            device, secret = await self.sessions.begin(wish.name, wish.rights, "deputy" if wish.as_owner else "client")
        return Token(device, secret, tuple(f"{origin}{AT}" for origin in self.origins))
