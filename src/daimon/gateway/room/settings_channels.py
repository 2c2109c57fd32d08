"""Channels as the page sets them up: how each is, what it would take to add one, a live check, and taking one out.

Which fields and secrets a channel has comes as data, so that the page draws a form of it and knows no channel by name. Secrets go in and
never come out.
"""

from dataclasses import dataclass, field
from typing import Annotated, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.gateway.answers import LineState
from daimon.gateway.checks.found import Checked
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.settings_changed import Changed

_CHECKED = ConfigDict(extra="forbid")
Word = Annotated[str, Field(max_length=200)]
Value = Annotated[str, Field(max_length=20_000)]


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing to fill in."""

    name: str
    title: str
    hint: str
    is_needed: bool
    options: tuple[str, ...] = ()
    """One of these; empty: free text."""


@dataclass(frozen=True, slots=True)
class ChannelForm:
    name: str
    title: str
    how: str
    fields: tuple[Asked, ...]
    secrets: tuple[Asked, ...]
    has_password: bool
    """A password may stand in for the secret: it is used once and not kept."""


@dataclass(frozen=True, slots=True)
class ChannelRow:
    name: str
    title: str
    line: LineState | None
    """None: it waits for a restart."""
    settings: dict[str, str]
    secrets: dict[str, str]
    """The names of its secrets, by setting."""
    lacks: tuple[str, ...]
    """Why it cannot work as it is set up."""
    queued: int
    unknown: int
    is_paired: bool
    """The owner has a chat there."""


@dataclass(frozen=True, slots=True)
class ChannelsView:
    channels: tuple[ChannelRow, ...]
    forms: tuple[ChannelForm, ...]


@dataclass(frozen=True, slots=True)
class AddedChannel:
    name: str
    checked: Checked | None
    is_paired: bool
    changed: Changed


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class ChannelWish:
    fields: dict[Word, Word] = field(default_factory=dict)
    secrets: dict[Word, Value] = field(default_factory=dict, repr=False)
    password: Value = field(default="", repr=False)
    is_tested: bool = True


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Leaving:
    with_secrets: bool = False


class Channels(Protocol):
    async def view(self) -> ChannelsView: ...

    async def check(self, name: str) -> Checked: ...

    async def add(self, name: str, wish: ChannelWish) -> AddedChannel: ...

    async def remove(self, name: str, with_secrets: bool) -> Changed: ...


@dataclass(frozen=True, slots=True)
class ChannelRoutes:
    channels: Channels

    def all(self) -> tuple[Entry, ...]:
        path, admin = "/v1/settings/channels", Right.ADMIN
        one = f"{path}/{{name}}"
        return (
            Entry("GET", path, self._view, ChannelsView, "Channels, how they are, and what could be added", Right.READ),
            Entry("POST", f"{one}/check", self._check, Checked, "Ask a service live whether it lets the agent in", admin, is_act=True),
            Entry("POST", one, self._add, AddedChannel, "Try a channel live, then set it up", admin, body=ChannelWish, is_act=True),
            Entry("DELETE", one, self._remove, Changed, "Take a channel out", admin, query=Leaving, is_act=True),
        )

    async def _view(self, call: Call[None, None]) -> ChannelsView:
        return await self.channels.view()

    async def _check(self, call: Call[None, None]) -> Checked:
        return await self.channels.check(call.path["name"])

    async def _add(self, call: Call[None, ChannelWish]) -> AddedChannel:
        return await self.channels.add(call.path["name"], call.body)

    async def _remove(self, call: Call[Leaving, None]) -> Changed:
        return await self.channels.remove(call.path["name"], call.query.with_secrets)
