"""All servers of the settings. Each one's tools are a group, `mcp:NAME`, put whenever it changes; one broken server affects no other.

    open → (change → …) → close

At the start no server is asked for anything but those that were never asked: their tools are known from what the owner approved.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from daimon import config
from daimon.abi.connector import ServerStatus
from daimon.abi.errors import DaimonError, Misconfigured, NotFound
from daimon.abi.ids import HOME_SPACE
from daimon.abi.ports import Archive, Clock, Store
from daimon.abi.progress import Progress, unseen
from daimon.abi.tool import Tool
from daimon.kernel.feed import Feed
from daimon.mcp.besides import beside
from daimon.mcp.bounds import BOUNDS, Bounds
from daimon.mcp.boxed import Boxed
from daimon.mcp.connection import Connection
from daimon.mcp.hooks import Hooks
from daimon.mcp.manifests import known_of, names_of, origin_of
from daimon.mcp.pins import Pins
from daimon.mcp.server import Server, remedy
from daimon.mcp.tools import Lasting, ServerTool
from daimon.mcp.way import Way
from daimon.workshop import Workshop

Put = Callable[[str, tuple[Tool, ...]], None]
"""These are the tools of a group from now on. Raises Misconfigured."""
Taken = Callable[[str], frozenset[str]]
"""The names of tools that do not belong to this group."""
_LOG = logging.getLogger(__name__)


def no_hooks(_: str, __: config.Server) -> Hooks:
    return Hooks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What servers need of the rest."""

    shop: Workshop
    clock: Clock
    blobs: Store
    progress: Progress = unseen
    hooks: Callable[[str, config.Server], Hooks] = no_hooks
    """Who answers what a server asks."""
    lasting: Lasting = field(default_factory=Lasting)
    """Calls that pause: what their servers ask, long tasks."""
    bounds: Bounds = BOUNDS
    trusted: ssl.SSLContext | None = None
    """Who vouches for addresses; None: as the system."""

    @property
    def home(self) -> Path:
        return self.shop.sandboxes.home

    def server(self, name: str, settings: config.Server) -> Server:
        """Raises Misconfigured."""
        pins = Pins.read(pins_path(self.home, name))

        def connect(changed: Callable[[], None]) -> Connection:
            hooks = replace(self.hooks(name, settings), changed=changed)
            return Connection(name, self._way(name, settings, hooks), hooks, self.bounds)

        server = Server(name, settings, connect, pins, self.clock, self.bounds)
        server.signing = lambda: self.hooks(name, settings).lacks()
        return server

    def _way(self, name: str, settings: config.Server, hooks: Hooks) -> Way:
        if not settings.url:
            return Boxed(name, settings, self.shop, self.bounds)
        from daimon.mcp.addressed import Addressed, outward_of  # with a client for HTTP: only where somebody is reached by it

        return Addressed(settings, outward_of(settings, self.shop, self.bounds, self.trusted), hooks, self.bounds)


def pins_path(home: Path, name: str) -> Path:
    return home / "mcp" / f"{name}.json"


