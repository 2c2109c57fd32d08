"""The whole life of one Daimon in this process: it is put together, it works, it is taken down in the opposite order.

It ends when it is told to (SIGTERM, SIGINT) or when the journal fails; then whoever runs it raises what failed. At the end, what brings
work in stops first, then the work comes to rest, then what carries results out; the journal closes last.
"""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from daimon import config, keeper
from daimon.abi.errors import JournalFailed, JournalFull
from daimon.boot.control import Whole
from daimon.boot.gate import open_gate
from daimon.boot.ground import lay_ground
from daimon.boot.heart import make_heart
from daimon.boot.kernel import make_kernel
from daimon.boot.knowledge import open_knowledge
from daimon.boot.lessons import make_schooling
from daimon.boot.librarian import librarian_of
from daimon.boot.post import make_post
from daimon.boot.servers import open_servers
from daimon.boot.serving import Serving, open_sockets
from daimon.boot.skills import open_skills
from daimon.boot.workplace import open_workplace
from daimon.gateway.draining import Step, drain, longest_s
from daimon.gateway.reception import Hall
from daimon.gateway.server import GRACE_S
from daimon.journal.sqlite import SqliteJournal
from daimon.machine import user
from daimon.machine.home import Home
from daimon.machine.notify import Manager, manager_of

LISTENING_S = 5.0
"""Channels get so long to end."""
RECEIPTS_S = 5.0
"""What is being sent at the end gets this long for its receipt."""
TIDYING_S = 15.0
"""For all that is closed after the servers."""
YOUNG_OBJECTS = 10_000
"""So many more objects than before, then the collector looks."""


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
    is_root: bool
    whole: Whole
    """For who lives in the same process: laboratories and tests."""


@asynccontextmanager
async def running(home: Home, settings: config.Settings, port: int | None = None, ask: keeper.Ask = keeper.nobody) -> AsyncIterator[Daimon]:
    """`ask`: for the passphrase of the vault, where it needs one."""
    manager = manager_of(os.environ, os.getpid())
    async with AsyncExitStack() as stack:
        ground = await lay_ground(stack, home, settings, ask)
        knowledge = await open_knowledge(stack, ground)
        workplace = await open_workplace(stack, ground)
        gate = await open_gate(stack, ground, knowledge, workplace)
        skills = await open_skills(ground, knowledge, workplace, gate)
        kernel = await make_kernel(ground, knowledge, workplace, gate, skills)
        post = make_post(ground, knowledge.mind, gate.roster, kernel)
        heart = make_heart(ground, knowledge, workplace, gate, kernel, post)
        servers = await open_servers(stack, ground, knowledge, workplace, gate, post)
        whole = Whole(
            ground=ground, knowledge=knowledge, workplace=workplace, gate=gate, skills=skills,
            schooling=make_schooling(ground, knowledge, gate, skills), servers=servers, kernel=kernel, post=post, heart=heart,
            started_at=ground.clock.now(),
        )  # fmt: skip
        await librarian_of(whole).removing.finish()
        await ground.journal.reconsider(knowledge.mind.brain.budget.limits, knowledge.mind.used)
        serving = await open_sockets(stack, whole, port)
        async with asyncio.TaskGroup() as tasks:
            work = [tasks.create_task(job) for job in (*_work(whole), serving.clients.serve())]
            for server in serving.servers:
                tasks.create_task(server.serve())
                await server.started()
            if workplace.sandboxes.can_be_made:
                workplace.services.resume()
            _let_the_collector_rest(stack)
            listening = tasks.create_task(post.supervisor.serve())  # last: what comes in finds everything in its place
            serving.readiness.state = "ready"
            manager.ready(serving.url)
            work.append(tasks.create_task(manager.keep_beating(partial(_alive, ground.journal), ground.clock)))
            yield Daimon(serving.url, whole.warnings, ground.journal.stopped, post.hall, bool(user.warnings()), whole)
            serving.readiness.state = "ending"
            await _come_to_rest(whole, manager, listening)
            _end(serving, work)


def _let_the_collector_rest(stack: AsyncExitStack) -> None:
    """All that was loaded stays, so the collector need not look at it again and again; nor, at every seven hundredth object of a busy
    moment, at requests that are still under way: almost nothing here is a ring that only it can free."""
    stack.callback(gc.set_threshold, *gc.get_threshold())
    gc.set_threshold(YOUNG_OBJECTS)
    gc.freeze()
    stack.callback(gc.unfreeze)


def _work(whole: Whole) -> tuple[Coroutine[Any, Any, None], ...]:
    """What runs for as long as the gateway does, beside its servers and channels."""
    ground, knowledge, workplace, post = whole.ground, whole.knowledge, whole.workplace, whole.post
    return (
        post.postman.serve(),
        post.showing.serve(),
        whole.kernel.scheduler.serve(ground.settings.kernel.slots),
        workplace.boxes.tend(),
        workplace.sites.tend(),
        knowledge.meaning.work(knowledge.memory.run, ground.clock),
        *(() if whole.skills.nearness is None else (whole.skills.nearness.work(),)),
        *whole.heart.beats(ground.feed),
        *whole.servers.watching(ground.feed, ground.journal),
        whole.schooling.learner.serve(),
    )


async def _come_to_rest(whole: Whole, manager: Manager, listening: "asyncio.Task[None]") -> None:
    steps = (
        Step("channels", LISTENING_S, partial(_ended, listening)),
        Step("turns", whole.ground.settings.kernel.drain_s, whole.kernel.scheduler.drain),
        Step("outbox", RECEIPTS_S, whole.post.postman.drain),
    )
    manager.stopping("turns rest", longest_s(steps) + GRACE_S + TIDYING_S)
    await drain(steps)


def _end(serving: Serving, work: "list[asyncio.Task[None]]") -> None:
    for server in serving.servers:
        server.close()
    for task in work:
        task.cancel()


async def _ended(task: "asyncio.Task[None]", seconds: float) -> None:
    """What it acknowledged is on disk; what it did not comes again."""
    task.cancel()
    await asyncio.wait((task,), timeout=seconds)


async def _alive(journal: SqliteJournal) -> None:
    """A full disk is no reason to be started anew; a writer that does not answer is."""
    with suppress(JournalFull):
        await journal.probe()
