"""The driver of `abi.web.Web`: one request by the same guarded way out that boxes have, and its answer, whole and bounded.

    read the address → wait for a place at its host → resolve once, check, connect to that very address → TLS → head with secrets put in
    → answer, unpacked and looked through → where it says "elsewhere": all of it again for that address

Every hop is checked as the first one was, so a redirect leads nowhere that could not have been asked for. What goes along shrinks: another
site gets no credential and no cookie, and a request that does more than read goes to no other site at all. One connection serves one
request. The limits count for all hops together: the time, the bytes, the number of redirects.
"""

import asyncio
import ssl
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parsedate_to_datetime

from daimon.abi.errors import Denied, Misconfigured, NotFound, WebFailed
from daimon.abi.ids import SELF
from daimon.abi.ports import Clock
from daimon.abi.secret import Secrets
from daimon.abi.tool import Touched
from daimon.abi.web import WebRequest, WebResponse
from daimon.net import address, forward
from daimon.net.address import Address
from daimon.net.answered import answer_of, body_of
from daimon.net.bounds import BOUNDS, Bounds
from daimon.net.dial import Dialler, Local
from daimon.net.far import Far, Line
from daimon.net.framing import Exactly, Nothing
from daimon.net.head import Answer, Headers, Request
from daimon.net.hosts import Host, Hosts
from daimon.net.refusal import Malformed, Refusal
from daimon.net.resolve import Resolver
from daimon.net.standins import Filled, Standins, headers_of, names_any

READING = frozenset({"GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"})
"""The last two are how calendars are read; what they ask for stands in their body."""
METHODS = READING | {"POST", "PUT", "PATCH", "DELETE"}
AGENT = "Daimon (personal agent)"
_ELSEWHERE = frozenset({301, 302, 303, 307, 308})
_AS_IT_WAS = frozenset({307, 308})
_BUSY = frozenset({429, 503})
_OF_ONE_SITE = frozenset({"authorization", "cookie", "proxy-authorization"})
_OURS = frozenset({b"host", b"content-length", b"transfer-encoding", b"connection", b"accept-encoding", b"expect", b"upgrade", b"te"})


@dataclass(frozen=True, slots=True)
class _Hop:
    to: Address
    request: WebRequest
    until: float
    """On the clock of the loop."""


@dataclass(frozen=True, slots=True)
class _Got:
    answer: Answer
    body: bytes
    is_cut: bool
    touched: Touched


