"""The way out: an HTTP proxy for one box, on a socket that listens inside of the box's own network.

The box has no other. Nothing passes unless a span is open (`open`), a command's places and secrets for as long as it runs; when it closes,
what it alone had allowed is cut. Every attempt is told (`taken`), those that were turned away too. The rest is in the files beside this
one: `connection` speaks with the box, `rules` says what is open, `dial` reaches out, `exchange` carries.

Calling order: make it, `serve` as a task, `open` around each command. All on one event loop.
"""

import asyncio
import logging
import socket
import ssl
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from daimon.abi.box import Attempt, Place
from daimon.abi.label import Label
from daimon.abi.ports import Clock
from daimon.abi.secret import Injection
from daimon.net import rules
from daimon.net.authority import Authority
from daimon.net.bounds import BOUNDS, Bounds
from daimon.net.connection import Connection, Parts
from daimon.net.dial import Dialler, Local
from daimon.net.refusal import Refusal
from daimon.net.resolve import Resolver
from daimon.net.stream import Plain
from daimon.net.visit import Log

TURNS = 16
"""Of the loop, until whoever waited to be accepted has been."""
_log = logging.getLogger(__name__)


class Egress:
    def __init__(
        self,
        *,
        resolver: Resolver,
        local: Local,
        clock: Clock,
        bounds: Bounds = BOUNDS,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """`local` maps names to addresses that the owner chose, wherever they are. `context` says whom to trust; None: as the system."""
        self._bounds = bounds
        self._rules = rules.Rules()
        self._log = Log(clock, bounds.attempts)
        self._authority = Authority(clock)
        dialler = Dialler(resolver, local, clock, bounds, context)
        self._parts = Parts(self._rules, dialler, self._authority, self._log, bounds)
        self._live: dict[Connection, asyncio.Task[None]] = {}

    @property
    def authority_pem(self) -> bytes:
        """For the box's trust store."""
        return self._authority.pem

    @property
    def connections(self) -> int:
        """How many there are now."""
        return len(self._live)

    async def serve(self, listener: socket.socket) -> None:
        """Until cancelled. Closes the listener, and everything that came through it."""
        async with asyncio.TaskGroup() as group:
            server = await asyncio.start_server(lambda *pair: self._accept(group, *pair), sock=listener)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                server.close()

    @contextmanager
    def open(self, places: Sequence[Place], injections: Sequence[Injection], label: Label) -> Iterator[None]:
        """Raises Misconfigured for a place or a secret that could not be held to."""
        span = rules.span(places, injections, label)
        self._rules.add(span)
        for connection in self._live:
            connection.joins(label)
        try:
            yield
        finally:
            self._rules.spans.remove(span)
            self._cut()

    async def hush(self) -> None:
        """Ends what there is, also what has been asked and not been heard yet. For a box in which nothing moves: of what waited here, none
        gets what is opened next."""
        for _ in range(TURNS):
            for connection, task in tuple(self._live.items()):
                connection.cut()
                task.cancel()
            await asyncio.sleep(0)  # the loop accepts who waited outside

    def taken(self) -> tuple[Attempt, ...]:
        """Attempts that ended since the last time, the oldest first. If some had to be dropped, the first one says how many."""
        return self._log.taken()

    def _cut(self) -> None:
        for connection, task in tuple(self._live.items()):
            if not connection.may_stay():
                connection.cut()
                task.cancel()

    def _accept(self, group: asyncio.TaskGroup, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._live) >= self._bounds.connections:
            refusal = Refusal(503, f"there are {len(self._live)} connections already; end one first")
            self._log.begin(self._rules.label).finish(refusal.outcome, refusal.reason)
            writer.write(refusal.answer())
            return writer.close()
        connection = Connection(self._parts, Plain(reader, writer, self._bounds.idle_s))
        running = self._run(connection)
        try:
            task = self._live[connection] = group.create_task(running)
        except RuntimeError:  # the way out is being closed
            running.close()
            return writer.transport.abort()
        task.add_done_callback(lambda ended: self._left(connection, writer) if ended.cancelled() else None)
        return None

    def _left(self, connection: Connection, writer: asyncio.StreamWriter) -> None:
        """One that is cancelled before it begins does not clear up after itself."""
        self._live.pop(connection, None)
        writer.transport.abort()

    async def _run(self, connection: Connection) -> None:
        try:
            await connection.run()
        except Exception as error:  # noqa: BLE001 - a fault of ours ends one connection, not the way out; its text may hold anything
            where = traceback.extract_tb(error.__traceback__)[-1]
            _log.error(
                "a connection of the box ended in %s at %s:%s, a mistake in Daimon", type(error).__name__, where.filename, where.lineno
            )
        finally:
            self._live.pop(connection, None)
