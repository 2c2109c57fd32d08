"""Where commands run: a box for each agent's session, with its way out and its stand-ins for secrets.

It puts three neighbours together that do not know each other: the box (`sandbox`), the proxy (`net`) and the vault. A box is told
placeholders; the proxy, here in the gateway, knows what they stand for, and opens what a command may reach for as long as it runs.
"""

import asyncio
import logging
import os
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from daimon import config, keeper
from daimon.abi.box import Attempt, Command, Output, Place, Ran, Role
from daimon.abi.errors import Denied, Lost, Misconfigured, NotFound, ToolFailed
from daimon.abi.ids import SELF, AgentId
from daimon.abi.label import Label
from daimon.abi.ports import Clock
from daimon.abi.secret import Injection, Secrets
from daimon.abi.web import Web
from daimon.abi.workspace import Tried, WorkspaceId
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home
from daimon.marks import Mark, Marks
from daimon.net.resolve import SystemResolver
from daimon.sandbox import role_files
from daimon.sandbox.box import RunningBox, start
from daimon.sandbox.doctor import Check, examine
from daimon.sandbox.output import Sink, nowhere
from daimon.sandbox.plan import Wanted, has_bwrap, outside, workspace_of
from daimon.sandbox.pool import Pool
from daimon.sandbox.spawned import Spawned
from daimon.sandbox.terminal.kept import Kept, KeptOutputs
from daimon.sandbox.terminal.state import State
from daimon.sandbox.terminal.terminals import ShellTerminals
from daimon.sites import Site, Sites
from daimon.vault.store import Vault

if TYPE_CHECKING:
    from daimon.net.egress import Egress

WORKSPACE = "workspace"
"""In the home, unless the settings name another directory."""
OUTPUTS = "outputs"
"""In the home: what commands in terminals printed."""
BY_HAND = "by hand"
"""Whose output it is in a box that somebody made at the command line."""
NO_BWRAP = "bwrap is not installed, so agents cannot run commands; install the package `bubblewrap` and start again"
_A_DAY_S = 86_400.0
_LOG = logging.getLogger(__name__)
LOSSES = "what ran in the box, and what lay in its /tmp and home, is gone; the workspace is as it was left"


@dataclass(frozen=True, slots=True)
class Sandboxes:
    """What the settings say about boxes."""

    roles: Path
    workspace: Path
    uid: int
    local: Mapping[str, tuple[str, int]]
    of_agents: Mapping[AgentId, str]
    """Roles by agent, where it has one of its own."""
    default: str
    can_be_made: bool
    """Is what every box needs there at all?"""

    @property
    def home(self) -> Path:
        return self.roles.parent

    @property
    def warnings(self) -> tuple[str, ...]:
        return () if self.can_be_made else (NO_BWRAP,)

    def agent_of(self, key: str) -> AgentId:
        """Whose key it is. A name may hold a colon too, so the longest that is known counts: an agent has no other one's role."""
        known = [agent for agent in self.of_agents if key.startswith(f"{agent}:")]
        return max(known, key=len, default=AgentId(key.partition(":")[0]))

    def role_of(self, agent: AgentId) -> Role:
        return role_files.read(self.of_agents.get(agent, self.default), self.roles)

    def places(self) -> tuple[Place, ...]:
        """All that any agent's role may reach."""
        names = dict.fromkeys((self.default, *self.of_agents.values()))
        return tuple(dict.fromkeys(place for name in names for place in role_files.read(name, self.roles).places))


def sandboxes_of(settings: config.Settings, home: Home) -> Sandboxes:
    box = settings.sandbox
    workspace = Path(box.workspace).expanduser() if box.workspace else home.path / WORKSPACE
    agents = {AgentId(name): agent.box for name, agent in settings.agents.items() if agent.box is not None}
    return Sandboxes(home.path / "roles", workspace, box.uid, config.local_hosts(settings), agents, box.role, has_bwrap())


async def sites_of(sandboxes: Sandboxes, clock: Clock, settings: config.Sandbox, idle_s: float) -> Sites:
    place, layers = sandboxes.home / "workspaces", settings.layers_mb << 20
    return await Sites.opened(place, sandboxes.workspace, sandboxes.uid, clock, idle_s, layers)


async def _nothing() -> None:
    return


