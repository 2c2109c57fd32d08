"""The door through which the browser comes back: a listener of this machine alone, for one sign-in, on a port of its own.

Anything on this machine can knock, and any page in the browser can try. So only what was begun here counts: the very path, this very
listener as the host, and the state, which nobody else knows. All else gets a refusal and changes nothing: the sign-in waits on.
"""

import asyncio
import hmac
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from daimon.abi.errors import BadInput, WebFailed
from daimon.mcp.oauth.asking import host_of
from daimon.mcp.oauth.places import Places
from daimon.mcp.words import shown

PATH = "/callback"
MOST_HEAD = 16 * 1024
HEAD_S = 10.0


@dataclass(frozen=True, slots=True)
class Returned:
    """What the sign-in page sent back along with the browser."""

    code: str = field(repr=False)
    error: str = ""
    issuer: str = ""

    def checked(self, places: Places) -> str:
        """The code, if it comes from whom it was asked of. Raises WebFailed."""
        if self.issuer != places.issuer if self.issuer or places.names_itself else False:
            whom = shown(self.issuer, 200) or "nobody"
            raise WebFailed("refused", f"the answer to the sign-in at {host_of(places.issuer)} comes from {whom}; nothing was handed on")
        if self.error or not self.code:
            raise WebFailed("refused", f"{host_of(places.issuer)} did not let you in: {shown(self.error, 200) or 'it gave no code'}")
        return self.code


class Callback:
    def __init__(self, state: str, port: int = 0) -> None:
        self._state = state
        self._asked_port = port
        self._server: asyncio.Server | None = None
        self._returned: asyncio.Future[Returned] = asyncio.get_running_loop().create_future()
        self.port = 0

    @property
    def redirect(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"

    async def __aenter__(self) -> "Callback":
        try:
            self._server = await asyncio.start_server(self._knocked, "127.0.0.1", self._asked_port, limit=MOST_HEAD)
        except OSError as error:
            raise BadInput(f"port {self._asked_port} cannot be listened on: {error.strerror}; say another --port") from error
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        if self._returned.done() and not self._returned.cancelled():
            self._returned.exception()

    async def wait(self, seconds: float) -> Returned:
        """Raises WebFailed when nobody comes."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._returned)
        except TimeoutError:
            raise WebFailed("timeout", f"nobody signed in within {seconds:.0f} s; begin again when you are ready") from None

    async def _knocked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_S):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                said = self._read(head)
                if said is None:
                    writer.write(_page("400 Bad Request", "This is not the sign-in that was begun here. Nothing was changed."))
                else:
                    writer.write(_page("200 OK", "Daimon has what it needs. You can close this page."))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            said = None
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        if said is not None and not self._returned.done():
            self._returned.set_result(said)

    def _read(self, head: str) -> Returned | None:
        line, *rest = head.split("\r\n")
        method, _, target = line.rpartition(" ")[0].partition(" ")
        hosts = [each.partition(":")[2].strip() for each in rest if each.lower().startswith("host:")]
        if method != "GET" or hosts != [f"127.0.0.1:{self.port}"]:
            return None
        return returned(target, self._state)


def returned(address: str, state: str) -> Returned | None:
    """What an address says that the browser was sent back to. None: it is not the answer to this sign-in."""
    try:
        parts = urlsplit(address.strip())
        fields = parse_qs(parts.query, max_num_fields=32)
    except ValueError:
        return None
    if parts.path != PATH or any(len(values) != 1 for values in fields.values()):
        return None
    one = {name: values[0] for name, values in fields.items()}
    if not hmac.compare_digest(one.get("state", "").encode(), state.encode()):
        return None
    return Returned(one.get("code", ""), one.get("error_description") or one.get("error", ""), one.get("iss", ""))


def _page(status: str, words: str) -> bytes:
    body = f"<!doctype html><meta charset=utf-8><title>Daimon</title><p>{words}".encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\nCache-Control: no-store\r\n"
        "Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
