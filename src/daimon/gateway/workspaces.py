"""Workspaces over HTTP: the port `Workspaces`, one route for each of its operations.

    GET    /v1/workspaces                     all of them
    POST   /v1/workspaces                     {"directory", "name"}: one for a directory of the owner's
    DELETE /v1/workspaces/ID                  discard it
    GET    /v1/workspaces/ID/checkpoints      newest first
    POST   /v1/workspaces/ID/checkpoints      {"why"}: make one
    GET    /v1/workspaces/ID/diff             ?since ?until (checkpoints)
    GET    /v1/workspaces/ID/text             the same as unified text; ?path (repeated)
    POST   /v1/workspaces/ID/fork             {"name", "at"}
    POST   /v1/workspaces/ID/run              {"command", "role"}: in a box on it
    POST   /v1/workspaces/ID/merge            {"into"}
    POST   /v1/workspaces/ID/restore          {"to"}
    POST   /v1/workspaces/ID/apply            {"paths", "with_programs"}
    POST   /v1/undo                           {"workspace"}

A merge or an apply that met conflicts is answered with 409 and what they were; nothing was changed then.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass as checked
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from daimon.abi.cleaning import cleaned
from daimon.abi.codec import adapter
from daimon.abi.errors import BadInput
from daimon.abi.plain import clean
from daimon.abi.workspace import Change, Checkpoint, CheckpointId, Outcome, Trials, Tried, Workspace, WorkspaceId, Workspaces

CONFLICT = 409
MOST_BYTES = 1 << 20
Answer = Callable[[Any, object, int], Response]


@checked(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid", strict=True))
class Wish:
    """What a request may hold. Each route takes what it knows."""

    directory: str = ""
    name: str = ""
    why: str = ""
    at: str = ""
    into: str = ""
    to: str = ""
    workspace: str = ""
    command: tuple[str, ...] = ()
    role: str = "worker"
    paths: tuple[str, ...] = ()
    with_programs: bool = False


@dataclass(frozen=True, slots=True)
class WorkspaceRoutes:
    workspaces: Workspaces
    trials: Trials
    answer: Answer

    def all(self) -> list[Route]:
        one = "/v1/workspaces/{id}"
        posts: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/v1/workspaces": self._new,
            "/v1/undo": self._undo,
            f"{one}/checkpoints": self._checkpoint,
            f"{one}/fork": self._fork,
            f"{one}/run": self._run,
            f"{one}/merge": self._merge,
            f"{one}/restore": self._restore,
            f"{one}/apply": self._apply,
        }
        return [
            Route("/v1/workspaces", self._list),
            Route(one, self._discard, methods=["DELETE"]),
            Route(f"{one}/checkpoints", self._checkpoints),
            Route(f"{one}/diff", self._diff),
            Route(f"{one}/text", self._text),
            *(Route(path, does, methods=["POST"]) for path, does in posts.items()),
        ]

    async def _list(self, request: Request) -> Response:
        return self._told(tuple[Workspace, ...], await self.workspaces.list())

    async def _new(self, request: Request) -> Response:
        wish = await _wish(request)
        return self._told(Workspace, await self.workspaces.new(_needed(wish.directory, "directory"), wish.name), 201)

    async def _discard(self, request: Request) -> Response:
        await self.workspaces.discard(_id(request))
        return self._told(dict[str, str], {"discarded": _id(request)})

    async def _checkpoints(self, request: Request) -> Response:
        return self._told(tuple[Checkpoint, ...], await self.workspaces.checkpoints(_id(request)))

    async def _checkpoint(self, request: Request) -> Response:
        wish = await _wish(request)
        return self._told(Checkpoint, await self.workspaces.checkpoint(_id(request), wish.why or "by hand"), 201)

    async def _diff(self, request: Request) -> Response:
        return self._told(tuple[Change, ...], await self.workspaces.diff(_id(request), *_span(request)))

    async def _text(self, request: Request) -> Response:
        paths = tuple(request.query_params.getlist("path"))
        return self._told(dict[str, str], {"text": await self.workspaces.text(_id(request), paths, *_span(request))})

    async def _fork(self, request: Request) -> Response:
        wish = await _wish(request)
        return self._told(Workspace, await self.workspaces.fork(_id(request), wish.name, _checkpoint(wish.at)), 201)

    async def _run(self, request: Request) -> Response:
        wish = await _wish(request)
        if not wish.command:
            raise BadInput("'command' is missing in the request: a list of words")
        return self._told(Tried, await self.trials.run(_id(request), wish.command, wish.role))

    async def _merge(self, request: Request) -> Response:
        wish = await _wish(request)
        return self._came_of(await self.workspaces.merge(_id(request), WorkspaceId(_needed(wish.into, "into"))))

    async def _restore(self, request: Request) -> Response:
        wish = await _wish(request)
        return self._came_of(await self.workspaces.restore(_id(request), CheckpointId(_needed(wish.to, "to"))))

    async def _apply(self, request: Request) -> Response:
        wish = await _wish(request)
        return self._came_of(await self.workspaces.apply(_id(request), wish.paths, with_programs=wish.with_programs))

    async def _undo(self, request: Request) -> Response:
        wish = await _wish(request)
        return self._came_of(await self.workspaces.undo(WorkspaceId(wish.workspace) if wish.workspace else None))

    def _came_of(self, outcome: Outcome) -> Response:
        return self._told(Outcome, outcome, CONFLICT if outcome.conflicts else 200)

    def _told(self, kind: Any, value: object, status: int = 200) -> Response:
        return self.answer(kind, cleaned(value, clean), status)  # names of files may be no text


async def _wish(request: Request) -> Wish:
    body = await request.body()
    if len(body) > MOST_BYTES:
        raise BadInput(f"the request has {len(body)} bytes, at most {MOST_BYTES} are read")
    try:
        wish: Wish = adapter(Wish).validate_json(body or b"{}")
    except ValidationError as broken:
        first = broken.errors(include_url=False)[0]
        raise BadInput(f"the request cannot be read: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return wish


def _id(request: Request) -> WorkspaceId:
    return WorkspaceId(request.path_params["id"])


def _span(request: Request) -> tuple[CheckpointId | None, CheckpointId | None]:
    asked = request.query_params
    return _checkpoint(asked.get("since", "")), _checkpoint(asked.get("until", ""))


def _checkpoint(text: str) -> CheckpointId | None:
    return CheckpointId(text) if text else None


def _needed(text: str, name: str) -> str:
    if not text:
        raise BadInput(f"{name!r} is missing in the request")
    return text