@dataclass(slots=True, kw_only=True)
class WiredBox:
    """A running box with its way out."""

    role: Role
    agent: AgentId
    box: RunningBox
    secrets: Secrets
    injections: tuple[Injection, ...]
    way_out: "Egress | None"
    serving: "asyncio.Task[None] | None" = None
    mark: Mark = field(default_factory=Mark)
    closing: Callable[[], Awaitable[None]] = _nothing
    """What else ends with it."""
    kept: Kept
    saved: MutableMapping[str, State]
    """What terminals knew, by name; it outlives the box."""
    terminals: ShellTerminals = field(init=False)
    site: Site | None = None
    """The workspace in layers that it stands on; None: a directory as it is."""
    _online: int = 0
    """Commands with places that run now."""

    def __post_init__(self) -> None:
        self.terminals = ShellTerminals(self.box, str(self.agent), self.kept, self, self.saved)

    @property
    def is_alive(self) -> bool:
        return self.box.is_alive and (self.site is None or self.site.is_alive)

    @property
    def about(self) -> str:
        return f"{self.role.name}, {self.box.directory}"

    @property
    def losses(self) -> str:
        return LOSSES

    @property
    def is_needed(self) -> bool:
        return self.terminals.has_work

    async def run(self, command: Command, sinks: tuple[Sink, Sink] = (nowhere, nowhere)) -> Ran:
        self.mark.join(command.label)
        if self.way_out is None:
            if command.places:
                raise ToolFailed("no_network", f"the role {self.role.name} has no network")
            return await self.box.run(command, sinks)
        places = [known for place in command.places for known in _as_the_role_says(place, self.role)]
        try:
            async with self._alone(is_needed=bool(places)):
                with self.way_out.open(places, await self._current() if places else (), self.mark.label):
                    ran = await self.box.run(command, sinks)
        except BaseException:
            self._say_attempts()
            raise
        return replace(ran, attempts=self._attempts())

    @asynccontextmanager
    async def staying(self, command: Command, streams: tuple[int, int, int]) -> AsyncIterator[Spawned]:
        """A process that stays on these streams, with all places of the role open until it is left. Nothing else may run in the box. The
        streams are closed, whatever happens."""
        with ExitStack() as ending:
            rest = ending.enter_context(ExitStack())
            for descriptor in streams:
                rest.callback(os.close, descriptor)
            if self.way_out is not None:
                ending.enter_context(self.way_out.open(self.role.places, await self._current(), self.mark.label))
            rest.pop_all()
            process = self.box.stay(command, streams)
            try:
                yield process
            finally:
                with suppress(Lost):
                    await process.kill()

    def admit(self, label: Label) -> None:
        if self._online:
            raise ToolFailed(
                "online", "a command with a network runs in the box, and all else stands still; try again when it has ended", True
            )
        self.mark.join(label)

    def attempts(self) -> tuple[Attempt, ...]:
        return self._attempts() if self.way_out is not None else ()

    @asynccontextmanager
    async def _alone(self, is_needed: bool) -> AsyncIterator[None]:
        """What runs on in the box shares its network with a command that has places. So it stands still meanwhile, and what it has asked
        for already is not heard any more."""
        if not is_needed:
            yield
            return
        if not self.terminals.is_idle:
            raise ToolFailed("busy", "a command runs in a terminal of this box; wait for it or stop it, then go online", retryable=True)
        assert self.way_out is not None
        self._online += 1
        try:
            if self._online == 1:
                await self.box.pause()
                await self.way_out.hush()
            yield
        finally:
            self._online -= 1
            if not self._online:
                with suppress(Lost):
                    await self.box.resume()

    async def close(self) -> None:
        """All of it, though a step fails or is cancelled: a box that is half closed would run on, and keep its workspace."""
        async with AsyncExitStack() as ending:
            ending.push_async_callback(self.closing)
            if self.way_out is not None:
                ending.callback(self._say_attempts)
            ending.push_async_callback(self.box.close)
            ending.push_async_callback(self.terminals.close)
            if self.serving is not None:
                self.serving.cancel()
                await asyncio.wait((self.serving,))
                self._say_fault(self.serving)

    async def _current(self) -> tuple[Injection, ...]:
        """The secrets as the vault has them now, for the placeholders that the box was given. What it may not have any more stays one."""
        current = []
        for given in self.injections:
            with suppress(NotFound, Denied):
                (now,) = self.secrets.injections((given.name,), self.agent)
                if len(now.value) != len(given.placeholder):
                    await self.close()
                    raise Lost(f"the secret {given.name} has changed its length, so the box was closed: {LOSSES}")
                current.append(replace(now, placeholder=given.placeholder))
        return tuple(current)

    def _say_fault(self, serving: "asyncio.Task[None]") -> None:
        if not serving.cancelled() and (fault := serving.exception()) is not None:
            _LOG.warning("the way out of a box of %s had ended before (%s)", self.agent, type(fault).__name__)

    def _say_attempts(self) -> None:
        """There is no answer that they could be part of: a command that ends its own box must not leave without a trace."""
        for attempt in self._attempts():
            where = f"{attempt.method} {attempt.host}:{attempt.port}"
            _LOG.warning("a box of %s ended without an answer; before, %s %s", self.agent, where, attempt.outcome)

    def _attempts(self) -> tuple[Attempt, ...]:
        """With what others put into the workspace meanwhile: it may have been in time to leave."""
        assert self.way_out is not None
        attempts = tuple(replace(attempt, label=attempt.label.joined(self.mark.label)) for attempt in self.way_out.taken())
        for attempt in attempts:
            for name in attempt.secrets:
                self.secrets.used(name, f"agent:{self.agent}", attempt.host)
        return attempts


