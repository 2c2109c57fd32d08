"""Every part put together, one line each, in order. The only place that chooses what stands behind a port.

`running` is the whole life of one Daimon in this process: it holds the home, opens the journal, starts the scheduler and the
servers, and takes all down in the opposite order. It ends when it is told to (SIGTERM, SIGINT) or when the journal fails;
then it raises what failed.
"""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from daimon import __version__, config, extension, keeper, law, workshop
from daimon.abi.automation import Clerk
from daimon.abi.codec import fingerprint
from daimon.abi.curator import Curator
from daimon.abi.errors import JournalFailed, JournalFull, Misconfigured
from daimon.abi.event import Event
from daimon.abi.files import FilesOf
from daimon.abi.hook import Hooks
from daimon.abi.ids import HOME_SPACE, READER, SUMMARIZER, AgentId, PrincipalId
from daimon.abi.memory import Memory, Texts
from daimon.abi.money import Account
from daimon.abi.ports import Clock, Store, Timers
from daimon.abi.progress import Progress
from daimon.abi.resources import Resources
from daimon.abi.terminal import Bench, Outputs, Services
from daimon.abi.tool import Manifest, Tool
from daimon.abi.turn import Pins
from daimon.abi.web import Web
from daimon.abi.workspace import Trials, Workspaces
from daimon.backup import making
from daimon.backup import restore as restoring
from daimon.backup.inventory import Scope
from daimon.backup.plan import plan_of
from daimon.backup.schedule import Schedule, child_of
from daimon.context.assemble import FOR_OTHERS, Pager, Sources
from daimon.context.held import EXPLAINED
from daimon.context.reread import Reread
from daimon.context.summaries import SUMMARIZERS_SYSTEM
from daimon.filing import Filing
from daimon.gateway import unix
from daimon.gateway.answers import Reloaded, Status
from daimon.gateway.api import Api, Parts
from daimon.gateway.channels.local import LocalChannel
from daimon.gateway.delivery import Desk
from daimon.gateway.door import OpenDoor, TokenDoor
from daimon.gateway.draining import Step, drain, longest_s
from daimon.gateway.forwarding import Forwarding
from daimon.gateway.hooks.posted import Postings
from daimon.gateway.hooks.ready import Shelf
from daimon.gateway.hooks.receive import Behind, Receiver
from daimon.gateway.inbox import Inbox
from daimon.gateway.introductions import Introductions
from daimon.gateway.outbox import Postman
from daimon.gateway.readiness import Readiness
from daimon.gateway.reception import ChannelReception, Hall
from daimon.gateway.server import GRACE_S, Server, bind_tcp
from daimon.gateway.supervisor import Supervisor
from daimon.gateway.switchboard import Switchboard
from daimon.gateway.typing import Typing
from daimon.heartbeat.clerk import LocalClerk
from daimon.heartbeat.drafting import drafted
from daimon.heartbeat.hearing import hear
from daimon.heartbeat.looking import Looking
from daimon.heartbeat.prospects import Setup
from daimon.heartbeat.ticking import Around, Ticking
from daimon.heartbeat.watchers.table import watchers
from daimon.journal.readonly import ReadOnlyJournal
from daimon.journal.sqlite import SqliteJournal
from daimon.kernel.acting import Acting
from daimon.kernel.decide import Limits
from daimon.kernel.desk import Desk as Bureau
from daimon.kernel.dispatch import Dispatch
from daimon.kernel.dispatcher import LocalDispatcher
from daimon.kernel.estimate import Estimator
from daimon.kernel.feed import Feed
from daimon.kernel.grants import Standing
from daimon.kernel.held import Holding
from daimon.kernel.limiter import LocalLimiter
from daimon.kernel.printing import Printer
from daimon.kernel.record import Record
from daimon.kernel.roster import Roster
from daimon.kernel.scheduler import Scheduler
from daimon.kernel.summaries import Summaries
from daimon.kernel.thinking import Thinking
from daimon.kernel.turn import Turns
from daimon.lines import Lines, all_wanted
from daimon.machine import user as user
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.descriptors import make_room
from daimon.machine.home import Home
from daimon.machine.ids import SortableIds
from daimon.machine.logs import cleaned_logs
from daimon.machine.notify import manager_of
from daimon.machine.privacy import close_memory
from daimon.meaning import meaning_of
from daimon.memory.curator import StoreCurator
from daimon.memory.graph import limits
from daimon.memory.store import MemoryStore
from daimon.mind import REFLEX, Mind
from daimon.observe.cleaned import CleanedJournal
from daimon.policy.judge import Judge
from daimon.policy.ranks import Ranks
from daimon.sandbox.services import KeptServices
from daimon.sites import Sites
from daimon.tools.automations import Listing, automation_tools
from daimon.tools.clock import clock_tools
from daimon.tools.facts import fact_tools
from daimon.tools.files import file_tools
from daimon.tools.finding import finding_tools
from daimon.tools.focus import focus_tools
from daimon.tools.graph import graph_tools
from daimon.tools.hooks import hook_tools
from daimon.tools.notes import notes_tools
from daimon.tools.people import people_tools
from daimon.tools.planning import planning_tools
from daimon.tools.quarantine import READERS_SYSTEM, quarantine_tools
from daimon.tools.registry import Registry
from daimon.tools.reminders import reminder_tools
from daimon.tools.services import service_tools
from daimon.tools.shell import shell_tools
from daimon.tools.status import Counter, status_tools
from daimon.tools.terminal import Served as Terminal
from daimon.tools.terminal import terminal_tools
from daimon.tools.web import web_tools
from daimon.vault.redact import SecretRedactor

