"""The workspaces of a running gateway, through the port that local ones have."""

import asyncio
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from pydantic import JsonValue

from daimon.abi.codec import encode
from daimon.abi.workspace import Change, Checkpoint, CheckpointId, Outcome, Tried, Workspace, WorkspaceId
from daimon.gateway.client import Client

T = TypeVar("T")
PATIENCE_S = 3_600.0
"""An apply of a large tree takes as long as it takes."""


class RemoteWorkspaces:
    def __init__(self, socket: Path) -> None:
        self._client = Client(socket, PATIENCE_S)

    async def new(self, directory: str, name: str = "") -> Workspace:
        return await self._post(Workspace, "/v1/workspaces", directory=directory, name=name)

    async def list(self) -> tuple[Workspace, ...]:
        return await self._get(tuple[Workspace, ...], "/v1/workspaces")

    async def checkpoints(self, workspace: WorkspaceId) -> tuple[Checkpoint, ...]:
        return await self._get(tuple[Checkpoint, ...], f"{_at(workspace)}/checkpoints")

    async def checkpoint(self, workspace: WorkspaceId, why: str, state: JsonValue = None) -> Checkpoint:
        """The shells of a running gateway save their own state."""
        return await self._post(Checkpoint, f"{_at(workspace)}/checkpoints", why=why)

    async def fork(self, workspace: WorkspaceId, name: str = "", at: CheckpointId | None = None) -> Workspace:
        return await self._post(Workspace, f"{_at(workspace)}/fork", name=name, at=at or "")

    async def diff(
        self, workspace: WorkspaceId, since: CheckpointId | None = None, until: CheckpointId | None = None
    ) -> tuple[Change, ...]:
        return await self._get(tuple[Change, ...], f"{_at(workspace)}/diff", since=since, until=until)

    async def text(
        self, workspace: WorkspaceId, paths: tuple[str, ...], since: CheckpointId | None = None, until: CheckpointId | None = None
    ) -> str:
        told = await self._get(dict[str, str], f"{_at(workspace)}/text", path=paths, since=since, until=until)
        return str(told["text"])

    async def run(self, workspace: WorkspaceId, command: tuple[str, ...], role: str) -> Tried:
        return await self._post(Tried, f"{_at(workspace)}/run", command=command, role=role)

    async def merge(self, fork: WorkspaceId, into: WorkspaceId) -> Outcome:
        return await self._post(Outcome, f"{_at(fork)}/merge", into=into)

    async def restore(self, workspace: WorkspaceId, to: CheckpointId) -> Outcome:
        return await self._post(Outcome, f"{_at(workspace)}/restore", to=to)

    async def discard(self, workspace: WorkspaceId) -> None:
        await asyncio.to_thread(self._client.ask, dict[str, str], "DELETE", _at(workspace))

    async def apply(self, workspace: WorkspaceId, paths: tuple[str, ...] = (), *, with_programs: bool = False) -> Outcome:
        return await self._post(Outcome, f"{_at(workspace)}/apply", paths=paths, with_programs=with_programs)

    async def undo(self, workspace: WorkspaceId | None = None) -> Outcome:
        return await self._post(Outcome, "/v1/undo", workspace=workspace or "")

    async def _get(self, kind: type[T], route: str, **query: str | tuple[str, ...] | None) -> T:
        return await asyncio.to_thread(self._client.ask, kind, "GET", route, None, {k: v for k, v in query.items() if v})

    async def _post(self, kind: type[T], route: str, **wish: str | bool | tuple[str, ...]) -> T:
        body = encode(dict[str, JsonValue], {k: list(v) if isinstance(v, tuple) else v for k, v in wish.items() if v})
        return await asyncio.to_thread(self._client.ask, kind, "POST", route, body)


def _at(workspace: WorkspaceId) -> str:
    return f"/v1/workspaces/{quote(workspace, safe='')}"
