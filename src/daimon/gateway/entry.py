"""One operation of the API, as data: what it is called with, what it answers, which right it needs.

A route is declared once. From the declaration come the checks of what was sent, the answer, the refusal of callers without the right, the
record of administrative acts, and its page in the OpenAPI document (`openapi.py`), so none of them can say anything else than the others.

    Entry("POST", "/v1/people/{id}/rank", self._change, Person, "Change what somebody may do", Right.ADMIN, body=Ranked)

The handler gets a `Call` and returns the value; it is written as `answers` says. A handler that answers with bytes of its own returns a
Starlette `Response` and declares `answers=bytes`; one that sometimes answers with another status returns `With` and declares it in
`others`. Errors are raised, as everywhere. Query and body are pydantic-checked dataclasses (`asked.py`): what is unknown or of the wrong
type is refused with what and why. A body of `bytes` is handed over as it came.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from daimon.abi.access import OWNERS_SOCKET, Caller, Right
from daimon.abi.errors import Forbidden
from daimon.gateway.asked import asked, checked, read_body

Q = TypeVar("Q")
B = TypeVar("B")
Method = Literal["GET", "POST", "PUT", "DELETE"]
CALLER = "daimon.caller"
"""Where the door leaves the caller in the ASGI scope."""
USUAL_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, B]):
    """A request that was understood. `query` and `body` are None where the entry declares none."""

    path: Mapping[str, str]
    query: Q
    body: B
    caller: Caller
    request: Request


@dataclass(frozen=True, slots=True)
class With:
    """A value under another status than the usual one."""

    value: object
    status: int


Handler = Callable[[Any], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Entry:
    method: Method
    path: str
    does: Handler
    answers: Any
    summary: str
    needs: Right | None
    """None: anybody may, whoever they are."""
    query: Any = None
    body: Any = None
    status: int = 200
    fails: tuple[int, ...] = ()
    """Statuses beside those that every entry may answer with."""
    most_bytes: int = USUAL_BYTES
    most_by: str = ""
    """The setting that says how many."""
    is_act: bool = field(default=False)
    """Recorded as an administrative act."""
    media: str = "application/json"
    """What the answer is written in."""
    others: Mapping[int, Any] = field(default_factory=dict)
    """What it answers under other statuses, where that is no error."""
    heeds: Mapping[str, Any] = field(default_factory=dict)
    """Headers that count, with their types."""


Answer = Callable[[Any, object, int], Response]
Record = Callable[[Caller, Entry, Mapping[str, str], str], Awaitable[None]]
"""Writes an act down: who, what, on what, outcome."""


async def nowhere(caller: Caller, entry: Entry, path: Mapping[str, str], outcome: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries as routes of Starlette."""

    answer: Answer
    record: Record = nowhere

    def routes(self, entries: tuple[Entry, ...]) -> list[Route]:
        """One for each path, so that a wrong method is told with those that there are; a word comes before a parameter in its place."""
        by_path: dict[str, dict[str, Entry]] = {}
        for entry in entries:
            by_path.setdefault(entry.path, {})[entry.method] = entry
        return [Route(path, self._serving(methods), methods=list(methods)) for path, methods in sorted(by_path.items(), key=_words_first)]

    def _serving(self, methods: Mapping[str, Entry]) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            entry = methods["GET" if request.method == "HEAD" else request.method]
            caller: Caller = request.scope.get(CALLER, OWNERS_SOCKET)
            outcome = "failed"
            try:
                response = await self._served(entry, request, caller)
                outcome = "done"
                return response
            except Exception as failure:
                outcome = getattr(failure, "code", "bug")
                raise
            finally:
                if entry.is_act:
                    await self.record(caller, entry, request.path_params, outcome)

        return serve

    async def _served(self, entry: Entry, request: Request, caller: Caller) -> Response:
        if entry.needs is not None:
            require(caller, entry.needs)
        query = asked(entry.query, request.query_params)
        made = await entry.does(Call(request.path_params, query, await _body(entry, request), caller, request))
        match made:
            case Response():
                return made
            case With(value=value, status=status):
                return self.answer(entry.others[status], value, status)
            case _:
                return self.answer(entry.answers, made, entry.status)


def _words_first(route: tuple[str, object]) -> list[bool]:
    return [part.startswith("{") for part in route[0].split("/")]


def require(caller: Caller, right: Right) -> None:
    """Raises Forbidden."""
    if right not in caller.rights:
        raise Forbidden(f"{caller.name!r} lacks the right {right.value!r} that this needs; the owner can give it to the device")


async def _body(entry: Entry, request: Request) -> Any:
    if entry.body is None:
        return None
    data = await read_body(request, entry.most_bytes, entry.most_by)
    return data if entry.body is bytes else checked(entry.body, data)