SYSTEM = """You are Daimon, a personal agent that runs on its owner's own machine. You act through tools and say plainly what you did.
Stay silent (an empty answer) when an event needs no answer."""
OTHERS_SYSTEM = """You are Daimon, the agent of somebody who lets others talk to you as well. Here you talk with one of those, or in a
group. You have nothing of your owner's before you: no notes, no files, no plans. Say so plainly when you are asked for such things, and do
not promise what you cannot do. Help with what you know and with what they tell you. Stay silent (an empty answer) when nothing is asked."""


LISTENING_S = 5.0
"""Channels get so long to end."""
RECEIPTS_S = 5.0
"""What is being sent at the end gets this long for its receipt."""
TIDYING_S = 15.0
"""For all that is closed after the servers."""


def home_at(given: Path | None) -> Home:
    return config.home_at(given)


def become(name: str, given: Path | None) -> Home:
    """From root to that user, for good; returns the home that is theirs. Before anything is opened. Raises Misconfigured."""
    found = user.find(name)
    if found is None:
        raise Misconfigured(f"there is no user {name} on this machine; `daimon service user --name {name}` makes it")
    user.adopt_environment(found)
    home = config.home_at(given)
    user.become(found, home.path)
    return home


def settings_of(home: Home) -> config.Settings:
    return config.load(home.config, os.environ)


@dataclass(frozen=True, slots=True)
class Daimon:
    """A running one, as the command line sees it."""

    url: str
    warnings: tuple[str, ...]
    """What the owner is to be told, as `daimon status` does."""
    failed: "asyncio.Future[JournalFailed]"
    """Completes when the journal cannot be written any more; the process must then end."""
    hall: Hall
    """Where channels hand over what they bring."""