def _as_the_role_says(place: Place, role: Role) -> list[Place]:
    """Asked for by name: which ports, methods and paths go with it is the role's to say, in one entry or in several."""
    found = [known for known in role.places if known.host == place.host]
    found += [
        replace(known, host=place.host) for known in role.places if known.host.startswith("*.") and place.host.endswith(known.host[1:])
    ]
    if place in role.places:  # one with stars in it, asked for as it is written
        found.append(place)
    if found:
        return list(dict.fromkeys(found))
    hosts = ", ".join(known.host for known in role.places) or "none"
    raise ToolFailed("not_allowed", f"{place.host} is no place of the role {role.name}; its places are {hosts}")


@dataclass(frozen=True, slots=True)
class Standing:
    """What a box on layers begins with."""

    site: Site
    saved: MutableMapping[str, State]


@dataclass(slots=True)
class Workshop:
    """Makes boxes for whoever asks the pool."""

    sandboxes: Sandboxes
    secrets: Secrets
    clock: Clock
    sites: Sites | None = None
    """None: boxes work on the directory as it is, and nothing can be taken back."""
    resolver: SystemResolver = field(default_factory=SystemResolver)
    marks: Marks = field(default_factory=Marks)
    saved: dict[str, dict[str, State]] = field(default_factory=dict)
    """What terminals knew, by the key of their box."""
    outputs: KeptOutputs = field(init=False)

    def __post_init__(self) -> None:
        self.outputs = KeptOutputs(self.sandboxes.home / OUTPUTS)
        if self.sites is not None:
            self.marks = self.sites.marks  # files are put in without a box too

    def pool(self, idle_s: float, most: int) -> Pool[WiredBox]:
        return Pool(self.make, self.clock, idle_s, most)

    def web(self) -> Web:
        """The same way out, for Daimon itself."""
        from daimon.net.client import WebClient

        return WebClient(resolver=self.resolver, local=self.sandboxes.local, secrets=self.secrets, clock=self.clock)

    def close(self) -> None:
        self.resolver.close()

    async def make(self, key: str) -> WiredBox:
        """The key begins with the agent's name and a colon."""
        agent = self.sandboxes.agent_of(key)
        role = self.sandboxes.role_of(agent)
        if self.sites is not None:
            return await self.on(await self.sites.own(), role, agent, key)
        workspace = self.sandboxes.workspace
        workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        return await self.open(role, workspace, agent, key)

    async def on(self, workspace: WorkspaceId, role: Role, agent: AgentId, key: str) -> WiredBox:
        """A box on a workspace in layers. Its shells begin with what those under this key knew there."""
        assert self.sites is not None
        async with AsyncExitStack() as ending:
            site = await ending.enter_async_context(self.sites.on(workspace))
            saved = await self.sites.states_of(workspace, key)
            box = await self.open(role, site.base, agent, key, Standing(site, saved))
            site.shells[key] = box.terminals
            ending.callback(site.shells.pop, key, None)
            box.closing = ending.pop_all().aclose
        return box

    async def run(self, workspace: WorkspaceId, command: tuple[str, ...], role: str) -> Tried:
        """The port `Trials`."""
        assert self.sites is not None
        before = await self.sites.checkpoint(workspace, f"before {' '.join(command)[:200]}")
        known = replace(role_files.read(role, self.sandboxes.roles), places=(), secrets={})
        box = await self.on(workspace, known, SELF, f"{SELF}:{BY_HAND}")
        try:
            ran = await box.run(whole(command, b"", ()))
        finally:
            await box.close()
        return Tried(
            workspace=workspace,
            before=before.id,
            end=ran.end,
            code=ran.code,
            out=_text(ran.out),
            err=_text(ran.err),
            changes=await self.sites.changes(workspace),
        )

    async def open(self, role: Role, workspace: Path, agent: AgentId, key: str = BY_HAND, standing: Standing | None = None) -> WiredBox:
        for path in (workspace_of(workspace), *outside(role), *map(Path, role.mounts.values())):
            _require_apart(path, self.sandboxes.home)
        injections = self.secrets.injections(tuple(role.secrets.values()), agent) if role.secrets else ()
        stand_ins = {each.name: each.placeholder.decode() for each in injections}
        environment = {variable: stand_ins[name] for variable, name in role.secrets.items()}
        way_out = self._way_out() if role.places else None
        authorities = _authorities(way_out.authority_pem) if way_out is not None and _looks_into_tls(role) else ""
        wanted = Wanted(role, workspace, environment, authorities, self.sandboxes.uid)
        box = await start(wanted if standing is None else standing.site.under(wanted))
        mark = self.marks.of(box.workspace if standing is None else str(standing.site.base))
        is_online = box.listener is not None and way_out is not None
        made = WiredBox(
            role=role,
            agent=agent,
            box=box,
            secrets=self.secrets,
            injections=injections,
            way_out=way_out if is_online else None,
            mark=mark,
            kept=self.outputs.of(key),
            saved=self.saved.setdefault(key, {}) if standing is None else standing.saved,
            site=None if standing is None else standing.site,
        )
        if box.listener is not None and way_out is not None:
            made.serving = asyncio.create_task(way_out.serve(box.listener))
        return made

    def _way_out(self) -> "Egress":
        from daimon.net.egress import Egress  # with all of cryptography: only where somebody may be reached

        return Egress(resolver=self.resolver, local=self.sandboxes.local, clock=self.clock)


