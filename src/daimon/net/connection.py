"""One connection of the box: requests one after the other, or a tunnel.

A request names its site (`GET http://host/path`), or came through a tunnel that was opened for one. Each is checked anew, so neither a
kept connection nor a redirect is a way round a rule. Invariant: every head that begins becomes one attempt, whatever ends it.
"""

import asyncio
import contextlib
import ssl
from dataclasses import dataclass

from daimon.abi.label import Label
from daimon.net import hello, tunnel
from daimon.net.authority import Authority
from daimon.net.bounds import Bounds
from daimon.net.dial import Dialler
from daimon.net.exchange import Exchange, Near
from daimon.net.far import Far
from daimon.net.head import Request, read_request
from daimon.net.hello import Watch
from daimon.net.refusal import Malformed, Outcome, Refusal
from daimon.net.rules import Rules
from daimon.net.site import Site
from daimon.net.stream import Source, Stream
from daimon.net.target import meant, meant_by_connect
from daimon.net.tls import Sealed
from daimon.net.visit import Log, Visit

_LINGER_S = 2.0
_LINGER_BYTES = 256 * 1024
CUT = "cut, because the command that had opened this was over"


@dataclass(frozen=True, slots=True)
class Parts:
    rules: Rules
    dialler: Dialler
    authority: Authority
    log: Log
    bounds: Bounds


class Connection:
    def __init__(self, parts: Parts, stream: Stream) -> None:
        self._parts = parts
        self._stream = stream
        self._near: Near | None = Near(stream, Source(stream))
        """Where HTTP is spoken with the box; None while TLS begins or goes through."""
        self._far = Far(parts.dialler)
        self._opened: Site | None = None
        self._site: Site | None = None
        self._visit: Visit | None = None

    async def run(self) -> None:
        try:
            await self._serve()
        except Refusal as refusal:
            await self._refuse(refusal)
        except Malformed as fault:
            await self._refuse(Refusal(400, str(fault)))
        except OverflowError:
            await self._refuse(Refusal(431, "the head is longer, or has more headers, than anybody needs"))
        except TimeoutError:
            await self._refuse(Refusal(408, "nothing came for too long"))
        except OSError as error:
            self._end("failed", f"the connection broke: {error.strerror or type(error).__name__}")
        finally:
            self._end("failed", "it was stopped")
            self._far.drop()
            self._stream.close()

    def joins(self, label: Label) -> None:
        """Something was opened meanwhile, and what leaves from now on may come of it."""
        if self._visit is not None:
            self._visit.label = self._visit.label.joined(label)

    def may_stay(self) -> bool:
        visit = self._visit
        if visit is not None and not visit.is_over and visit.site.host and visit.method:
            is_inside = self._opened is not None and visit.method == "CONNECT"
            return self._parts.rules.may_stay(visit.site, "" if is_inside else visit.method, visit.path.partition("?")[0])
        return self._site is None or self._parts.rules.may_stay(self._site, "", "")

    def cut(self) -> None:
        """Records what is under way; whoever holds the task ends it."""
        is_tunnel = self._near is None
        self._end("passed" if is_tunnel else "failed", CUT)
        self._stream.abort()

    async def _serve(self) -> None:
        while await self._begins() and await self._one():
            pass
        self._far.leave()
        if self._near is not None:
            await _linger(self._near.stream)

    async def _one(self) -> bool:
        """May another request follow?"""
        assert self._near is not None
        self._visit = self._parts.log.begin(self._parts.rules.label)
        async with asyncio.timeout(self._parts.bounds.head_s):
            raw = await self._near.source.head(self._parts.bounds.head_bytes)
        request = read_request(raw or b"", self._parts.bounds.headers)
        is_tunnel = request.method == "CONNECT" and self._opened is None
        return await (self._connect(request) if is_tunnel else self._forward(request))

    async def _begins(self) -> bool:
        assert self._near is not None
        try:
            return await self._near.source.begins()
        except TimeoutError:
            return False

    async def _forward(self, request: Request) -> bool:
        assert self._near is not None
        assert self._visit is not None
        where, target = meant(request, self._opened)
        path, mark, query = target.partition("?")
        self._site = where
        self._visit.names(where, request.method, target)
        path = self._parts.rules.check_request(where, request.method, path)
        is_tls = self._opened is not None
        request = Request(request.method, path + mark + query, request.minor, request.headers)
        keyring = self._parts.rules.keyring(where, is_tls)
        return await Exchange(self._near, self._far, self._visit, keyring, self._parts.bounds).run(request, where, is_tls)

    async def _connect(self, request: Request) -> bool:
        """True: the tunnel was opened for us too, and requests follow."""
        assert self._near is not None
        assert self._visit is not None
        where = meant_by_connect(request)
        self._site = where
        self._visit.names(where, "CONNECT", "")
        self._parts.rules.check_site(where)
        if not self._near.source.is_clean:
            raise Malformed("the box went on before the tunnel was there")
        if self._parts.rules.must_open_tls(where):
            return await self._open(where)
        await self._pass(where)
        return False

    async def _pass(self, where: Site) -> None:
        assert self._visit is not None
        line = await self._far.reach(where, False)
        self._visit.watches(line.stream)
        watch = Watch(where.host, where.is_literal)
        first = await self._greeted(watch)
        if not self._parts.rules.may_stay(where, "CONNECT", ""):
            raise Refusal(403, CUT)
        await line.stream.write(first)
        try:
            await tunnel.carry(self._stream, line.stream, watch)
        except Malformed as fault:
            raise Refusal(403, str(fault)) from fault
        except OSError:
            self._stream.abort()  # a side that broke off, or fell silent: no more can be said of it from outside
        else:
            self._far.leave()
        self._end("passed", "")

    async def _open(self, where: Site) -> bool:
        self._opened = where
        watch = Watch(where.host, where.is_literal)
        first = await self._greeted(watch) + watch.rest()
        sealed = Sealed(self._stream, self._parts.authority.context(where.host), None)
        try:
            await sealed.handshake(first, self._parts.bounds.head_s)
        except ssl.SSLError as error:
            raise Refusal(403, f"the box does not take the session's certificate for {where.host}: {error.reason}") from error
        self._near = Near(sealed, Source(sealed))
        self._visit = None
        return True

    async def _greeted(self, watch: Watch) -> bytes:
        await self._stream.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self._near = None
        try:
            return await tunnel.greet(self._stream, watch, self._parts.bounds.head_s)
        except Malformed as fault:
            await self._stream.write(hello.ALERT)
            raise Refusal(403, str(fault)) from fault

    async def _refuse(self, refusal: Refusal) -> None:
        self._end(refusal.outcome, refusal.reason)
        if self._near is None:
            return
        if self._near.is_answered:
            self._stream.abort()
            return
        try:
            await self._near.stream.write(refusal.answer())
            await _linger(self._near.stream)
        except OSError:
            self._stream.abort()

    def _end(self, outcome: Outcome, reason: str) -> None:
        if self._visit is not None:
            self._visit.finish(outcome, reason)


async def _linger(stream: Stream) -> None:
    """A box that is still sending would lose the answer if the connection were closed under it."""
    await stream.end()
    start = stream.received
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            while stream.received - start < _LINGER_BYTES and await stream.read():
                pass