@asynccontextmanager
async def running(home: Home, settings: config.Settings, port: int | None = None, ask: keeper.Ask = keeper.nobody) -> AsyncIterator[Daimon]:
    """`ask`: for the passphrase of the vault, where it needs one."""
    async with AsyncExitStack() as stack:
        manager = manager_of(os.environ, os.getpid())
        close_memory()  # before the first secret is in it
        make_room()
        stack.callback(os.umask, os.umask(0o077))  # all that is made from here on holds the owner's words
        home.ensure()
        stack.callback(os.close, home.lock())
        vault = keeper.opened(home, os.environ, ask)
        stack.callback(vault.close)
        redactor = SecretRedactor(keeper.known_to(vault))
        stack.enter_context(cleaned_logs(redactor))
        kit = extension.load(settings.extensions)
        clock, random = SystemClock(), SystemRandom()
        ids = SortableIds(clock, random)
        journal = await SqliteJournal.open(home.journal, clock, ids)
        stack.push_async_callback(journal.close)
        ids.go_on_after(await journal.newest())
        meaning = meaning_of(settings, vault, os.environ, clock)
        stack.push_async_callback(meaning.close)
        memory, warnings = await MemoryStore.open(home.memory, journal, meaning.embedder)
        stack.push_async_callback(memory.close)
        mind = Mind(vault, kit, journal, clock, random, settings, meaning.on_this_machine)
        stack.push_async_callback(mind.close)
        sandboxes = workshop.sandboxes_of(settings, home)
        sites = await _sites(home, sandboxes, clock, settings.sandbox, settings.sandbox.idle_minutes * 60)
        stack.push_async_callback(sites.close)
        filing = Filing(sites, sandboxes.role_of)
        stack.callback(filing.close)
        shop = workshop.Workshop(sandboxes, vault, clock, sites)
        stack.callback(shop.close)
        boxes = shop.pool(settings.sandbox.idle_minutes * 60, settings.sandbox.most)
        stack.push_async_callback(boxes.close)
        services = KeptServices(home.path / "services.json", boxes, clock, shop.outputs)
        stack.push_async_callback(services.close)
        sites.moved = services.begin_anew
        feed = Feed()
        can_read = lambda: bool(mind.used - {REFLEX})  # noqa: E731

        def offered(agent: AgentId, principal: PrincipalId) -> tuple[Manifest, ...]:
            return dispatch.offered(agent, principal)  # the gate, which is made of the tools, knows who holds which

        served = Served(
            memory,
            Reread(journal),
            journal,
            boxes,
            can_read,
            shop.outputs,
            services,
            Printer(feed, redactor),
            filing,
            journal,
            offered,
            shop.web(),
        )
        registry = _registry(settings, kit, sandboxes, served)
        laws = law.Law(home)
        await (roster := Roster(journal)).load()
        ranks = Ranks(roster.rank, frozenset(settings.people.guest_tools))
        judge = Judge(laws.rules, law.agents_of(settings, registry.manifests()), ranks)
        holding = Holding(journal, settings.context.hold, settings.context.closed_answers)
        floor = stack.enter_context(law.floor_of(settings))
        dispatch = Dispatch(registry, floor, judge, LocalLimiter(clock), clock, holding, redactor, sites)
        system = _system(settings)
        systems = {READER: READERS_SYSTEM, SUMMARIZER: SUMMARIZERS_SYSTEM, FOR_OTHERS: _others_system(settings)}
        pager = Pager(Sources(journal, journal, memory, filing), system, config.paging(settings), redactor, systems)
        thinking = Thinking(mind.brain, pager, dispatch, feed, clock, Estimator(), redactor)
        await (grants := Standing(journal, HOME_SPACE)).load(clock.now())
        await (outflow := config.outflow(settings)).load(journal, HOME_SPACE, clock.now())
        desk = Bureau(grants, config.manner(settings), outflow)
        turns = Turns(thinking, Acting(dispatch, Record(journal)), Limits(**settings.limits.model_dump()), settings.kernel.newer, desk)
        dispatcher = LocalDispatcher(clock)

        def pins() -> Pins:
            return Pins(mind.pin, judge.version, fingerprint(str, system), registry.hash, mind.name)

        scheduler = Scheduler(journal, dispatcher, turns, feed, clock, pins)
        inbox = Inbox(journal, scheduler, clock, ids, redactor, settings.gateway.max_event_bytes)
        lines = Lines(settings, vault, os.environ, clock, journal)
        forwarding = Forwarding(roster, lambda: mind.settings.asking.to, lambda name: postman.reaches(name))
        postman = Postman(Desk(journal, clock, redactor), (LocalChannel(),), inbox, feed, random, forwarding.where)
        hall = Hall(inbox, roster, journal, journal, journal, clock, ids, postman.poke)
        supervisor = Supervisor(clock, random, redactor, postman.line_changed)
        showing, postings = Typing(journal, (), feed, clock), Postings()
        board = Switchboard(postman, supervisor, showing, postings, lambda name: ChannelReception(name, hall))
        board.change((*lines.all(), *kit.channels))
        backups = Schedule(home, plan_of(settings, home), clock, child_of(home.path))
        summaries = Summaries(journal, feed, inbox.accept, clock, ids, lambda: bool(mind.settings.context.summarizer))
        at_work = boxes if sandboxes.can_be_made else None
        watched = watchers(web=served.web, ground=sites.ground, boxes=at_work, hooks=journal, mail=lines.new_mail)
        ticking = Ticking(
            journal, Looking(watched, clock), Around(scheduler.wake, redactor.clean_known, mind.jobs, forwarding.whom), clock, ids
        )
        clerk = LocalClerk(journal, ticking, clock, str(config.zone(settings)), lambda: _setup(journal, mind.settings, kit))
        started_at = clock.now()

        def accounts() -> tuple[Account, ...]:
            return mind.brain.budget.shared(clock.now())

        async def status() -> Status:
            count, depth = await journal.count(), await dispatcher.stats()
            balances = await journal.balances(HOME_SPACE, accounts())
            here = (__version__, str(home.path), os.getpid(), started_at, mind.name)
            told = (*warnings, *laws.warnings, *vault.warnings, *user.warnings(), *sandboxes.warnings, *services.warnings, *sites.warnings)
            warned = (*told, *backups.warnings, *ticking.warnings)
            knocks = await journal.knocks()
            return Status(*here, count, depth, journal.commits, warned, balances, supervisor.states(), len(knocks))

        async def reload() -> Reloaded:
            changed = settings_of(home)  # first: with a fault in it the policies stay as they are, and so does what is said of them
            lineup = lines.lineup(changed)
            rules = laws.reread()
            restart = mind.change(changed)
            board.change((*lines.adopt(changed, lineup), *kit.channels))
            judge.change(rules, law.agents_of(mind.settings, registry.manifests()))
            await journal.reconsider(mind.brain.budget.limits, ())
            scheduler.poke()
            return Reloaded(mind.settings.model.use, restart, judge.version)

        await journal.reconsider(mind.brain.budget.limits, mind.used)
        readiness = Readiness(journal.probe)
        curator = StoreCurator(memory, journal, clock, ids, redactor)
        shelf = Shelf(journal, HOME_SPACE, partial(keeper.ensure_hook_secret, vault))
        behind = Behind(journal, shelf, scheduler, clock, ids, redactor, keeper.hook_secrets(vault), forwarding.whom)
        receiver = Receiver(behind, postings)
        parts = Parts(
            inbox=inbox, archive=journal, overview=journal, store=journal, ledger=journal, grants=grants, feed=feed, clock=clock, ids=ids,
            status=status, reload=reload, accounts=accounts, warm=mind.warm, redactor=redactor, workspaces=sites, trials=shop,
            curator=curator, introductions=Introductions(roster, clock, random), hooks=journal, shelf=shelf, receiver=receiver,
            clerk=clerk, readiness=readiness, poke=supervisor.poke,
        )  # fmt: skip
        api = Api(parts)
        tcp = bind_tcp(settings.gateway.host, settings.gateway.port if port is None else port)
        stack.callback(tcp.close)
        local = unix.bind(home.socket)
        stack.callback(local.close)
        servers = (Server(api, TokenDoor(home.token(), settings.gateway.public_url), tcp), Server(api, OpenDoor(), local))
        stack.callback(home.socket.unlink, missing_ok=True)
        async with asyncio.TaskGroup() as tasks:
            summing_up = (summaries.serve(),) if settings.context.summarizer else ()
            tending = (boxes.tend(), sites.tend(), backups.tend(), meaning.work(memory.run, clock), ticking.serve())
            hearing = hear(feed, ticking.poke)
            beating = manager.keep_beating(partial(_alive, journal), clock)
            lasting = (postman.serve(), scheduler.serve(settings.kernel.slots), showing.serve(), *tending, *summing_up, hearing, beating)
            work = [tasks.create_task(job) for job in lasting]
            work += [tasks.create_task(server.serve()) for server in servers]
            for server in servers:
                await server.started()
            if sandboxes.can_be_made:
                services.resume()
            gc.freeze()  # all that was loaded stays: the collector need not look at it again and again
            stack.callback(gc.unfreeze)
            host, number = tcp.getsockname()[:2]
            url = f"http://[{host}]:{number}" if ":" in host else f"http://{host}:{number}"
            listening = tasks.create_task(supervisor.serve())  # last: what comes in finds everything in its place
            readiness.state = "ready"
            manager.ready(url)
            yield Daimon(url, (*warnings, *sandboxes.warnings, *sites.warnings, *laws.warnings, *user.warnings()), journal.stopped, hall)
            readiness.state = "ending"
            steps = (
                Step("channels", LISTENING_S, partial(_ended, listening)),
                Step("turns", settings.kernel.drain_s, scheduler.drain),
                Step("outbox", RECEIPTS_S, postman.drain),
            )
            manager.stopping("turns rest", longest_s(steps) + GRACE_S + TIDYING_S)
            await drain(steps)
            for server in servers:
                server.close()
            for task in work[: len(lasting)]:
                task.cancel()


