"""The files of agents' sessions: a driver for each, on the workspace that the session works in.

What a session has read stays known while its ground comes and goes. Whatever a call writes is put into the workspace with the label that
the call was decided under: a command that goes online later may carry it out.
"""

import posixpath
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from daimon.abi.box import Role
from daimon.abi.errors import DaimonError
from daimon.abi.files import Binary, Files, Glance, Page, Picture
from daimon.abi.ids import AgentId
from daimon.abi.tool import Call
from daimon.abi.turn import Turn
from daimon.abi.workspace import WorkspaceId
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.ground import Stack
from daimon.sites import Sites

MOST_SESSIONS = 64


@dataclass(frozen=True, slots=True)
class Footing:
    """The ground of a workspace as it is now. Somebody must be on it."""

    sites: Sites
    workspace: WorkspaceId

    @property
    def place(self) -> int:
        return self.sites.site(self.workspace).place

    @property
    def name(self) -> str:
        return self.sites.site(self.workspace).name

    @property
    def user(self) -> int | None:
        return self.sites.site(self.workspace).user

    def used(self) -> AbstractAsyncContextManager[None]:
        return self.sites.site(self.workspace).used()

    async def rotate(self, stack: Stack) -> bool:
        return await self.sites.site(self.workspace).rotate(stack)

    async def try_rotate(self, stack: Stack) -> bool:
        return await self.sites.site(self.workspace).try_rotate(stack)

    async def close(self) -> None:
        """Whoever is on it leaves by itself."""


class Filing:
    """Implements `FilesOf` and `Freshness`."""

    def __init__(self, sites: Sites, role_of: Callable[[AgentId], Role]) -> None:
        self._sites, self._role_of = sites, role_of
        self._drivers: OrderedDict[tuple[WorkspaceId, str], Driver] = OrderedDict()

    @asynccontextmanager
    async def files(self, call: Call) -> AsyncIterator[Files]:
        workspace = await self._sites.own()
        async with self._sites.on(workspace) as site:
            self._sites.put_in(str(site.base), call.label)
            yield self._driver(workspace, call, str(site.base))

    async def peek(self, agent: AgentId, path: str) -> Glance:
        """What stands there now, for a person. No session has read it by that."""
        try:
            workspace = await self._sites.own()
            async with self._sites.on(workspace) as site:
                driver = Driver(Footing(self._sites, workspace), self._role_of(agent), str(site.base))
                try:
                    return _glance(await driver.read(path)) if await driver.exists(path) else Glance("missing")
                finally:
                    driver.close()
        except DaimonError:
            return Glance("unreadable")

    async def changed(self, turn: Turn, agent: AgentId, versions: Mapping[str, str]) -> tuple[str, ...]:
        """Implements `Freshness`, for what a session of this process has read."""
        workspace = await self._sites.own()
        driver = self._drivers.get((workspace, f"{agent}:{turn.where}"))
        if driver is None:
            return ()
        known = {posixpath.normpath(path).lstrip("/") for path in versions}
        async with self._sites.on(workspace):
            return tuple(path for path in driver.stale() if any(each == path or each.endswith(f"/{path}") for each in known))

    def close(self) -> None:
        for driver in self._drivers.values():
            driver.close()
        self._drivers.clear()

    def _driver(self, workspace: WorkspaceId, call: Call, base: str) -> Driver:
        key = (workspace, f"{call.agent}:{call.conversation}")
        if key not in self._drivers:
            self._drivers[key] = Driver(Footing(self._sites, workspace), self._role_of(call.agent), base)
        self._drivers.move_to_end(key)
        while len(self._drivers) > MOST_SESSIONS:
            _, oldest = self._drivers.popitem(last=False)
            oldest.close()
        return self._drivers[key]


def _glance(found: Page | Picture | Binary) -> Glance:
    return Glance("there", found.text) if isinstance(found, Page) and not found.part and not found.notes else Glance("unreadable")