class WebClient:
    def __init__(
        self,
        *,
        resolver: Resolver,
        local: Local,
        secrets: Secrets,
        clock: Clock,
        bounds: Bounds = BOUNDS,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """As `Egress`: `local` maps names to addresses that the owner chose, wherever they are; `context` says whom to trust."""
        self._dialler = Dialler(resolver, local, clock, bounds, context)
        self._secrets = secrets
        self._clock = clock
        self._bounds = bounds
        self._hosts = Hosts(clock)

    async def request(self, request: WebRequest) -> WebResponse:
        try:
            return await self._followed(request, self._standins(request))
        except Refusal as refusal:
            raise _told(refusal) from refusal
        except Malformed as fault:
            raise WebFailed("bad_address", str(fault)) from fault

    def _standins(self, request: WebRequest) -> Standins:
        agent = request.agent or SELF
        try:
            return Standins(self._secrets.injections(request.secrets, agent) if request.secrets else ())
        except (NotFound, Denied, Misconfigured) as refused:
            raise WebFailed("refused", str(refused)) from refused

    async def _followed(self, request: WebRequest, standins: Standins) -> WebResponse:
        if request.method not in METHODS:
            raise Malformed(f"{request.method[:20]!r} is no method that is spoken; these are: {', '.join(sorted(METHODS))}")
        until = asyncio.get_running_loop().time() + request.timeout_s
        hop, touched = _Hop(address.read(request.url), request, until), list[Touched]()
        for _ in range(request.most_redirects + 1):
            got = await self._tried(hop, standins)
            touched.append(got.touched)
            where = got.answer.headers.all(b"location")
            if got.answer.status not in _ELSEWHERE or not where:
                return WebResponse(got.answer.status, str(hop.to), _headers(got.answer), got.body, got.is_cut, tuple(touched))
            hop = _next(hop, got.answer.status, standins.named(where[0]).decode("latin-1"))
        raise WebFailed("too_many_redirects", f"{hop.to.site} leads on and on: {request.most_redirects} redirects were followed")

    async def _tried(self, hop: _Hop, standins: Standins) -> _Got:
        """With a place at the host, and a word on how it went. One that comes late, to whomever, is slow."""
        host = self._hosts.of(hop.to.site.host)
        try:
            async with asyncio.timeout_at(hop.until), self._hosts.place(host):
                got = await self._exchanged(hop, standins)
        except TimeoutError as error:
            self._hosts.failed(host, "it did not answer in time")
            raise WebFailed("timeout", f"{hop.to.site} did not answer within the {hop.request.timeout_s:g} s that it had") from error
        except Refusal as refusal:
            if refusal.outcome == "failed":
                self._hosts.failed(host, refusal.reason)
            raise
        self._learn(host, got.answer)
        return got

    def _learn(self, host: Host, answer: Answer) -> None:
        if answer.status in _BUSY:
            told = _seconds(answer, self._clock.now())
            self._hosts.failed(host, f"it answered {answer.status} and asked for patience", told)
        elif answer.status >= 500:
            self._hosts.failed(host, f"it answered {answer.status}")
        else:
            self._hosts.succeeded(host)

    async def _exchanged(self, hop: _Hop, standins: Standins) -> _Got:
        filled = standins.fill(_request(hop), hop.request.body, hop.to.site, hop.to.is_tls)
        far = Far(self._dialler)
        try:
            line = await far.reach(hop.to.site, hop.to.is_tls)
            return await self._said(line, hop, filled, standins)
        except TimeoutError as error:
            raise Refusal(504, f"{hop.to.site} says nothing for too long") from error
        except OSError as error:
            raise Refusal(502, f"{hop.to.site} ended the connection") from error
        finally:
            far.drop()

    async def _said(self, line: Line, hop: _Hop, filled: Filled, standins: Standins) -> _Got:
        for name in filled.secrets:
            self._secrets.used(name, f"agent:{hop.request.agent or SELF}", hop.to.site.host)
        body = Exactly(len(filled.body)) if filled.body or hop.request.method not in READING else Nothing()
        head = filled.request
        if isinstance(body, Exactly):
            head = replace(head, headers=head.headers.plus((b"Content-Length", str(body.size).encode())))
        await line.stream.write(head.head() + filled.body)
        answer = await answer_of(line, self._bounds)
        if filled.secrets:
            forward.check_uncovered(answer)
        taken = await body_of(line, answer, hop.request.method, hop.request.most_bytes)
        shown = filled.keyring.blank(answer)
        data = standins.named(filled.keyring.inward().all(bytes(taken.data)))
        return _Got(shown, data, taken.is_cut, _touched(hop, line, answer, filled))


def _request(hop: _Hop) -> Request:
    """Raises Refusal."""
    own = headers_of(hop.request.headers).without(set(_OURS))
    if not own.all(b"user-agent"):
        own = own.plus((b"User-Agent", AGENT.encode()))
    if not own.all(b"accept"):
        own = own.plus((b"Accept", b"*/*"))
    host = (b"Host", hop.to.site.spelled(address.PORTS[hop.to.scheme]).encode("ascii"))
    ends = ((b"Accept-Encoding", b"gzip"), (b"Connection", b"close"))
    return Request(hop.request.method, hop.to.target, 1, Headers((host, *own.items, *ends)))


def _next(hop: _Hop, status: int, location: str) -> _Hop:
    """Raises Refusal for a redirect that would take more along than it may, Malformed is the site's fault here."""
    try:
        to = address.joined(hop.to, location)
    except Malformed as fault:
        raise Refusal(502, f"{hop.to.site} leads to a place that is none: {fault}", "bad_answer") from fault
    request = hop.request
    is_elsewhere = (to.site, to.is_tls) != (hop.to.site, hop.to.is_tls)
    if is_elsewhere and request.method not in READING:
        raise Refusal(
            403, f"{hop.to.site} wants this {request.method} to go to {to.site}; nothing was sent there, ask there if it is meant"
        )
    if is_elsewhere:
        kept = {name: value for name, value in request.headers.items() if name.lower() not in _OF_ONE_SITE and not names_any(value)}
        request = replace(request, headers=kept, body=b"")
    if status not in _AS_IT_WAS and request.method not in READING:
        bare = {name: value for name, value in request.headers.items() if not name.lower().startswith("content-")}
        request = replace(request, method="GET", headers=bare, body=b"")
    return _Hop(to, request, hop.until)


def _touched(hop: _Hop, line: Line, answer: Answer, filled: Filled) -> Touched:
    what = f"{hop.request.method} {hop.to.site}{hop.to.path}"
    used = f", with the secret {', '.join(filled.secrets)}" if filled.secrets else ""
    how = f"passed: {answer.status}, {line.stream.sent} bytes out, {line.stream.received} in{used}"
    return Touched("network", what[:500], how, hop.request.label)


def _headers(answer: Answer) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in answer.headers.items:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _seconds(answer: Answer, now: datetime) -> float | None:
    """How long the host wants to be left alone, where it says so."""
    told = b"".join(answer.headers.all(b"retry-after")[:1]).decode("latin-1")
    if told.isascii() and told.isdecimal():
        return float(told[:9])
    try:
        until = parsedate_to_datetime(told)
        return max(0.0, (until - now).total_seconds()) if until.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _told(refusal: Refusal) -> WebFailed:
    kinds = {403: "refused", 400: "bad_address", 504: "timeout"}
    return WebFailed(refusal.kind or kinds.get(refusal.status, "unreachable"), refusal.reason)