async def _ended(task: "asyncio.Task[None]", seconds: float) -> None:
    """What it acknowledged is on disk; what it did not comes again."""
    task.cancel()
    await asyncio.wait((task,), timeout=seconds)


async def _alive(journal: SqliteJournal) -> None:
    """A full disk is no reason to be started anew; a writer that does not answer is."""
    with suppress(JournalFull):
        await journal.probe()


class Stored(Timers, Counter, Listing, Protocol):
    """The journal, as tools see it."""


@dataclass(frozen=True, slots=True)
class Served:
    """Whoever serves the calls of Daimon's own tools."""

    memory: Memory
    texts: Texts
    stored: Stored
    boxes: Resources[Bench]
    can_read: Callable[[], bool]
    outputs: Outputs
    services: Services
    progress: Progress
    files: FilesOf
    blobs: Store
    offered: Callable[[AgentId, PrincipalId], tuple[Manifest, ...]]
    web: Web


def _registry(settings: config.Settings, kit: extension.Kit, sandboxes: workshop.Sandboxes, served: Served) -> Registry:
    known_of = (*fact_tools(), *graph_tools(served.memory, limits.check))
    kept = (*notes_tools(served.memory, served.texts), *known_of, *reminder_tools(served.stored), *status_tools(served.stored))
    zone = str(config.zone(settings))
    by_itself = automation_tools(served.stored, lambda draft, now: drafted(draft, now, zone))
    looking = tuple(each for each in web_tools(served.web, served.blobs) if settings.network.requests or not each.manifest.is_consequential)
    own = (*clock_tools(zone), *people_tools(), *focus_tools(served.memory), *hook_tools(), *looking, *kept, *by_itself)
    examining = () if settings.context.hold == "never" else quarantine_tools(served.can_read)
    running = _running(sandboxes, served) if sandboxes.can_be_made else ()
    # Without anything consequential there is nothing to plan, and no word of it in prompts.
    known: set[str] = set()
    planning = planning_tools(known) if any(tool.manifest.is_consequential for tool in (*looking, *running, *kit.tools)) else ()
    finding = finding_tools(served.offered, lambda name: registry.is_own(name))
    registry = Registry((*own, *examining, *finding, *planning, *running), kit.tools)
    known.update(manifest.name for manifest in registry.manifests())
    return registry


