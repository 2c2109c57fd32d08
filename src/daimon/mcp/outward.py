"""Requests of the SDK's HTTP client, by the same guarded way out that boxes and `web_fetch` have.

    read the address → resolve once, check, connect to that very address → TLS → head with secrets put in → answer, piece by piece

It is a transport under that client, so the SDK speaks the protocol and never has a socket. The headers with secrets are known here only;
they are put in at the last hop, for the server's own address, if the secret is for that host, and taken out of what comes back. What the
SDK hands over is sent as it is: a name of a secret that a model wrote into an argument stays a name. One connection serves one request.

What does not get through is an answer too, one that the protocol knows, with a code that says whether anything had left (`NOT_SENT`,
`IN_DOUBT`). An answer that is no stream of events is cut off at the longest message; packed ones are not taken.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import httpx2

from daimon.abi.errors import Denied, Misconfigured, NotFound
from daimon.abi.ids import SELF
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.secret import Secrets
from daimon.abi.tool import Touched
from daimon.mcp.bounds import BOUNDS, IN_DOUBT, NOT_SENT, REFUSED, Bounds
from daimon.mcp.oauth.challenge import wanted
from daimon.net import address, forward, framing
from daimon.net.address import Address
from daimon.net.answered import answer_of
from daimon.net.body import Reader
from daimon.net.bounds import BOUNDS as NET
from daimon.net.dial import Dialler
from daimon.net.far import Far, Line
from daimon.net.head import Answer, Headers, Request
from daimon.net.keyring import Keyring
from daimon.net.refusal import Malformed, Refusal
from daimon.net.standins import Filled, Standins, headers_of
from daimon.net.swap import Swap

MOST_TOUCHED = 100
_UNAUTHORIZED, _ASKS = 401, b"www-authenticate"
HELD_BACK = "daimon.held_back"
"""Of a request that nobody can sign: why. It is not sent, and whoever made it hears that."""
_OURS = frozenset({b"host", b"connection", b"accept-encoding", b"content-length", b"transfer-encoding"})
_EVENTS, _JSON = "text/event-stream", "application/json"
_SIGN_IN = "; sign in with `daimon mcp login` (one that is being added: with --oauth), or give it a secret"
_MORE = "; what it was given does not cover this: sign in again with `daimon mcp login`"


class Outward(httpx2.AsyncBaseTransport):
    def __init__(
        self, dialler: Dialler, secrets: Secrets, url: str, headers: Mapping[str, str], names: tuple[str, ...], bounds: Bounds = BOUNDS
    ) -> None:
        """`headers` go to this address only. Where a secret belongs they hold `{vault:NAME}`, and `names` says which do."""
        self._dialler, self._secrets, self._names, self._bounds = dialler, secrets, names, bounds
        self._to, self._headers = address.read(url), headers
        self.label: Label = UNLABELLED
        self.touched: list[Touched] = []
        self.why = ""
        self.is_refused = False
        """It did not take what it was shown last, or wanted to be shown something."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if why := request.extensions.get(HELD_BACK):
            return self._instead(request, _UNAUTHORIZED, NOT_SENT, str(why))
        body = await request.aread()
        far, code = Far(self._dialler), NOT_SENT
        try:
            to = address.read(str(request.url))
            filled = self._filled(request, to, body)
            line = await far.reach(to.site, to.is_tls)
            code = IN_DOUBT
            return await self._answered(request, to, line, filled, far, body)
        except (Refusal, Malformed) as refused:
            far.drop()
            return self._instead(request, 403 if code == NOT_SENT else 502, code, str(refused))
        except (TimeoutError, OSError) as error:
            far.drop()
            return self._instead(request, 502, code, f"{request.url.host} ended the connection, or says nothing ({type(error).__name__})")
        except BaseException:
            far.drop()
            raise

    def _filled(self, request: httpx2.Request, to: Address, body: bytes) -> Filled:
        """Raises Refusal, with what is wrong with a secret but never with its value."""
        is_ours = (to.site, to.is_tls) == (self._to.site, self._to.is_tls)
        own = headers_of(self._headers) if is_ours else Headers(())
        try:
            standins = Standins(self._secrets.injections(self._names, SELF) if self._names and is_ours else ())
        except (NotFound, Denied, Misconfigured) as refused:
            raise Refusal(403, str(refused)) from None
        found = standins.fill(Request(request.method, "/", 1, own), b"", to.site, to.is_tls)
        given = {name.lower() for name, _ in own.items}
        rest = tuple(item for item in request.headers.raw if item[0].lower() not in _OURS | given)
        host = (b"Host", to.site.spelled(address.PORTS[to.scheme]).encode("ascii"))
        size = ((b"Content-Length", str(len(body)).encode()),) if body or request.method in ("POST", "PUT", "PATCH") else ()
        ends = ((b"Accept-Encoding", b"identity"), (b"Connection", b"close"))
        put_in = found.request.headers.without(set(_OURS)).items
        head = Request(request.method, to.target, 1, Headers((host, *put_in, *rest, *size, *ends)))
        return Filled(head, body, found.keyring, found.secrets)

    async def _answered(self, request: httpx2.Request, to: Address, line: Line, filled: Filled, far: Far, body: bytes) -> httpx2.Response:
        for name in filled.secrets:
            self._secrets.used(name, f"agent:{SELF}", to.site.host)
        await line.stream.write(filled.request.head() + body)
        async with asyncio.timeout(NET.answer_s):
            answer = await answer_of(line, NET)
        forward.check_uncovered(answer)
        shown = filled.keyring.blank(answer)
        self._touch(request.method, to, answer, filled)
        self.is_refused = answer.status == _UNAUTHORIZED
        bare = httpx2.Response(answer.status, headers=[item for item in shown.headers.items if item[0].lower() == _ASKS])
        if wanted(bare) is not None:
            far.drop()
            return self._instead(request, answer.status, REFUSED, f"{to.site} answered {answer.status}{_MORE}", shown)
        kind = b"".join(shown.headers.all(b"content-type")[:1]).decode("latin-1").lower()
        is_told = kind.startswith((_EVENTS, _JSON)) and not self.is_refused  # a refusal to let anybody in says nothing of the call
        if answer.status >= 400 and answer.status != 404 and not is_told:
            far.drop()
            why = f"{to.site} answered {answer.status}{_SIGN_IN if answer.status in (401, 403) else ''}"
            return self._instead(request, answer.status, REFUSED, why, shown)
        reader = Reader(line.source, framing.of_answer(answer, request.method))
        stream = _Stream(self, far, line, reader, filled.keyring, None if kind.startswith(_EVENTS) else self._bounds.message_bytes)
        return httpx2.Response(answer.status, headers=list(shown.headers.items), stream=stream, request=request)

    def _instead(self, request: httpx2.Request, status: int, code: int, why: str, shown: Answer | None = None) -> httpx2.Response:
        if code != REFUSED or status not in (_UNAUTHORIZED, 403):  # those end a call, and not the session
            self.why = why
        said = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": why}}).encode()
        asked = [item for item in shown.headers.items if item[0].lower() == _ASKS] if shown else []
        return httpx2.Response(status, headers=[*asked, (b"Content-Type", _JSON.encode())], content=said, request=request)

    def _touch(self, method: str, to: Address, answer: Answer, filled: Filled) -> None:
        used = f", with the secret {', '.join(filled.secrets)}" if filled.secrets else ""
        if len(self.touched) < MOST_TOUCHED:
            self.touched.append(Touched("network", f"{method} {to.site}{to.path}"[:500], f"passed: {answer.status}{used}", self.label))


@dataclass(slots=True)
class _Stream(httpx2.AsyncByteStream):
    transport: Outward
    far: Far
    line: Line
    reader: Reader
    keyring: Keyring
    most: int | None
    _swap: Swap = field(init=False)

    def __post_init__(self) -> None:
        self._swap = self.keyring.inward()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came = 0
        try:
            while data := await self.reader.next():
                came += len(data)
                if self.most is not None and came > self.most:
                    raise self._broken(f"the answer of {self.line.site} is longer than {self.most:,} bytes")
                if data := self._swap.feed(data):
                    yield data
            if data := self._swap.end():
                yield data
        except (Malformed, Refusal, TimeoutError, OSError) as broken:
            raise self._broken(f"the answer of {self.line.site} breaks off ({type(broken).__name__})") from None

    def _broken(self, why: str) -> httpx2.ReadError:
        self.transport.why = why
        return httpx2.ReadError(why)

    async def aclose(self) -> None:
        self.far.drop()
