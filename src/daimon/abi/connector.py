"""Servers that are connected, as the owner sees them: how each is, and what of it waits for a word."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["new", "changed", "gone"]
ServerState = Literal["off", "idle", "connecting", "ready", "resting", "locked_out", "broken"]
"""idle: it is started when somebody needs it. resting: it died, and is started again later. locked_out: somebody must sign in, or sign in
for more; what the sign-in of before is good for goes on. broken: its settings or its pins cannot be used."""


@dataclass(frozen=True, slots=True)
class Change:
    """A tool that is not what was approved."""

    tool: str
    kind: Kind
    hash: str
    """Of what it is now; empty: it is gone."""
    text: str
    """Of a new one all that the server says, of a changed one the difference. A stranger's words, cleaned."""


@dataclass(frozen=True, slots=True)
class Changes:
    waiting: tuple[Change, ...] = ()
    """New and changed: not offered until the owner approves them."""
    gone: tuple[Change, ...] = ()
    offered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    name: str
    where: str
    """Its command or its address."""
    state: ServerState
    why: str = ""
    """Of one that rests or is broken."""
    since: datetime | None = None
    """When it was connected."""
    version: str = ""
    """Of the protocol, where it is connected."""
    tools: tuple[str, ...] = ()
    """That are offered, as the model calls them."""
    waiting: tuple[str, ...] = ()
    """That wait for the owner, as the server calls them."""
    notes: tuple[str, ...] = ()
    is_vouched: bool = False
    scopes: tuple[str, ...] = ()
    """That a sign-in is wanted for, of one that is locked out, where it says so."""