def _running(sandboxes: workshop.Sandboxes, served: Served) -> tuple[Tool, ...]:
    terminals = terminal_tools(Terminal(served.boxes, served.outputs, served.progress))
    running = (*terminals, *service_tools(served.services), *shell_tools(served.boxes, sandboxes.places()))
    return (*file_tools(served.files, served.blobs), *running)


def manifests(settings: config.Settings, home: Home) -> tuple[Manifest, ...]:
    """Of all tools that a start with these settings would have, to look at."""
    nobody: Any = None  # a manifest is made without whoever serves its calls
    served = Served(nobody, nobody, nobody, nobody, bool, nobody, nobody, nobody, nobody, nobody, nobody, nobody)
    return _registry(settings, extension.load(settings.extensions), workshop.sandboxes_of(settings, home), served).manifests()


def _system(settings: config.Settings) -> str:
    who = f"\nYour owner is called {settings.owner.name}." if settings.owner.name else ""
    held = "" if settings.context.hold == "never" else f"\n{EXPLAINED}"
    return f"{SYSTEM}{held}{who}\n{settings.context.system}".rstrip()


def _others_system(settings: config.Settings) -> str:
    """For turns that do not serve the owner: nothing of the settings is in it."""
    held = "" if settings.context.hold == "never" else f"\n{EXPLAINED}"
    return f"{OTHERS_SYSTEM}{held}"


