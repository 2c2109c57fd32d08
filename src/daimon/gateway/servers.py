"""Servers of the Model Context Protocol over HTTP: how they are, what waits for the owner, and the owner's yes; and those of the settings,
put in, switched and taken out."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.connector import ServerStatus
from daimon.abi.server import Connectors, ServerAccount
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.settings_changed import Changed

_MOST = 1_000
Word = Annotated[str, Field(max_length=4_000)]
Words = Annotated[tuple[Word, ...], Field(max_length=100)]


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Agreed:
    hashes: tuple[str, ...]
    """Of the tools, as they were shown."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class ServerWish:
    """As `[mcp.NAME]` of the settings. A command, or a url."""

    name: Annotated[str, Field(max_length=100)]
    command: Words = ()
    url: Word = ""
    environment: dict[Word, Word] = field(default_factory=dict)
    secrets: dict[Word, Word] = field(default_factory=dict)
    """By variable or header, the name of a secret of the vault. No values."""
    hosts: Words = ()
    read: Words = ()
    write: Words = ()
    known: Literal["", "everything", "fetch", "filesystem", "git", "github", "memory", "sequentialthinking", "time"] = ""
    oauth: bool = False


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Switched:
    is_on: bool


class Household(Protocol):
    """Whoever changes which servers there are."""

    async def add(self, wish: ServerWish) -> ServerAccount:
        """It is in the settings and was asked what it has; that waits for the owner. Raises BadInput, and then nothing has changed."""
        ...

    async def switch(self, name: str, is_on: bool) -> Changed:
        """Raises NotFound."""
        ...

    async def remove(self, name: str) -> Changed:
        """With what was agreed to and with its tokens. Raises NotFound."""
        ...


@dataclass(frozen=True, slots=True)
class AllServers:
    servers: tuple[ServerStatus, ...]


@dataclass(frozen=True, slots=True)
class ServerRoutes:
    connectors: Connectors
    household: Household

    def all(self) -> tuple[Entry, ...]:
        path, admin = "/v1/servers", Right.ADMIN
        looked = "Connect to a server and ask it what it has; says how long that took"
        return (
            Entry("GET", path, self._all, AllServers, "The MCP servers, and how each is", Right.READ),
            Entry("GET", f"{path}/{{name}}", self._account, ServerAccount, "A server, its tools, and what waits for you", Right.READ),
            Entry("POST", f"{path}/{{name}}/review", self._review, ServerAccount, looked, admin, is_act=True),
            Entry("POST", f"{path}/{{name}}/approve", self._approve, ServerAccount, "Agree to tools", admin, body=Agreed, is_act=True),
            *self._changing(path, f"{path}/{{name}}"),
        )

    def _changing(self, path: str, one: str) -> tuple[Entry, ...]:
        admin, added = Right.ADMIN, "Connect a server, and ask it what it has; nothing of it is offered before you agree to it"
        gone = "Take a server out, with what you agreed to and its tokens"
        return (
            Entry("POST", path, self._add, ServerAccount, added, admin, body=ServerWish, status=201, is_act=True),
            Entry("POST", f"{one}/state", self._switch, Changed, "Switch a server on or off", admin, body=Switched, is_act=True),
            Entry("DELETE", one, self._remove, Changed, gone, admin, is_act=True),
        )

    async def _add(self, call: Call[None, ServerWish]) -> ServerAccount:
        return await self.household.add(call.body)

    async def _switch(self, call: Call[None, Switched]) -> Changed:
        return await self.household.switch(call.path["name"], call.body.is_on)

    async def _remove(self, call: Call[None, None]) -> Changed:
        return await self.household.remove(call.path["name"])

    async def _all(self, call: Call[None, None]) -> AllServers:
        return AllServers(await self.connectors.all())

    async def _account(self, call: Call[None, None]) -> ServerAccount:
        return await self.connectors.account(call.path["name"])

    async def _review(self, call: Call[None, None]) -> ServerAccount:
        return await self.connectors.review(call.path["name"])

    async def _approve(self, call: Call[None, Agreed]) -> ServerAccount:
        return await self.connectors.approve(call.path["name"], call.body.hashes[:_MOST])
