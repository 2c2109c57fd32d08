"""The other end of the API: what the command line uses to talk to a running gateway, over the Unix socket in the home.

JSON from the wire becomes our types here and nowhere else. An error of the API is raised as the class that the server raised; a
gateway that does not answer is `NotRunning`. Every call opens a connection of its own, so a client outlives any restart of its
gateway. It knows nothing of retries: whoever calls knows whether a call may be repeated (`send` with a key may).

`Client` blocks; `RemoteArchive` shows the same journal through the ports that a local one has.
"""

import asyncio
import http.client
import json
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from pydantic import ValidationError

from daimon.abi import errors
from daimon.abi.codec import adapter
from daimon.abi.errors import DaimonError, JournalStopped, NotRunning
from daimon.abi.event import Event
from daimon.abi.ids import BlobHash, EventId, SpaceId, TurnId
from daimon.abi.ports import Change, Count, Cursor, DeadLetter, Given, Grouping, Mailing
from daimon.abi.step import Step
from daimon.abi.turn import State, Turn
from daimon.gateway import unix
from daimon.gateway.answers import Caused, Costs, Kept, Letter, Reloaded, Status, Taken, Trace
from daimon.kernel.feed import Update
from daimon.kernel.questions import OpenQuestion

T = TypeVar("T")
TIMEOUT_S = 30.0
SILENCE_S = 600.0
"""A feed that says nothing for this long ends: the other end may hang."""
CONNECT_S = 5.0
_UPDATE: Any = Update
_NONE: Mapping[str, str | tuple[str, ...]] = {}
_ERRORS: dict[str, type[DaimonError]] = {
    kind.code: kind
    for kind in (
        errors.BadInput, errors.TooLarge, errors.Denied, errors.Misconfigured, errors.HomeBusy, errors.NotFound, errors.Erased,
        errors.Fenced, errors.Forbidden, errors.Outdated, errors.TooMany,
        errors.JournalFailed, errors.JournalFull, errors.JournalStopped, errors.JournalDamaged,
    )
}  # fmt: skip


class Client:
    def __init__(self, path: Path, timeout_s: float = TIMEOUT_S) -> None:
        self._path = path
        self._timeout_s = timeout_s

    def is_there(self) -> bool:
        """Does somebody listen?"""
        try:
            unix.connect(self._path, CONNECT_S).close()
        except OSError:
            return False
        return True

    def send(self, event: bytes, key: str | None = None) -> Taken:
        """Hands an event over; on disk when it returns. With a key it may be sent again after a failure."""
        return _read(Taken, self._call("POST", "/v1/events", event, {} if key is None else {"Idempotency-Key": key}))

    def stop(self, turn: TurnId) -> Turn:
        return _read(Turn, self._call("POST", f"/v1/turns/{quote(turn, safe='')}/stop"))

    def reload(self) -> Reloaded:
        """The gateway reads its settings and keys anew. Raises Misconfigured if they cannot be used; then it goes on with the old ones."""
        return _read(Reloaded, self._call("POST", "/v1/reload"))

    def poke(self, channel: str) -> None:
        """Try a channel that is down or locked out now. Raises NotFound."""
        self._call("POST", f"/v1/channels/{quote(channel, safe='')}/poke")

    def status(self) -> Status:
        return _read(Status, self._get("/v1/status"))

    def event(self, event: EventId) -> Caused:
        return _read(Caused, self._get(f"/v1/events/{quote(event, safe='')}"))

    def turns(self, limit: int, conversation: str | None = None, state: State | None = None) -> tuple[Turn, ...]:
        return _read(tuple[Turn, ...], self._get("/v1/turns", limit=limit, conversation=conversation, state=state))

    def trace(self, turn: TurnId) -> Trace:
        return _read(Trace, self._get(f"/v1/turns/{quote(turn, safe='')}"))

    def questions(self) -> tuple[OpenQuestion, ...]:
        return _read(tuple[OpenQuestion, ...], self._get("/v1/questions"))

    def letters(self, limit: int) -> tuple[Letter, ...]:
        return _read(tuple[Letter, ...], self._get("/v1/letters", limit=limit))

    def outbox(self, limit: int, channel: str = "", state: str = "") -> tuple[Mailing, ...]:
        """What went out to people, the newest first."""
        return _read(tuple[Mailing, ...], self._get("/v1/outbox", limit=limit, channel=channel or None, state=state or None))

    def costs(self, by: Grouping, since: str = "", until: str = "") -> Costs:
        """`since` and `until` are days such as 2026-11-15, both included; empty: no bound."""
        return _read(Costs, self._get("/v1/costs", by=by, since=since or None, until=until or None))

    def grants(self, is_all: bool) -> tuple[Given, ...]:
        """Those in force, or all that ever were; the newest first."""
        return _read(tuple[Given, ...], self._get("/v1/grants", all="true" if is_all else None))

    def revoke(self, grant: str) -> Given:
        return _read(Given, self._call("DELETE", f"/v1/grants/{quote(grant, safe='')}"))

    def blob(self, blob: BlobHash) -> bytes:
        return self._get(f"/v1/blobs/{quote(blob, safe='')}")

    def upload(self, data: bytes) -> BlobHash:
        """Stores a value, for a message to name. It may be sent again after a failure."""
        return _read(Kept, self._call("POST", "/v1/blobs", data)).blob

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        """As a service posts to a hook."""
        return self._call("POST", path, body, headers)

    def feed(self, conversation: str | None = None) -> "Feed":
        """Live progress from this moment on: whatever is sent after this returns will be seen."""
        return Feed(_connection(self._path, SILENCE_S), conversation)

    def ask(
        self, kind: type[T], method: str, path: str, body: bytes | None = None, query: Mapping[str, str | tuple[str, ...]] = _NONE
    ) -> T:
        """Any route. What could not be done because of conflicts is an answer too."""
        given = urlencode(query, doseq=True)
        return _read(kind, self._call(method, f"{path}?{given}" if given else path, body, fine=(409,)))

    def _get(self, path: str, **query: str | int | None) -> bytes:
        given = urlencode({name: value for name, value in query.items() if value is not None})
        return self._call("GET", f"{path}?{given}" if given else path)

    def _call(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None, fine: tuple[int, ...] = ()
    ) -> bytes:
        connection = _connection(self._path, self._timeout_s)
        try:
            with _speaking():
                # A server that refuses a large body hangs up before it has read all of it; its reason is waiting to be read.
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, path, body, headers or {})
                answer = connection.getresponse()
                data = answer.read()
        finally:
            connection.close()
        if answer.status >= 400 and (answer.status not in fine or data.startswith(b'{"error"')):
            raise _error(answer.status, data)
        return data


