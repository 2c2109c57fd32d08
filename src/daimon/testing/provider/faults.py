"""Everything that goes wrong between a client and a model, by name.

A fault makes the whole answer from an exchange: it may change what is said, answer with an error instead, or spoil the bytes of
a good reply. Each works in all shapes, and for whole replies as well as streams. Where a provider has no such status (nobody
but Anthropic knows 529), it says the same thing in its own way.

A new fault is one function and one line in the table.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from pydantic import JsonValue

from daimon.testing.provider.line import Call, Fault, Line
from daimon.testing.provider.prompt import Prompt
from daimon.testing.provider.said import Said
from daimon.testing.provider.shape import Frame, Problem, Shape, body_reply, json_reply
from daimon.testing.provider.wire import Answer, Hang, Reply, Reset

OTHER_MODEL = "somebody-else"
UNKNOWN_TOOL = "no_such_tool"
_WORDS_OF_REFUSAL = "I can't help with that."
_BROKEN_JSON = '{"id": "broken", "choices": [{"delta'
_HTML = {"content-type": "text/html; charset=utf-8"}
_LONG_LINE = "x" * 100_000
"""Longer than the buffer of a naive reader of lines."""


@dataclass(frozen=True, slots=True)
class Exchange:
    shape: Shape
    prompt: Prompt
    line: Line
    said: Said

    @property
    def fault(self) -> Fault:
        return self.line.fault or Fault("")


def reply(exchange: Exchange) -> Reply:
    """Nothing goes wrong."""
    if not exchange.prompt.streams:
        return json_reply(200, {}, exchange.shape.whole(exchange.said, exchange.prompt))
    return _stream(exchange, exchange.shape.frames(exchange.said, exchange.prompt))


def _stream(exchange: Exchange, frames: list[Frame] | tuple[Frame, ...]) -> Reply:
    return _pieces(exchange, tuple(frame.encode(exchange.shape.newline) for frame in frames))


def _pieces(exchange: Exchange, pieces: tuple[bytes, ...]) -> Reply:
    headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    return Reply(200, headers, pieces, pause_s=exchange.line.pause_s)


def _problem(name: str) -> Callable[[Exchange], Answer]:
    def answer(exchange: Exchange) -> Answer:
        fault, prompt = exchange.fault, exchange.prompt
        return exchange.shape.problem(
            Problem(
                name,
                number=exchange.said.number,
                model=prompt.model,
                tokens=prompt.tokens,
                retry_after=fault.retry_after,
                retry_after_ms=fault.retry_after_ms,
            )
        )

    return answer


def _html_502(_: Exchange) -> Answer:
    return body_reply(502, _HTML, b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\r\n")


def _wrong_content_type(_: Exchange) -> Answer:
    return body_reply(200, _HTML, b"<html><body>Sign in</body></html>")


def _refuse_connection(_: Exchange) -> Answer:
    return Reset()


def _hang(_: Exchange) -> Answer:
    return Hang()


def _slow_first_byte(exchange: Exchange) -> Answer:
    return replace(reply(exchange), wait_s=exchange.fault.delay_s)


def _stall(exchange: Exchange) -> Answer:
    return replace(_beginning(exchange), ending="held")


def _cut(exchange: Exchange) -> Answer:
    return replace(_beginning(exchange), ending="cut")


def _cut_clean(exchange: Exchange) -> Answer:
    return replace(_beginning(exchange), ending="closed")


def _beginning(exchange: Exchange) -> Reply:
    """The first events of a stream, or half of a whole reply under its full length."""
    good = reply(exchange)
    if exchange.prompt.streams:
        return replace(good, pieces=good.pieces[: exchange.fault.after])
    return replace(good, pieces=(_half(good.pieces[0]),))


def _half(piece: bytes) -> bytes:
    return piece[: len(piece) // 2]


def _cut_in_call(exchange: Exchange) -> Answer:
    exchange = _with_a_call(exchange)
    if not exchange.prompt.streams:
        return _cut(exchange)
    frames = exchange.shape.frames(exchange.said, exchange.prompt)
    last = max(index for index, frame in enumerate(frames) if frame.kind == "call")
    good = _stream(exchange, frames[: last + 1])
    return replace(good, pieces=(*good.pieces[:-1], _half(good.pieces[-1])), ending="cut")


def _with_a_call(exchange: Exchange) -> Exchange:
    if exchange.said.calls:
        return exchange
    tool = next(iter(exchange.prompt.tools), UNKNOWN_TOOL)
    call = Call(tool, {"query": "a question that takes more than one event"}, f"call_{exchange.said.number}_0")
    return replace(exchange, said=replace(exchange.said, calls=(call,), finish="calls"))


def _overloaded_in_stream(exchange: Exchange) -> Answer:
    """A whole reply has no inside: it is overloaded from the start."""
    if not exchange.prompt.streams:
        return _problem("529")(exchange)
    before = exchange.shape.frames(exchange.said, exchange.prompt)[: exchange.fault.after]
    return _stream(exchange, [*before, exchange.shape.overloaded])


def _garbage_json(exchange: Exchange) -> Answer:
    return _spoil(exchange, replace(exchange.shape.malformed, data=_BROKEN_JSON))


def _malformed(exchange: Exchange) -> Answer:
    return _spoil(exchange, exchange.shape.malformed)


def _spoil(exchange: Exchange, frame: Frame) -> Answer:
    """A bad event between good ones, or a bad body."""
    if not exchange.prompt.streams:
        return body_reply(200, {"content-type": "application/json"}, frame.data.encode())
    frames = exchange.shape.frames(exchange.said, exchange.prompt)
    return _stream(exchange, [*frames[: exchange.fault.after], frame, *frames[exchange.fault.after :]])


def _noise(exchange: Exchange) -> Answer:
    """Everything that the formats allow and nobody expects. The reply must be understood all the same."""
    if not exchange.prompt.streams:
        whole = {**exchange.shape.whole(exchange.said, exchange.prompt), **_unknown_fields()}
        return body_reply(200, {"content-type": "application/json"}, b"\r\n" + json.dumps(whole, indent=4).encode() + b"\r\n \r\n")
    lines = "".join(f"{line}\r\n" for line in exchange.shape.noise).encode()
    frames = exchange.shape.frames(exchange.said, exchange.prompt)
    stream = b"".join(lines + _with_unknown_fields(frame).encode("\r\n") for frame in frames)
    return _pieces(exchange, _split_inside_letters(stream))


def _unknown_fields() -> dict[str, JsonValue]:
    return {"x_weather": "schön 🌧", "x_long": _LONG_LINE}


def _with_unknown_fields(frame: Frame) -> Frame:
    try:
        data = json.loads(frame.data)
    except ValueError:
        return frame
    return replace(frame, data=json.dumps({**data, **_unknown_fields()}, ensure_ascii=False))


def _split_inside_letters(stream: bytes) -> tuple[bytes, ...]:
    """After the first byte of every letter that has more than one."""
    cuts = [0, *(index + 1 for index, byte in enumerate(stream) if byte >= 0xC0), len(stream)]
    return tuple(stream[start:end] for start, end in pairwise(cuts))


def _empty(exchange: Exchange) -> Answer:
    if not exchange.prompt.streams:
        return body_reply(200, {"content-type": "application/json"}, b"")
    return _stream(exchange, exchange.shape.nothing)


def _garbage_arguments(exchange: Exchange) -> Answer:
    first, *others = _with_a_call(exchange).said.calls
    calls = (replace(first, arguments=first.text[:-1] + ", oops"), *others)
    return reply(replace(exchange, said=replace(exchange.said, calls=calls, finish="calls")))


def _unknown_tool(exchange: Exchange) -> Answer:
    first, *others = _with_a_call(exchange).said.calls
    calls = (replace(first, tool=UNKNOWN_TOOL), *others)
    return reply(replace(exchange, said=replace(exchange.said, calls=calls, finish="calls")))


def _duplicate_call_id(exchange: Exchange) -> Answer:
    first, *others = _with_a_call(exchange).said.calls
    calls = (first, *(replace(other, id=first.id) for other in others or [first]))
    return reply(replace(exchange, said=replace(exchange.said, calls=calls, finish="calls")))


def _no_usage(exchange: Exchange) -> Answer:
    return reply(replace(exchange, said=replace(exchange.said, usage=None)))


def _other_model(exchange: Exchange) -> Answer:
    return reply(replace(exchange, said=replace(exchange.said, model=OTHER_MODEL)))


def _refusal(exchange: Exchange) -> Answer:
    said = replace(exchange.said, text=exchange.said.text or _WORDS_OF_REFUSAL, calls=(), finish="refusal")
    return reply(replace(exchange, said=said))


def _filtered(exchange: Exchange) -> Answer:
    return reply(replace(exchange, said=replace(exchange.said, calls=(), finish="filtered")))


def _length(exchange: Exchange) -> Answer:
    return reply(replace(exchange, said=replace(exchange.said, calls=(), finish="length")))


_PROBLEMS = ("401", "402", "credits", "403", "404", "408", "413", "too_long", "429", "quota", "500", "503", "529")

FAULTS: Mapping[str, Callable[[Exchange], Answer]] = {
    **{name: _problem(name) for name in _PROBLEMS},
    "502_html": _html_502,
    "wrong_content_type": _wrong_content_type,
    "refuse_connection": _refuse_connection,
    "hang": _hang,
    "slow_first_byte": _slow_first_byte,
    "stall": _stall,
    "cut": _cut,
    "cut_clean": _cut_clean,
    "cut_in_call": _cut_in_call,
    "overloaded_in_stream": _overloaded_in_stream,
    "garbage_json": _garbage_json,
    "malformed": _malformed,
    "noise": _noise,
    "empty": _empty,
    "garbage_arguments": _garbage_arguments,
    "unknown_tool": _unknown_tool,
    "duplicate_call_id": _duplicate_call_id,
    "no_usage": _no_usage,
    "other_model": _other_model,
    "refusal": _refusal,
    "filtered": _filtered,
    "length": _length,
}


def answer(exchange: Exchange) -> Answer:
    fault = exchange.line.fault
    return FAULTS[known(fault.name)](exchange) if fault else reply(exchange)


def known(name: str) -> str:
    if name not in FAULTS:
        raise ValueError(f"one of {', '.join(FAULTS)}; not {name!r}")
    return name
