"""Servers of the Model Context Protocol, as their owner manages them: look, try, agree."""

from dataclasses import dataclass
from typing import Literal, Protocol

from daimon.abi.connector import ServerStatus

State = Literal["offered", "new", "changed", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAccount:
    """A tool of a server, in words for the owner."""

    tool: str
    """As the server calls it."""
    name: str = ""
    """As the model calls it; empty: it cannot be offered, or not yet."""
    state: State
    may: tuple[str, ...] = ()
    """What a call of it can do, in plain words."""
    is_asked: bool = True
    """A call that strangers' words led to is asked about first."""
    hash: str = ""
    """What is agreed to."""
    text: str = ""
    """Of an offered and a new one what the server says of it, of a changed one the difference. A stranger's words, cleaned."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAccount:
    status: ServerStatus
    tools: tuple[ToolAccount, ...] = ()
    took_ms: float = 0.0
    """To be connected and to say what it has, where it was asked just now."""

    @property
    def waiting(self) -> tuple[ToolAccount, ...]:
        return tuple(tool for tool in self.tools if tool.state in ("new", "changed"))


class Connectors(Protocol):
    async def all(self) -> tuple[ServerStatus, ...]: ...

    async def account(self, name: str) -> ServerAccount:
        """As it is known. Raises NotFound."""
        ...

    async def review(self, name: str) -> ServerAccount:
        """It is connected, where it is not, and asked. Raises NotFound, and Misconfigured where it cannot be."""
        ...

    async def approve(self, name: str, hashes: tuple[str, ...]) -> ServerAccount:
        """These tools, as they were shown, may be offered from now on. Raises NotFound, Outdated."""
        ...
