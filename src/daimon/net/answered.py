"""The answer of a site to us: its head, and of its body as much as was asked for. Read as strictly as the box's are."""

import asyncio

from daimon.net import decoding, framing
from daimon.net.body import Reader
from daimon.net.bounds import Bounds
from daimon.net.decoding import Taken
from daimon.net.far import Line
from daimon.net.head import Answer, read_answer
from daimon.net.refusal import Malformed, Refusal

_HINTS = 8
"""Answers that only announce the answer: so many are dropped before it is a fault."""
_SLACK = 64 * 1024
"""What is packed can be a little longer than what it holds."""


async def answer_of(line: Line, bounds: Bounds) -> Answer:
    """Raises Refusal, and OSError where the line breaks."""
    try:
        for _ in range(_HINTS):
            answer = await _head(line, bounds)
            if answer.status == 101:
                raise Refusal(502, f"{line.site} changed its protocol unasked", "bad_answer")
            if answer.status >= 200:
                return answer
    except OverflowError as error:
        raise Refusal(502, f"the head of {line.site}'s answer is too long", "bad_answer") from error
    except Malformed as fault:
        raise Refusal(502, f"the answer of {line.site} is not good: {fault}", "bad_answer") from fault
    raise Refusal(502, f"{line.site} announces its answer again and again", "bad_answer")


async def body_of(line: Line, answer: Answer, method: str, most: int) -> Taken:
    """Not more than `most` bytes, unpacked. Packed bytes count too: what is longer packed than that is cut. Raises as `answer_of`."""
    try:
        body = framing.of_answer(answer, method)
        taken = decoding.taking(answer.headers.words(b"content-encoding"), most)
        reader, came = Reader(line.source, body), 0
        while not taken.is_cut and (data := await reader.next()):
            came += len(data)
            taken.feed(data)
            if came > most + _SLACK:
                taken.is_cut = True
        if not taken.is_cut:
            taken.end()
    except Malformed as fault:
        raise Refusal(502, f"the answer of {line.site} is not good: {fault}", "bad_answer") from fault
    return taken


async def _head(line: Line, bounds: Bounds) -> Answer:
    await line.source.begins()
    async with asyncio.timeout(bounds.head_s):
        raw = await line.source.head(bounds.head_bytes)
    if raw is None:
        raise Refusal(502, f"{line.site} ended the connection without an answer")
    return read_answer(raw, bounds.headers)
