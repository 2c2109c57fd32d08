"""Long tasks of a server (`tasks` of the protocol, version 2025-11-25): begun, watched, fetched, and ended with their turn.

    run ──> begun at the server ──> over within a moment ──> its result
                └─ not over: Pending, whose handle names the task; the turn parks
                       watched, less and less often ──> over ──> an event wakes the turn ──> go_on fetches the result

The handle is all that is needed to go on, so a task outlives a restart of ours: what waits is found in the journal and watched again. If
the server does not know the task any more, the call has ended and says so. A task whose turn ended, or that took longer than a day, is
ended at the server. It does not know what a result is; `tools.py` does.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from pydantic import JsonValue, TypeAdapter, ValidationError

from daimon.abi.errors import DaimonError, ToolFailed
from daimon.abi.ids import SpaceId, StepRef, TurnId
from daimon.abi.ports import Archive, Clock
from daimon.abi.step import Happened, Received, Started, Step
from daimon.abi.turn import State
from daimon.kernel.feed import Changed, Feed
from daimon.mcp.listed import Listed
from daimon.mcp.server import Server

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.client.client import Client

LONGEST = timedelta(days=1)
MOMENT_S = 5.0
"""A task that is over so soon parks nothing."""
FIRST_S, MOST_S, GROWS = 0.5, 60.0, 1.5
_OVER = frozenset({"completed", "failed", "cancelled"})
_PREFIX = "mcp-task"
_LOG = logging.getLogger(__name__)
_MOST_WAITING = 1_000
Wake = Callable[[StepRef], Awaitable[None]]
"""The turn that waits there may go on."""


@dataclass(frozen=True, slots=True)
class Errand:
    server: str
    id: str

    @property
    def handle(self) -> str:
        return f"{_PREFIX}:{self.server}:{self.id}"

    @classmethod
    def of(cls, handle: str) -> "Errand | None":
        prefix, _, rest = handle.partition(":")
        server, _, id_ = rest.partition(":")
        return cls(server, id_) if prefix == _PREFIX and server and id_ else None


async def _nobody(to: StepRef) -> None:
    return


@dataclass(slots=True)
class Errands:
    clock: Clock
    wake: Wake = _nobody
    _watching: "dict[StepRef, tuple[asyncio.Task[None], Server, Errand]]" = field(default_factory=dict)
    _telling: "set[asyncio.Task[None]]" = field(default_factory=set)

    async def begin(self, server: Server, tool: Listed, arguments: dict[str, JsonValue]) -> "Errand | types.CallToolResult":
        """It runs at the server from now on; or it is over already. Raises ToolFailed."""
        import mcp_types as types

        connection = await server.ready_for(tool)
        wanted = types.TaskMetadata(ttl=int(LONGEST.total_seconds() * 1000))
        params = types.CallToolRequestParams(name=tool.name, arguments=arguments, task=wanted)
        with server.in_use():
            sent = _begun(connection.client, types.CallToolRequest(params=params), server.settings.timeout_s)
            answer = await connection.asked(sent, server.settings.timeout_s)
            if isinstance(answer, types.CallToolResult):
                return answer
            made = answer.task
            errand = Errand(server.name, made.task_id[:500])
            is_over = made.status in _OVER or await self._is_over_soon(server, errand)
            return await self.fetch(server, errand) if is_over else errand

    async def _is_over_soon(self, server: Server, errand: Errand) -> bool:
        pause_s, left_s = FIRST_S, MOMENT_S
        while left_s > 0:
            await self.clock.sleep(min(pause_s, left_s))
            left_s, pause_s = left_s - pause_s, pause_s * GROWS
            if (await self._looked(server, errand)).status in _OVER:
                return True
        return False

    async def fetch(self, server: Server, errand: Errand) -> "types.CallToolResult":
        """Raises ToolFailed."""
        import mcp_types as types

        connection = await server.connected()
        request = types.GetTaskPayloadRequest(params=types.GetTaskPayloadRequestParams(task_id=errand.id))
        with server.in_use():
            sent = connection.client.session.send_request(request, types.CallToolResult)
            return await connection.asked(sent, server.settings.timeout_s)

    async def cancel(self, server: Server, errand: Errand) -> None:
        """As far as the server can be told."""
        import mcp_types as types

        with suppress(DaimonError):
            connection = await server.connected()
            request = types.CancelTaskRequest(params=types.CancelTaskRequestParams(task_id=errand.id))
            await connection.asked(connection.client.session.send_request(request, types.CancelTaskResult), server.settings.timeout_s)

    def watch(self, server: Server, errand: Errand, to: StepRef) -> None:
        if to not in self._watching:
            task = asyncio.create_task(self._watch(server, errand, to))
            self._watching[to] = (task, server, errand)
            task.add_done_callback(lambda _: self._watching.pop(to, None))

    async def serve(self, feed: Feed, archive: Archive, space: SpaceId, find: Callable[[str], Server | None]) -> None:
        """Goes on with what waited before a restart; ends what belongs to turns that end."""
        with feed.subscribe() as updates:
            await self._resume(archive, space, find)
            async for update in updates:
                if isinstance(update, Changed) and update.ending is not None:
                    self._end(update.turn)

    def close(self) -> None:
        for task in (*(task for task, _, _ in self._watching.values()), *self._telling):
            task.cancel()

    async def _resume(self, archive: Archive, space: SpaceId, find: Callable[[str], Server | None]) -> None:
        for turn in await archive.turns(space, _MOST_WAITING, state=State.PARKED):
            try:
                waiting = _waiting(turn.id, await archive.steps(turn.id))
            except DaimonError as damaged:  # one turn that cannot be read keeps no other waiting
                _LOG.warning("whether turn %s waits for a task of a server cannot be read: %s", turn.id, damaged)
                continue
            for to, errand in waiting:
                if (server := find(errand.server)) is not None:
                    self.watch(server, errand, to)

    def _end(self, turn: TurnId) -> None:
        """A server that is slow to hear it keeps nobody waiting."""
        for to, (task, server, errand) in list(self._watching.items()):
            if to.turn == turn:
                task.cancel()
                telling = asyncio.create_task(self.cancel(server, errand))
                self._telling.add(telling)
                telling.add_done_callback(self._telling.discard)

    async def _watch(self, server: Server, errand: Errand, to: StepRef) -> None:
        """A server that cannot be asked now is asked again later; one that refuses to say will say why when the result is fetched."""
        pause_s, until = FIRST_S, self.clock.monotonic() + LONGEST.total_seconds()
        with server.in_use():
            while self.clock.monotonic() < until:
                await self.clock.sleep(pause_s)
                pause_s = min(pause_s * GROWS, MOST_S)
                try:
                    found = await self._looked(server, errand)
                except ToolFailed as failed:
                    if failed.reason != "refused":
                        continue
                    break
                if found.status in _OVER:
                    break
                pause_s = max(pause_s, min((found.poll_interval or 0) / 1000, MOST_S))
        await self._woken(to)

    async def _woken(self, to: StepRef) -> None:
        """Until it is on disk: a full one has room again some day."""
        while True:
            try:
                return await self.wake(to)
            except DaimonError as failed:
                _LOG.warning("turn %s cannot be woken: %s", to.turn, failed)
                await self.clock.sleep(MOST_S)

    async def _looked(self, server: Server, errand: Errand) -> "types.Task":
        import mcp_types as types

        connection = await server.connected()
        request = types.GetTaskRequest(params=types.GetTaskRequestParams(task_id=errand.id))
        return await connection.asked(connection.client.session.send_request(request, types.GetTaskResult), server.settings.timeout_s)


async def may_begin(server: Server, tool: Listed) -> bool:
    """Can this tool be called as a task, by what it and its server say, and in the version that is spoken?"""
    if not tool.is_long:
        return False
    client = (await server.connected()).client
    tasks = client.server_capabilities.tasks
    return client.protocol_version == "2025-11-25" and tasks is not None and tasks.requests is not None and tasks.requests.tools is not None


async def _begun(client: "Client", request: "types.CallToolRequest", timeout_s: float) -> "types.CallToolResult | types.CreateTaskResult":
    """The SDK has the types of tasks, and takes no answer to a call but a finished one. What it refuses it hands over with its refusal, so
    a task is read from there. Raises ValidationError for what is neither."""
    import mcp_types as types

    either: TypeAdapter[types.CallToolResult | types.CreateTaskResult] = TypeAdapter(types.CallToolResult | types.CreateTaskResult)
    try:
        return await client.session.send_request(request, either, timeout_s)
    except ValidationError as refused:
        said = next((each["input"] for each in refused.errors(include_url=False) if each["type"] == "missing"), None)
        if not isinstance(said, dict) or "task" not in said:
            raise
        return types.CreateTaskResult.model_validate(said, by_name=False)


def _waiting(turn: TurnId, steps: tuple[Step, ...]) -> list[tuple[StepRef, Errand]]:
    over = {step.body.intent for step in steps if isinstance(step.body, Happened)}
    over |= {step.body.resolves for step in steps if isinstance(step.body, Received) and step.body.resolves is not None}
    started = [step.body for step in steps if isinstance(step.body, Started) and step.body.intent not in over]
    return [(StepRef(turn, each.intent), errand) for each in started if (errand := Errand.of(each.handle)) is not None]