def _require_apart(path: Path, home: Path) -> None:
    """In a box that sees the home lie the vault with its key, the journal and the policies, to be read and perhaps written."""
    home = home.resolve()
    if home.is_relative_to(path) or any(path.is_relative_to(home / name) for name in ("policy", "roles")):
        raise Misconfigured(f"{path} holds Daimon's own files, in {home}: no box may see those; work in another directory")


def _looks_into_tls(role: Role) -> bool:
    return bool(role.secrets) or any(place.methods or place.paths for place in role.places)


def _authorities(own: bytes) -> str:
    """Whom programs in the box trust: those of the system, and the session's own."""
    found = ssl.get_default_verify_paths()
    system = Path(found.cafile) if found.cafile else Path("/etc/ssl/certs/ca-certificates.crt")
    known = system.read_text(encoding="utf-8", errors="replace") if system.exists() else ""
    return f"{known}\n{own.decode()}"


# -- by hand -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trial:
    """A box that somebody wants at the command line."""

    role: str
    workspace: Path
    hosts: tuple[str, ...] = ()
    """To be reached besides the role's own, with a port where it is not the usual one."""


async def one(home: Home, settings: config.Settings, trial: Trial) -> WiredBox:
    """Raises Misconfigured where no box can be made."""
    sandboxes = sandboxes_of(settings, home)
    role = role_files.read(trial.role, sandboxes.roles)
    role = replace(role, places=(*role.places, *(place_of(host) for host in trial.hosts)))
    secrets = keeper.opened(home, os.environ, keeper.nobody)
    box = await Workshop(sandboxes, secrets, SystemClock()).open(role, trial.workspace, SELF)
    box.closing = _closing(secrets)
    return box


class NoSecrets:
    """For boxes that get none."""

    def reveal(self, name: str, by: str, host: str) -> str:
        raise NotFound(f"the vault is not open here, so there is no secret {name}")

    def injections(self, names: tuple[str, ...], agent: AgentId) -> tuple[Injection, ...]:
        raise NotFound(f"the vault is not open here, so there is no secret {names[0]}")

    def used(self, name: str, by: str, host: str) -> None:
        return


def _text(output: Output) -> str:
    gap = f"\n… {output.cut_bytes:,} bytes left out …\n" if output.cut_bytes else ""
    return f"{output.head.decode(errors='replace')}{gap}{output.tail.decode(errors='replace')}"


def _closing(secrets: Vault) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        secrets.close()

    return close


def whole(command: tuple[str, ...], stdin: bytes, places: tuple[Place, ...]) -> Command:
    """Without a limit in time: whoever started it can stop it."""
    return Command(argv=command, stdin=stdin, timeout_s=_A_DAY_S, places=places)


async def examined() -> tuple[Check, ...]:
    with tempfile.TemporaryDirectory(prefix="daimon-doctor-") as directory:
        return await examine(Path(directory))


def roles_in(home: Home) -> tuple[tuple[str, str], ...]:
    """What each is for; of one that cannot be read, why."""
    return tuple((name, _description(path)) for name, path in sorted(role_files.names(home.path / "roles").items()))


def _description(path: Path) -> str:
    try:
        return role_files.described(path)
    except Misconfigured as broken:
        return f"BROKEN: {broken}"


def place_of(host: str) -> Place:
    if "/" in host:
        raise Misconfigured(f"{host} is an address with a way in it; name the host alone, such as example.org or example.org:8443")
    name, _, port = host.rpartition(":")
    return Place(name.lower(), (int(port),)) if name and port.isdigit() else Place(host.lower())
