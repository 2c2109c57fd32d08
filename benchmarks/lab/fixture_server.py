"""The suite's fixtures, served by the code that serves Daimon's own abilities: the same door, the same mount, the same server.

The suite sends no token. One is put on each request here, before the door looks at it; everything else the door sees as it came.

    python -m lab.fixture_server     prints its address, and serves until standard input ends
"""

import asyncio
import contextlib
import sys
import tempfile
import warnings
from pathlib import Path

import uvicorn
from starlette.types import Receive, Scope, Send

from daimon.abi.access import Right
from daimon.gateway.access.front import FrontDoor, Rules
from daimon.gateway.access.opening import front_door, reached_as, ways_in
from daimon.gateway.door import Guarded
from daimon.gateway.mcp.mount import Mount
from daimon.gateway.server import bind_tcp
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from lab import fixtures

MOST_BYTES = 1024 * 1024


class Supplied:
    """Puts a token on what comes."""

    def __init__(self, app: Guarded, token: str) -> None:
        self._app, self._header = app, (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "headers": [*scope["headers"], self._header]}, receive, send)


async def serve(place: Path) -> None:
    clock, ids = SystemClock(), SortableIds(SystemClock(), SystemRandom())
    journal = await SqliteJournal.open(place / "journal.db", clock, ids)
    sock = bind_tcp("127.0.0.1", 0)
    ways = await ways_in(journal.access, clock, ids, SystemRandom(), reached_as(sock, ()))
    _, token = await ways.entrance.sessions.begin("suite", frozenset(Right), "client")
    door: FrontDoor = front_door("the token of a home", ways, Rules())
    mount = Mount(fixtures.server, MOST_BYTES)
    app = Supplied(Guarded(mount, door), token)
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
    async with asyncio.TaskGroup() as tasks:
        work = tasks.create_task(mount.serve())
        tasks.create_task(server.serve(sockets=[sock]))
        print(f"http://127.0.0.1:{sock.getsockname()[1]}/mcp", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = True
        work.cancel()
    await journal.close()


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the suite asks for what the newest version of the protocol has done away with
    with tempfile.TemporaryDirectory(prefix="daimon-conformance-") as directory, contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Path(directory)))