class Feed(AbstractContextManager["Feed"]):
    """An open stream of updates. `close` may be called from another thread and ends the iteration."""

    def __init__(self, connection: http.client.HTTPConnection, conversation: str | None) -> None:
        self._connection = connection
        query = "" if conversation is None else "?" + urlencode({"conversation": conversation})
        try:
            with _speaking():
                connection.request("GET", f"/v1/feed{query}")
                self._answer = connection.getresponse()
                first = self._answer.readline()
        except DaimonError:
            connection.close()
            raise
        if self._answer.status >= 400:
            connection.close()
            raise _error(self._answer.status, first)

    def __iter__(self) -> Iterator[Update]:
        """Ends after long silence; raises NotRunning when the gateway goes away."""
        while True:
            with _speaking():
                try:
                    line = self._answer.readline()
                except TimeoutError:
                    return
            if not line:
                raise NotRunning("the gateway closed its feed")
            if line.strip():
                update: Update = _read(_UPDATE, line)
                yield update

    def close(self) -> None:
        with suppress(OSError):
            if self._connection.sock is not None:
                self._connection.sock.shutdown(socket.SHUT_RDWR)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        self._connection.close()


class RemoteArchive:
    """The journal of a running gateway, through the ports of a local one: Archive, Overview, what was granted, and `get` of Store."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def turn(self, turn: TurnId) -> Turn:
        return (await asyncio.to_thread(self._client.trace, turn)).turn

    async def event(self, event: EventId) -> Event:
        return (await asyncio.to_thread(self._client.event, event)).event

    async def steps(self, turn: TurnId) -> tuple[Step, ...]:
        return (await asyncio.to_thread(self._client.trace, turn)).steps

    async def turn_of(self, event: EventId) -> Turn | None:
        return (await asyncio.to_thread(self._client.event, event)).turn

    async def late(self, turn: TurnId) -> tuple[Event, ...]:
        return (await asyncio.to_thread(self._client.trace, turn)).late

    async def turns(self, space: SpaceId, limit: int, conversation: str | None = None, state: State | None = None) -> tuple[Turn, ...]:
        return await asyncio.to_thread(self._client.turns, limit, conversation, state)

    def watch(self, after: Cursor) -> AsyncIterator[Change]:
        raise JournalStopped("a journal cannot be watched from outside; follow the feed of its gateway")

    async def given(self, space: SpaceId) -> tuple[Given, ...]:
        return await asyncio.to_thread(self._client.grants, True)

    async def count(self) -> Count:
        return (await asyncio.to_thread(self._client.status)).count

    async def letters(self, limit: int) -> tuple[DeadLetter, ...]:
        found = await asyncio.to_thread(self._client.letters, limit)
        return tuple(DeadLetter(letter.source, letter.reason, letter.body.encode(), letter.at) for letter in found)

    async def mailings(self, limit: int, channel: str = "", state: str = "") -> tuple[Mailing, ...]:
        return await asyncio.to_thread(self._client.outbox, limit, channel, state)

    async def get(self, blob: BlobHash) -> bytes:
        return await asyncio.to_thread(self._client.blob, blob)


def _connection(path: Path, timeout_s: float) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("localhost")
    try:
        connection.sock = unix.connect(path, timeout_s)
    except OSError:
        raise NotRunning(f"no gateway answers on {path}; start one with `daimon up`") from None
    return connection


@contextmanager
def _speaking() -> Iterator[None]:
    """Whatever breaks on the line means the same to the caller: no answer."""
    try:
        yield
    except TimeoutError:
        raise NotRunning("the gateway did not answer in time") from None
    except (OSError, http.client.HTTPException, ValueError) as broken:  # ValueError: the socket was closed by another thread
        raise NotRunning(f"the gateway went away in mid-sentence ({type(broken).__name__})") from None


def _read(kind: type[T], data: bytes) -> T:
    shape: Any = kind
    try:
        value: T = adapter(shape).validate_json(data)
    except ValidationError as strange:
        first = strange.errors(include_url=False)[0]
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise DaimonError(f"the gateway's answer cannot be read ({what}); does it run another release? Restart it") from None
    return value


def _error(status: int, data: bytes) -> DaimonError:
    try:
        told = json.loads(data)["error"]
        return _ERRORS.get(told["code"], DaimonError)(str(told["message"]))
    except (ValueError, KeyError, TypeError):
        return DaimonError(f"the gateway answered {status} with something that is no JSON error")
