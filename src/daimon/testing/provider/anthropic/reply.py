"""A message, whole or as a stream of events. Thoughts are shown only to those who asked for them, and signed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from daimon.testing.provider.line import Call, Usage
from daimon.testing.provider.prompt import Prompt, compact
from daimon.testing.provider.said import Said, split
from daimon.testing.provider.shape import Frame, Json
from daimon.testing.provider.signature import sign

_FINISH = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "filtered": "refusal", "refusal": "refusal"}
_Kind = Literal["open", "reasoning", "text", "call", "close"]


def whole(said: Said, prompt: Prompt) -> Json:
    message = {**_message(said), "content": [block.whole for block in _blocks(said, prompt)], **_stop(said)}
    return {**message, "usage": {**_full_usage(said.usage), "output_tokens": said.usage.output_tokens}} if said.usage else message


def frames(said: Said, prompt: Prompt) -> list[Frame]:
    start: dict[str, JsonValue] = {**_message(said), "content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None}
    if said.usage:
        start["usage"] = {**_full_usage(said.usage), "output_tokens": 1}
    stream = [_frame("open", "message_start", {"message": start})]
    for index, block in enumerate(_blocks(said, prompt)):
        stream.append(_frame(block.kind, "content_block_start", {"index": index, "content_block": block.empty}))
        if index == 0:
            stream.append(PING)
        stream += [_frame(block.kind, "content_block_delta", {"index": index, "delta": delta}) for delta in block.deltas]
        stream.append(_frame("close", "content_block_stop", {"index": index}))
    end: dict[str, JsonValue] = {"delta": _stop(said)}
    if said.usage:
        end["usage"] = {**_input_usage(said.usage), "output_tokens": said.usage.output_tokens}
    stream.append(_frame("close", "message_delta", end))
    return [*stream, _frame("close", "message_stop", {})]


@dataclass(frozen=True, slots=True)
class _Block:
    kind: _Kind
    whole: JsonValue
    empty: JsonValue
    """As it stands before the first delta."""
    deltas: list[JsonValue]


def _blocks(said: Said, prompt: Prompt) -> Iterator[_Block]:
    if said.reasoning and prompt.wants_reasoning:
        yield _thoughts(said.reasoning, said.chunk)
    if said.text:
        deltas: list[JsonValue] = [{"type": "text_delta", "text": piece} for piece in split(said.text, said.chunk)]
        yield _Block("text", {"type": "text", "text": said.text}, {"type": "text", "text": ""}, deltas)
    for call in said.calls:
        yield _call(call, said.chunk)


def _thoughts(text: str, chunk: int) -> _Block:
    signature = sign(text)
    deltas: list[JsonValue] = [{"type": "thinking_delta", "thinking": piece} for piece in split(text, chunk)]
    deltas.append({"type": "signature_delta", "signature": signature})
    whole = {"type": "thinking", "thinking": text, "signature": signature}
    return _Block("reasoning", {**whole}, {"type": "thinking", "thinking": "", "signature": ""}, deltas)


def _call(call: Call, chunk: int) -> _Block:
    """The first delta of a call is empty, as at Anthropic."""
    head: dict[str, JsonValue] = {"type": "tool_use", "id": call.id, "name": call.tool}
    deltas: list[JsonValue] = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *split(call.text, chunk))]
    return _Block("call", {**head, "input": _input(call)}, {**head, "input": {}}, deltas)


def _input(call: Call) -> JsonValue:
    try:
        value: JsonValue = json.loads(call.text)
    except ValueError:
        return call.text
    return value


def _message(said: Said) -> dict[str, JsonValue]:
    return {"id": f"msg_{said.number:06}", "type": "message", "role": "assistant", "model": said.model}


def _stop(said: Said) -> dict[str, JsonValue]:
    why: JsonValue = {"type": "refusal", "category": None, "explanation": None} if _FINISH[said.finish] == "refusal" else None
    return {"stop_reason": _FINISH[said.finish], "stop_sequence": None, "stop_details": why}


def _full_usage(usage: Usage) -> dict[str, JsonValue]:
    written: JsonValue = {"ephemeral_5m_input_tokens": usage.written_tokens, "ephemeral_1h_input_tokens": 0}
    return {**_input_usage(usage), "cache_creation": written, "service_tier": "standard"}


def _input_usage(usage: Usage) -> dict[str, JsonValue]:
    """What came from the cache, what went into it and the rest are three numbers; together they are the prompt."""
    return {
        "input_tokens": usage.input_tokens - usage.cached_tokens - usage.written_tokens,
        "cache_creation_input_tokens": usage.written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
    }


def _frame(kind: _Kind, event: str, data: Json) -> Frame:
    return Frame(kind, compact({"type": event, **data}), event)


PING = _frame("open", "ping", {})
