"""One request to a site, and its answer to the box.

Order: everything that can be checked is, before the site is connected to; then the head goes out, the body behind it piece by piece, and
the answer comes back, perhaps before the body is through. Until the first byte of an answer went to the box, a failure is told as a
status; after that the connection is cut, since half an answer must not look like a whole one.
"""

import asyncio
from dataclasses import dataclass

from daimon.net import forward, framing
from daimon.net.body import Reader, relay
from daimon.net.bounds import Bounds
from daimon.net.far import Far, Line
from daimon.net.framing import Body, Chunked, Nothing
from daimon.net.head import Answer, Request, read_answer
from daimon.net.keyring import Keyring
from daimon.net.refusal import Malformed, Refusal
from daimon.net.site import Site
from daimon.net.stream import Source, Stream
from daimon.net.visit import Visit

_REPEATABLE = ("GET", "HEAD", "OPTIONS")
_HINTS = 8
"""Answers that only announce the answer: so many are dropped before it is a fault."""


@dataclass(slots=True)
class Near:
    """The box's side."""

    stream: Stream
    source: Source
    is_answered: bool = False


class Exchange:
    def __init__(self, near: Near, far: Far, visit: Visit, keyring: Keyring, bounds: Bounds) -> None:
        self._near = near
        self._far = far
        self._visit = visit
        self._keyring = keyring
        self._bounds = bounds

    async def run(self, request: Request, site: Site, is_tls: bool) -> bool:
        """May the box's connection go on? Raises Refusal, Malformed for what the box sent, OSError when the box has gone."""
        forward.check(request)
        body = framing.of_request(request)
        outgoing = forward.outgoing(request, site, is_tls, body)
        outgoing = outgoing if self._keyring.is_empty else forward.uncovered(self._keyring.fill(outgoing))
        if isinstance(body, Nothing):
            line, answer = await self._asked(outgoing, site, is_tls)
            may_go_on = await self._answered(line, answer, request)
        else:
            may_go_on = await self._with_body(request, outgoing, await self._reached(site, is_tls), body)
        self._near.is_answered = False
        self._visit.finish("passed")
        return may_go_on

    async def _asked(self, outgoing: Request, site: Site, is_tls: bool) -> tuple[Line, Answer]:
        """A site may have ended a kept line just now. Then, where asking twice is harmless, it is asked again on a new one."""
        line = await self._reached(site, is_tls)
        before = line.stream.received
        try:
            return line, await self._sent(line, outgoing)
        except Refusal:
            self._far.drop()
            if not line.is_used or line.stream.received != before or outgoing.method not in _REPEATABLE:
                raise
        line = await self._reached(site, is_tls)
        return line, await self._sent(line, outgoing)

    async def _reached(self, site: Site, is_tls: bool) -> Line:
        line = await self._far.reach(site, is_tls)
        self._visit.watches(line.stream)
        return line

    async def _sent(self, line: Line, outgoing: Request) -> Answer:
        await self._write_head(line, outgoing)
        return await self._answer(line)

    async def _write_head(self, line: Line, outgoing: Request) -> None:
        try:
            await line.stream.write(outgoing.head())
        except OSError as error:
            raise Refusal(502, f"{line.site} ended the connection") from error
        self._visit.secrets |= self._keyring.put_in

    async def _with_body(self, request: Request, outgoing: Request, line: Line, body: Body) -> bool:
        if request.minor and request.headers.all(b"expect"):
            await self._near.stream.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await self._write_head(line, outgoing)
        sender = asyncio.create_task(self._upload(line, body))
        try:
            may_go_on = await self._answered(line, await self._answer(line), request)
        except (Refusal, OSError):
            if sender.done() and (fault := sender.exception()):
                raise fault from None  # the answer failed because the request did
            raise
        finally:
            is_whole = sender.done() and not sender.exception() and sender.result()
            sender.cancel()
            await asyncio.wait([sender])
            if not is_whole:
                self._far.drop()
        return may_go_on and is_whole

    async def _upload(self, line: Line, body: Body) -> bool:
        """Did all of it go out? Whoever waits for the answer sees the line cut when the box does not complete it."""
        swap = self._keyring.outward()
        try:
            await relay(Reader(self._near.source, body), line.stream, swap, isinstance(body, Chunked))
        except (Malformed, TimeoutError) as fault:
            line.stream.abort()
            status = 400 if isinstance(fault, Malformed) else 408
            raise Refusal(status, str(fault) or "the body of the request does not come") from fault
        except OSError:
            if self._near.stream.is_over:
                line.stream.abort()  # otherwise it is the site that reads no more, and its answer may say why
            return False
        else:
            return True
        finally:
            self._visit.secrets |= swap.found

    async def _answer(self, line: Line) -> Answer:
        try:
            for _ in range(_HINTS):
                answer = await self._head(line)
                if answer.status == 101:
                    raise Refusal(502, f"{line.site} changed its protocol unasked")
                if answer.status >= 200:
                    return answer
        except TimeoutError as error:
            raise Refusal(504, f"{line.site} does not answer") from error
        except OSError as error:
            raise Refusal(502, f"{line.site} ended the connection before its answer") from error
        except OverflowError as error:
            raise Refusal(502, f"the head of {line.site}'s answer is too long") from error
        except Malformed as fault:
            raise Refusal(502, f"the answer of {line.site} is not good: {fault}") from fault
        raise Refusal(502, f"{line.site} announces its answer again and again")

    async def _head(self, line: Line) -> Answer:
        await self._begins(line)
        async with asyncio.timeout(self._bounds.head_s):
            raw = await line.source.head(self._bounds.head_bytes)
        if raw is None:
            raise Refusal(502, f"{line.site} ended the connection without an answer")
        return read_answer(raw, self._bounds.headers)

    async def _begins(self, line: Line) -> None:
        """An answer is waited for longer than any other byte, and not counted while the request still goes out."""
        now = asyncio.get_running_loop().time
        until, sent = now() + self._bounds.answer_s, line.stream.sent
        while True:
            try:
                await line.source.begins()
            except TimeoutError:
                if line.stream.sent != sent:
                    until, sent = now() + self._bounds.answer_s, line.stream.sent
                elif now() >= until:
                    raise
            else:
                return

    async def _answered(self, line: Line, answer: Answer, request: Request) -> bool:
        try:
            return await self._shown(line, answer, request)
        except Malformed as fault:
            raise Refusal(502, f"the answer of {line.site} is not good: {fault}") from fault
        except TimeoutError as error:
            raise Refusal(504, f"the answer of {line.site} does not come to its end, or the box does not take it") from error

    async def _shown(self, line: Line, answer: Answer, request: Request) -> bool:
        body = framing.of_answer(answer, request.method)
        if not self._keyring.is_empty:
            forward.check_uncovered(answer)
        is_chunked = forward.is_chunked(answer, body, request.minor)
        is_last = forward.is_last_of_box(request, body)
        shown = self._keyring.blank(forward.incoming(answer, body, is_chunked, is_last))
        self._near.is_answered = True
        await self._near.stream.write(shown.head())
        chunks = is_chunked and isinstance(body, Chunked)
        await relay(Reader(line.source, body), self._near.stream, self._keyring.inward(), chunks)
        if forward.is_last_of_site(answer, body):
            self._far.drop()
        return not is_last