@asynccontextmanager
async def reading(home: Home) -> AsyncIterator[ReadOnlyJournal]:
    """The journal of a home that nobody runs, to look at. Changes nothing, not even a file's date."""
    journal = await ReadOnlyJournal.open(home.journal)
    try:
        yield journal
    finally:
        await journal.close()


@asynccontextmanager
async def looking(home: Home) -> AsyncIterator[CleanedJournal]:
    """The same, for the eyes of a person. Where the vault does not open, no text is shown: it may hold what became known later."""
    known = keeper.found(home, os.environ).known
    async with reading(home) as journal:
        yield CleanedJournal(journal, SecretRedactor(known))


@dataclass(frozen=True, slots=True)
class Held:
    """The journal of a home that nobody runs, and what it is written with."""

    journal: SqliteJournal
    clock: SystemClock
    random: SystemRandom
    ids: SortableIds


@asynccontextmanager
async def _holding(home: Home) -> AsyncIterator[Held]:
    async with AsyncExitStack() as stack:
        stack.callback(os.umask, os.umask(0o077))  # all that is made from here on holds the owner's words
        home.ensure()
        stack.callback(os.close, home.lock())
        clock, random = SystemClock(), SystemRandom()
        ids = SortableIds(clock, random)
        journal = await SqliteJournal.open(home.journal, clock, ids)
        stack.push_async_callback(journal.close)
        ids.go_on_after(await journal.newest())
        yield Held(journal, clock, random, ids)


@asynccontextmanager
async def taking(home: Home, settings: config.Settings) -> AsyncIterator[Inbox]:
    """Events for a home that nobody runs: they are on disk at once and answered at the next start."""
    async with _holding(home) as held:
        yield Inbox(held.journal, _Asleep(), held.clock, held.ids, keeper.redactor_of(home), settings.gateway.max_event_bytes)


@asynccontextmanager
async def granting(home: Home) -> AsyncIterator[Standing]:
    """What was granted in a home that nobody runs, to take it back."""
    async with _holding(home) as held:
        yield Standing(held.journal, HOME_SPACE)


@asynccontextmanager
async def introducing(home: Home) -> AsyncIterator[Introductions]:
    """Who may talk to the agent of a home that nobody runs."""
    async with _holding(home) as held:
        yield Introductions(held.journal, held.clock, held.random)


