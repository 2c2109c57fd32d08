"""The API on its sockets: one for the machine, which asks for a token, and one in the home, which only its owner can open."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from daimon.boot.control import Whole
from daimon.boot.librarian import leave, librarian_of
from daimon.gateway import unix
from daimon.gateway.access.front import Rules
from daimon.gateway.access.inner import InnerDoor
from daimon.gateway.access.opening import front_door, reached_as, ways_in
from daimon.gateway.access.places import Places
from daimon.gateway.access.routes import AccessRoutes
from daimon.gateway.api import Api
from daimon.gateway.introductions import Introductions
from daimon.gateway.mcp.mount import Mount
from daimon.gateway.parting import Parting
from daimon.gateway.parts import Parts
from daimon.gateway.readiness import Readiness
from daimon.gateway.room.automations import Surroundings
from daimon.gateway.room.hooks import Base
from daimon.gateway.server import Server, bind_tcp
from daimon.heartbeat.clerk import LocalClerk
from daimon.mcp.desk import Desk
from daimon.memory.curator import StoreCurator

if TYPE_CHECKING:
    from daimon.gateway.room.settings import Steward


@dataclass(frozen=True, slots=True)
class Serving:
    servers: tuple[Server, ...]
    readiness: Readiness
    url: str
    clients: Mount
    """For programs of others; to be served beside the servers."""


async def open_sockets(stack: AsyncExitStack, whole: Whole, port: int | None) -> Serving:
    ground = whole.ground
    home, wanted = ground.home, ground.settings.gateway
    readiness = Readiness(ground.journal.probe)
    tcp = bind_tcp(wanted.host, wanted.port if port is None else port)
    stack.callback(tcp.close)
    origins = reached_as(tcp, wanted.origins)
    access = await ways_in(ground.journal.access, ground.clock, ground.ids, ground.random, origins)
    base = Base(wanted.public_url.rstrip("/") or origins[0], bool(wanted.public_url))
    parting = Parting(ground.journal, whole.post.inbox.accept, ground.clock, ground.ids)
    introductions = Introductions(whole.gate.roster, ground.clock, ground.random, parting)
    api = Api(_parts(whole, readiness, access, base, introductions, partial(_steward, stack, whole, introductions)))
    local = unix.bind(home.socket)
    stack.callback(local.close)
    front = front_door(home.token(), access, Rules(Places(wanted.origins), wanted.public_url, wanted.trusted_proxies))
    servers = (Server(api, front, tcp), Server(api, InnerDoor(access.entrance), local))
    stack.callback(home.socket.unlink, missing_ok=True)
    return Serving(servers, readiness, origins[0], api.clients)


def _steward(stack: AsyncExitStack, whole: Whole, introductions: Introductions) -> "Steward":
    from daimon.boot.upkeep import make_steward  # with the entries, which are loaded when the first is asked for (`gateway/api.py`)

    return make_steward(stack, whole, introductions)


async def _around(clerk: LocalClerk) -> Surroundings:
    there = await clerk.setup()
    kept = tuple(sorted(name for name, mode in there.hooks.items() if mode == "collect"))
    return Surroundings(clerk.timezone, tuple(sorted(there.models)), tuple(sorted(there.channels)), kept, there.has_only_built_in)


def _parts(
    whole: Whole, readiness: Readiness, access: AccessRoutes, base: Base, introductions: Introductions, steward: "Callable[[], Steward]"
) -> Parts:
    """What the API stands on. A new part of it is a field of `Parts` and a line here."""
    ground, post, workplace = whole.ground, whole.post, whole.workplace
    journal, clock, redactor = ground.journal, ground.clock, ground.redactor
    return Parts(
        access=access,
        accounts=whole.accounts,
        amender=journal,
        archive=journal,
        chats=journal,
        around=partial(_around, whole.heart.clerk),
        base=base,
        clerk=whole.heart.clerk,
        clock=clock,
        connectors=Desk(whole.servers, clock),
        curator=StoreCurator(whole.knowledge.memory, journal, clock, ground.ids, redactor, partial(leave, whole)),
        feed=ground.feed,
        grants=whole.kernel.grants,
        hooks=journal,
        ids=ground.ids,
        inbox=post.inbox,
        introductions=introductions,
        ledger=journal,
        librarian=librarian_of(whole),
        lessons=whole.schooling.lessons,
        measured=journal,
        memory=whole.knowledge.memory,
        overview=journal,
        peek=workplace.filing.peek,
        poke=post.supervisor.poke,
        readiness=readiness,
        receiver=post.receiver,
        redactor=redactor,
        reload=whole.reload,
        runs=journal,
        shelf=post.shelf,
        status=whole.status,
        steward=steward,
        store=journal,
        trials=workplace.shop,
        warm=whole.knowledge.mind.warm,
        workspaces=workplace.sites,
    )
