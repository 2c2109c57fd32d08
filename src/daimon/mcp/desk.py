"""The port `Connectors`: servers as their owner manages them."""

from collections.abc import Iterator
from dataclasses import dataclass

from daimon.abi.connector import Change, ServerStatus
from daimon.abi.errors import LockedOut, Misconfigured, NotFound, ToolFailed, WebFailed
from daimon.abi.ports import Clock
from daimon.abi.server import ServerAccount, State, ToolAccount
from daimon.abi.tool import Capability, Effect, Manifest
from daimon.mcp.besides import beside
from daimon.mcp.listed import Listed
from daimon.mcp.manifests import known_of, names_of
from daimon.mcp.server import Server
from daimon.mcp.servers import Servers

_WORDS = {
    Capability.READS_PRIVATE: "reads what is yours",
    Capability.READS_OUTSIDE: "reads what others wrote",
    Capability.WRITES: "writes files",
    Capability.EXECUTES: "runs programs",
    Capability.SENDS: "sends to others, or changes something elsewhere",
    Capability.SPENDS: "spends money",
    Capability.DELETES: "deletes",
    Capability.GRANTS: "changes who may do what",
    Capability.ASKS: "asks you",
    Capability.PLANS: "plans",
}


@dataclass(frozen=True, slots=True)
class Desk:
    servers: Servers
    clock: Clock

    async def all(self) -> tuple[ServerStatus, ...]:
        return self.servers.states()

    async def account(self, name: str) -> ServerAccount:
        status = next((each for each in self.servers.states() if each.name == name), None)
        if status is None:
            there = ", ".join(each.name for each in self.servers.states()) or "none"
            raise NotFound(f"there is no server {name[:40]!r}; there is {there}")
        try:
            server = self.servers.get(name)
        except NotFound:  # it is off, or broken
            return ServerAccount(status=status)
        return ServerAccount(status=status, tools=tuple(self._tools(server)))

    async def review(self, name: str) -> ServerAccount:
        await self.account(name)
        server, began = self.servers.get(name), self.clock.monotonic()
        try:
            await server.review()
        except (ToolFailed, LockedOut, WebFailed) as failed:
            raise Misconfigured(str(failed)) from failed
        took_ms = round((self.clock.monotonic() - began) * 1000, 1)
        found = await self.account(name)
        return ServerAccount(status=found.status, tools=found.tools, took_ms=took_ms)

    async def approve(self, name: str, hashes: tuple[str, ...]) -> ServerAccount:
        await self.account(name)
        self.servers.get(name).approve(frozenset(hashes))
        return await self.account(name)

    def _tools(self, server: Server) -> Iterator[ToolAccount]:
        pins, changes = server.pins, server.pins.changes()
        all_ = {**pins.approved, **(pins.seen or {})}
        names = names_of(server.name, all_)
        for listed in pins.offered():
            yield self._told(server, listed, names[listed.name], "offered", listed.text)
        for change in changes.waiting:
            yield self._waiting(server, change, names[change.tool])
        for change in changes.gone:
            yield ToolAccount(tool=change.tool, state="gone")

    def _waiting(self, server: Server, change: Change, name: str) -> ToolAccount:
        assert server.pins.seen is not None
        listed = server.pins.seen[change.tool]
        state: State = "new" if change.kind == "new" else "changed"
        return self._told(server, listed, name, state, change.text)

    def _told(self, server: Server, listed: Listed, name: str, state: State, text: str) -> ToolAccount:
        try:
            manifest, notes = self._known(server, listed, name)
        except Misconfigured as wrong:
            return ToolAccount(tool=listed.name, state=state, hash=listed.hash, text=text, notes=(str(wrong),))
        return ToolAccount(
            tool=listed.name, name=manifest.name, state=state, may=plain(manifest), is_asked=manifest.is_consequential,
            hash=listed.hash, text=text, notes=notes,
        )  # fmt: skip

    def _known(self, server: Server, listed: Listed, name: str) -> tuple[Manifest, tuple[str, ...]]:
        if (other := beside(server, listed, self.servers.around.blobs)) is not None:
            return other.manifest, ()
        known = known_of(server.name, name, server.settings, listed)
        return known.manifest, known.arguments.notes


def plain(manifest: Manifest) -> tuple[str, ...]:
    """What a call can do, in words for a person."""
    may = tuple(_WORDS[each] for each in manifest.capabilities) or ("computes, and touches nothing",)
    return (*may, "cannot be repeated safely") if manifest.effect is Effect.UNSAFE and manifest.is_consequential else may