@dataclass(slots=True)
class Servers:
    around: Around
    put: Put
    taken: Taken
    _servers: dict[str, Server] = field(default_factory=dict)
    _broken: dict[str, str] = field(default_factory=dict)
    """Why a server of the settings is not there."""
    _refused: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that are approved and cannot be offered."""
    _offered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _settings: dict[str, config.Server] = field(default_factory=dict)
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _learning: "set[asyncio.Task[None]]" = field(default_factory=set)

    def get(self, name: str) -> Server:
        if server := self._servers.get(name):
            return server
        raise NotFound(f"there is no server {name[:40]!r}; there is {', '.join(self._servers) or 'none'}")

    async def change(self, settings: Mapping[str, config.Server]) -> None:
        """Those of the settings are connected from now on, and no others."""
        async with self._changing:
            for name in [name for name, known in self._settings.items() if settings.get(name) != known]:
                await self._leave(name)
            for name, each in settings.items():
                if name not in self._settings:
                    self._settings[name] = each
                    if each.is_on:
                        self._enter(name, each)

    def watching(self, feed: Feed, archive: Archive) -> tuple[Coroutine[Any, Any, None], ...]:
        """What runs for as long as they do: calls that pause end with their turns."""
        lasting = self.around.lasting
        errands = () if lasting.errands is None else (lasting.errands.serve(feed, archive, HOME_SPACE, self._servers.get),)
        return (lasting.talks.watch(feed), *errands)

    async def close(self) -> None:
        learning = tuple(self._learning)
        for task in learning:
            task.cancel()
        await asyncio.gather(*learning, return_exceptions=True)  # one may be making a box
        await asyncio.gather(*(server.close() for server in self._servers.values()), return_exceptions=True)

    @property
    def warnings(self) -> tuple[str, ...]:
        found = [f"the server {name}: {why}" for name, why in self._broken.items()]
        for name, server in self._servers.items():
            if waiting := server.pins.waiting():
                names = ", ".join(tool[:64] for tool in waiting[:5])
                found.append(f"the server {name} has {len(waiting)} tools that you have not approved, such as {names}; {remedy(name)}")
            if (scopes := server.lacks) is not None:
                more = f", for {', '.join(scopes)}" if scopes else ""
                found.append(f"the server {name} needs you: sign in with `daimon mcp login {name}`{more}")
            elif server.why and server.state != "ready":
                found.append(server.why if name in server.why else f"the server {name}: {server.why}")
            if server.odd:
                found.append(
                    f"the server {name} lists {server.odd} tools whose names cannot be read, or stand there twice; they are left out"
                )
            found += self._refused.get(name, ())
        return tuple(found)

    def states(self) -> tuple[ServerStatus, ...]:
        return tuple(self._status(name, settings) for name, settings in sorted(self._settings.items()))

    def _status(self, name: str, settings: config.Server) -> ServerStatus:
        where = settings.url or " ".join(settings.command)
        server = self._servers.get(name)
        if server is None:
            return ServerStatus(name=name, where=where, state="broken" if name in self._broken else "off", why=self._broken.get(name, ""))
        return ServerStatus(
            name=name, where=where, state=server.state, why=server.why, since=server.since, version=server.version,
            tools=self._offered.get(name, ()), waiting=server.pins.waiting(),
            notes=(*server.notes, *self._refused.get(name, ())), is_vouched=settings.is_vouched, scopes=server.lacks or (),
        )  # fmt: skip

    def _enter(self, name: str, settings: config.Server) -> None:
        try:
            server = self._servers[name] = self.around.server(name, settings)
        except Misconfigured as wrong:
            self._broken[name] = str(wrong)
            return
        server.changed = lambda: self.offer(name)
        self.offer(name)
        if server.pins.seen is None:
            task = asyncio.create_task(self._learn(server))
            self._learning.add(task)
            task.add_done_callback(self._learning.discard)

    async def _leave(self, name: str) -> None:
        self._settings.pop(name, None)
        self._broken.pop(name, None)
        self._refused.pop(name, None)
        self._offered.pop(name, None)
        self.put(origin_of(name), ())
        if server := self._servers.pop(name, None):
            server.changed = lambda: None
            await server.close()

    async def _learn(self, server: Server) -> None:
        """The first time: what it has is to be shown to the owner."""
        try:
            await server.review()
        except (DaimonError, OSError) as failed:
            _LOG.warning("the server %s could not be asked for its tools: %s", server.name, failed)

    def offer(self, name: str) -> None:
        """Puts its tools as they are now. One that cannot be offered leaves the others alone."""
        server, group = self._servers[name], origin_of(name)
        refused: list[str] = []
        tools = list(self._usable(server, self.taken(group), refused))
        try:
            self.put(group, tuple(tools))
        except Misconfigured as wrong:
            refused.append(f"the tools of the server {name} cannot be offered: {wrong}")
            self.put(group, ())
            tools = []
        self._refused[name] = tuple(refused)
        self._offered[name] = tuple(sorted(tool.manifest.name for tool in tools))

    def _usable(self, server: Server, taken: frozenset[str], refused: list[str]) -> Iterable[Tool]:
        offered, settings = server.pins.offered(), server.settings
        names = names_of(server.name, (tool.name for tool in offered))
        made: list[Tool] = []
        for listed in offered:
            if (other := beside(server, listed, self.around.blobs)) is not None:
                made.append(other)
                continue
            try:
                known = known_of(server.name, names[listed.name], settings, listed)
                made.append(ServerTool(server, known, self.around.blobs, self.around.progress, self.around.lasting))
            except Misconfigured as wrong:
                refused.append(f"{listed.name[:64]} of the server {server.name} is not offered: {wrong}")
        own: set[str] = set()
        for tool in made:
            if tool.manifest.name in taken or tool.manifest.name in own:
                refused.append(f"{tool.manifest.name} of the server {server.name} is not offered: another tool is called so")
                continue
            own.add(tool.manifest.name)
            yield tool
