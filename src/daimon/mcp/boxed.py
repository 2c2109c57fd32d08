"""A server that is a command: one process in a box of its own, spoken with by its stdin and stdout.

The box has what the settings of the server say: directories, hosts, placeholders of secrets. Its way out is open as long as the process
lives, since nobody knows when a server needs it; what it reached is told with the next call. When the session ends, its stdin closes,
it has a moment to end by itself, and then box and all in it go. What it prints on stderr is kept, its beginning and its end, to say why
it died.
"""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from daimon import config
from daimon.abi.ids import SELF
from daimon.abi.label import Label
from daimon.abi.tool import Touched
from daimon.mcp.bounds import BOUNDS, Bounds
from daimon.mcp.pipes import Pipes
from daimon.mcp.role import command_of, role_of, tree_of, unseen
from daimon.mcp.words import shown
from daimon.sandbox.output import Stream
from daimon.sandbox.spawned import Spawned
from daimon.workshop import WiredBox, Workshop

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

T = TypeVar("T")
_SAID = 400
_DIES_S = 10.0
"""Until it is known how a process ended whose output is closed, which takes its time on a busy machine. It may also live on."""


class Boxed:
    def __init__(self, name: str, server: config.Server, shop: Workshop, bounds: Bounds = BOUNDS) -> None:
        self._name, self._server, self._shop, self._bounds = name, server, shop, bounds
        self._box: WiredBox | None = None
        self._process: Spawned | None = None
        self._pipes: Pipes | None = None
        self._printed = b""
        self._end = ""

    @property
    def why(self) -> str:
        return (self._pipes.why if self._pipes else "") or self._end

    @property
    def notes(self) -> tuple[str, ...]:
        found = []
        if self._pipes is not None and self._pipes.garbage:
            found.append(f"it wrote {self._pipes.garbage} lines that are no messages, such as: {self._pipes.first}")
        if self._printed and (said := shown(self._printed.decode(errors="replace"), _SAID)):
            found.append(f"it printed: {said}")
        return tuple(found)

    async def ended(self) -> None:
        assert self._pipes is not None
        await self._pipes.over.wait()

    @property
    def is_refused(self) -> bool:
        return False

    def admit(self, label: Label) -> None:
        if self._box is not None:
            self._box.mark.join(label)

    def touched(self) -> tuple[Touched, ...]:
        attempts = self._box.attempts() if self._box is not None else ()
        return tuple(
            Touched("network", f"{each.method} {each.host}:{each.port}{each.path}"[:500], _how(each.outcome, each.reason), each.label)
            for each in attempts
        )

    @asynccontextmanager
    async def streams(self) -> "AsyncIterator[TransportStreams]":
        home: Path = self._shop.sandboxes.home
        role = role_of(self._name, self._server)
        async with AsyncExitStack() as ending:
            tree = tree_of(self._server, home)
            self._box = await _to_its_end(self._shop.open(role, tree, SELF, f"{SELF}:mcp:{self._name}"))
            ending.push_async_callback(lambda box: _to_its_end(_whole(box.close())), self._box)
            printed = Stream(self._bounds.stderr_bytes)
            ending.callback(self._keep, printed)
            with ExitStack() as opened:
                (theirs_in, ours_in), (ours_out, theirs_out) = os.pipe2(os.O_CLOEXEC), os.pipe2(os.O_CLOEXEC)
                for descriptor in (ours_in, ours_out):
                    opened.callback(os.close, descriptor)
                staying = self._box.staying(command_of(self._server), (theirs_in, theirs_out, printed.give()))
                self._process = await ending.enter_async_context(staying)
                opened.pop_all()
            self._pipes = await _piped(ours_in, ours_out, self._bounds, ending)
            ending.push_async_callback(lambda: _to_its_end(self._leave()))
            async with self._pipes.streams() as streams:
                yield streams

    async def _leave(self) -> None:
        """It hears no more, and has a moment to end by itself."""
        assert self._process is not None
        assert self._pipes is not None
        has_ended_first = self._pipes.is_at_end
        self._pipes.hang_up()
        await asyncio.wait((self._process.ended,), timeout=_DIES_S if has_ended_first else self._bounds.grace_s)
        if has_ended_first:
            self._end = self._how_it_ended() if self._process.has_ended else "it closed its output"

    def _how_it_ended(self) -> str:
        assert self._process is not None
        how = self._process.how()
        return f"{how}; {unseen(self._name, self._server)}" if how.endswith(os.strerror(errno.ENOENT)) else how

    def _keep(self, printed: Stream) -> None:
        output = printed.finish()
        self._printed = output.head + output.tail


async def _to_its_end(work: Awaitable[T]) -> T:
    """What the SDK gives up it cancels again at every turn: a box that is half made or half closed would stay."""
    import anyio

    with anyio.CancelScope(shield=True):
        done = await work
    return done  # noqa: RET504 - a scope may end early, and then nothing is returned


async def _whole(work: Coroutine[Any, Any, None]) -> None:
    """Whoever cancels it meanwhile waits for its end: a process that nobody waits for would be left."""
    task, is_cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            is_cancelled = True
    task.result()
    if is_cancelled:
        raise asyncio.CancelledError


def _how(outcome: str, reason: str) -> str:
    return f"{outcome}: {reason}" if reason else outcome


async def _piped(stdin: int, stdout: int, bounds: Bounds, ending: AsyncExitStack) -> Pipes:
    """Of our two ends. They are closed at the end."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    hears, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(stdout, "rb", buffering=0))
    ending.callback(hears.close)
    unread = asyncio.StreamReader()  # a protocol wants one, and closes it when all is closed
    says, protocol = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(unread), os.fdopen(stdin, "wb", buffering=0))
    ending.callback(lambda: None if unread.at_eof() else says.abort())  # it cannot be asked twice
    return Pipes(reader, asyncio.StreamWriter(says, protocol, None, loop), bounds)