@asynccontextmanager
async def hooking(home: Home) -> AsyncIterator[Hooks]:
    """The webhooks of a home that nobody runs."""
    async with _holding(home) as held:
        yield held.journal


@asynccontextmanager
async def automating(home: Home) -> AsyncIterator[Clerk]:
    """The automations of a home that nobody runs. What is run by hand waits for the next start."""
    async with _holding(home) as held:
        around = Around(_Asleep().wake, keeper.redactor_of(home).clean_known, {}, Forwarding(held.journal).whom)
        ticking = Ticking(held.journal, Looking({}, held.clock), around, held.clock, held.ids)
        settings = settings_of(home)

        async def setup() -> Setup:
            return await _setup(held.journal, settings, extension.load(settings.extensions))

        yield LocalClerk(held.journal, ticking, held.clock, str(config.zone(settings)), setup)


async def _setup(hooks: Hooks, settings: config.Settings, kit: extension.Kit) -> Setup:
    """What automations can count on: the same whether somebody runs this home or not."""
    channels = frozenset({LocalChannel.name, *all_wanted(settings), *(each.name for each in kit.channels)})
    modes = {each.hook.name: each.hook.mode for each in await hooks.hooks(HOME_SPACE)}
    return Setup(channels, frozenset({REFLEX, *settings.models, *kit.models}), modes, settings.model.use == (REFLEX,))


@asynccontextmanager
async def curating(home: Home) -> AsyncIterator[Curator]:
    """The memory of a home that nobody runs. Reading it may mean to catch up with the journal first, so the home is held either way."""
    async with _holding(home) as held:
        memory, _ = await MemoryStore.open(home.memory, held.journal)
        try:
            # Where the vault does not open, no text is shown: it may hold what became known later.
            redactor = SecretRedactor(keeper.found(home, os.environ).known)
            yield StoreCurator(memory, held.journal, held.clock, held.ids, redactor)
        finally:
            await memory.close()


def own_workspace(home: Home) -> str:
    """The directory that agents work in."""
    return str(workshop.sandboxes_of(settings_of(home), home).workspace.resolve())


@asynccontextmanager
async def arranging(home: Home) -> AsyncIterator[tuple[Workspaces, Trials]]:
    """The workspaces of a home that nobody runs."""
    async with AsyncExitStack() as stack:
        stack.callback(os.umask, os.umask(0o077))
        home.ensure()
        stack.callback(os.close, home.lock())
        settings, clock = settings_of(home), SystemClock()
        sandboxes = workshop.sandboxes_of(settings, home)
        sites = await _sites(home, sandboxes, clock, settings.sandbox, 0.0)
        stack.push_async_callback(sites.close)
        shop = workshop.Workshop(sandboxes, workshop.NoSecrets(), clock, sites)
        stack.callback(shop.close)
        yield sites, shop


async def _sites(home: Home, sandboxes: workshop.Sandboxes, clock: Clock, settings: config.Sandbox, idle_s: float) -> Sites:
    place, layers = home.path / "workspaces", settings.layers_mb << 20
    return await Sites.opened(place, sandboxes.workspace, sandboxes.uid, clock, idle_s, layers)


def now() -> datetime:
    return SystemClock().now()


def backup(home: Home, to: Path, scope: Scope) -> making.Made:
    """Of a home that may be running. Blocks."""
    return making.make(home, to, SystemClock(), scope)


def restore(file: Path, home: Home, *, may_replace: bool = False) -> restoring.Restored:
    """Into a home that nobody runs. Blocks."""
    return restoring.restore(file, home, SystemClock(), may_replace=may_replace)


async def provider(script: Path | None, port: int, say: Callable[[str], None]) -> None:
    """A language-model server on loopback that answers by a script, for developers. Runs until cancelled."""
    from daimon.testing.provider.server import serve

    await serve(script, port, say)


class _Asleep:
    """Nobody to wake: the next start looks for work by itself."""

    async def wake(self, event: Event) -> None:
        return
