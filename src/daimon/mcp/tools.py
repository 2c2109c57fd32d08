"""The tools of a server, as the kernel calls them."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import StepRef
from daimon.abi.ports import Store
from daimon.abi.progress import Progress, unseen
from daimon.abi.tool import Call, Manifest, Pending, Result, Word
from daimon.mcp.errands import LONGEST, Errand, Errands, may_begin
from daimon.mcp.manifests import PURPOSE, Known
from daimon.mcp.results import result_of
from daimon.mcp.server import Server
from daimon.mcp.talks import LONGEST_S, Talks

if TYPE_CHECKING:
    import mcp_types as types


@dataclass(frozen=True, slots=True)
class Lasting:
    """What a call may leave behind when it pauses."""

    talks: Talks = field(default_factory=Talks)
    errands: Errands | None = None
    """None: tools that could be called as tasks are called as all others."""


class ServerTool:
    def __init__(self, server: Server, known: Known, blobs: Store, progress: Progress = unseen, lasting: Lasting | None = None) -> None:
        self._server, self._known, self._blobs, self._progress = server, known, blobs, progress
        lasting = lasting or Lasting()
        self._talks, self._errands = lasting.talks, lasting.errands

    @property
    def manifest(self) -> Manifest:
        return self._known.manifest

    @property
    def notes(self) -> tuple[str, ...]:
        """What became of its schema."""
        return self._known.arguments.notes

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result | Pending:
        if self._known.has_purpose:
            arguments = {name: value for name, value in arguments.items() if name != PURPOSE}
        unpacked = self._known.arguments.unpack(arguments)

        async def work() -> Result:
            answer = await self._asked(unpacked, call)
            return await result_of(self._server.name, answer, self._blobs, self._server.touched())

        await self._server.ready_for(self._known.listed)  # it may have to be started first, which does not count
        if self._errands is not None and await may_begin(self._server, self._known.listed):
            return await self._timed(self._begun(self._errands, unpacked, call))
        return await self._timed(self._talks.run(self._server.name, call, self._server.settings.timeout_s, work))

    async def go_on(self, handle: str, word: Word, call: Call) -> Result | Pending:
        if (errand := Errand.of(handle)) is not None and self._errands is not None:
            return await self._timed(self._over(self._errands, errand, word))
        return await self._timed(self._talks.go_on(handle, word, self._server.settings.timeout_s))

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        raise ToolFailed("not_verifiable", f"{self.manifest.name} cannot say whether a call happened")

    async def _begun(self, errands: Errands, arguments: dict[str, JsonValue], call: Call) -> Result | Pending:
        errand = await errands.begin(self._server, self._known.listed, arguments)
        if not isinstance(errand, Errand):
            return await result_of(self._server.name, errand, self._blobs, self._server.touched())
        errands.watch(self._server, errand, StepRef.parse(str(call.key)))
        return Pending(errand.handle, until=call.now + LONGEST, goes_on=True)

    async def _over(self, errands: Errands, errand: Errand, word: Word) -> Result:
        if word.is_expired:
            await errands.cancel(self._server, errand)
            raise ToolFailed("expired", f"the server {self._server.name}: it was not done within {LONGEST.days} day, and was told to stop")
        answer = await errands.fetch(self._server, errand)
        return await result_of(self._server.name, answer, self._blobs, self._server.touched())

    async def _timed(self, work: Awaitable[Result | Pending]) -> Result | Pending:
        try:
            return await work
        except ToolFailed as failed:
            if failed.reason == "timeout":
                self._server.doubt()
            raise

    async def _asked(self, arguments: dict[str, JsonValue], call: Call) -> "types.CallToolResult":
        def step(done: float, total: float | None, message: str) -> None:
            far = f"{done:g} of {total:g}" if total else f"{done:g}"
            self._progress(call, f"{self.manifest.name}: {far}{f', {message}' if message else ''}\n")

        return await self._server.call(self._known.listed, arguments, call, step, LONGEST_S)
