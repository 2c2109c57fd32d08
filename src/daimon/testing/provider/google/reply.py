"""Generated content, whole or as a stream; an event of it is a small whole. Thoughts are shown only to those who asked for them.

A call is never split. The first of a reply carries a signature, which the client must bring back with it. Arguments that are
not JSON never leave Google: it says MALFORMED_FUNCTION_CALL instead.
"""

import json
from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

from daimon.testing.provider.line import Call, Usage
from daimon.testing.provider.prompt import Prompt, compact
from daimon.testing.provider.said import Said, split
from daimon.testing.provider.shape import Frame, Json
from daimon.testing.provider.signature import sign

_FINISH = {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY"}
_Kind = Literal["reasoning", "text", "call"]


def whole(said: Said, prompt: Prompt) -> Json:
    if said.finish == "refusal":
        return _blocked(said)
    parts = [part for _, part in _parts(said, prompt, len(said.text + said.reasoning) or 1)]
    return _response(said, parts, finish=_finish(said))


def frames(said: Said, prompt: Prompt) -> list[Frame]:
    if said.finish == "refusal":
        return [Frame("close", compact(dict(_blocked(said))))]
    stream = [Frame(kind, compact(dict(_response(said, [part])))) for kind, part in _parts(said, prompt, said.chunk)]
    return [*stream, Frame("close", compact(dict(_response(said, [{"text": ""}], finish=_finish(said)))))]


def _parts(said: Said, prompt: Prompt, chunk: int) -> Iterator[tuple[_Kind, JsonValue]]:
    if prompt.wants_reasoning:
        for piece in split(said.reasoning, chunk):
            yield "reasoning", {"text": piece, "thought": True}
    for piece in split(said.text, chunk):
        yield "text", {"text": piece}
    if not _is_malformed(said):
        yield from (("call", _call(call, place)) for place, call in enumerate(said.calls))


def _call(call: Call, place: int) -> JsonValue:
    part: dict[str, JsonValue] = {"functionCall": {"name": call.tool, "args": json.loads(call.text), "id": call.id}}
    return {**part, "thoughtSignature": sign(call.tool + call.text)} if place == 0 else part


def _finish(said: Said) -> str:
    return "MALFORMED_FUNCTION_CALL" if _is_malformed(said) else _FINISH[said.finish]


def _is_malformed(said: Said) -> bool:
    try:
        return not all(isinstance(json.loads(call.text), dict) for call in said.calls)
    except ValueError:
        return True


def _response(said: Said, parts: list[JsonValue], finish: str = "") -> Json:
    candidate: dict[str, JsonValue] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    if finish == "MALFORMED_FUNCTION_CALL":
        candidate["finishMessage"] = f"Malformed function call: {said.calls[0].tool}({said.calls[0].text}"
    if finish == "SAFETY":
        candidate["safetyRatings"] = [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}]
    return {"candidates": [candidate], **_about(said)}


def _blocked(said: Said) -> Json:
    """A refused prompt has no candidate at all."""
    return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **_about(said)}


def _about(said: Said) -> dict[str, JsonValue]:
    about: dict[str, JsonValue] = {"modelVersion": said.model, "responseId": f"response-{said.number:06}"}
    return {"usageMetadata": _usage(said.usage), **about} if said.usage else about


def _usage(usage: Usage) -> JsonValue:
    """What was thought is beside the candidates here, not in them."""
    counts: dict[str, JsonValue] = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input_tokens}],
    }
    if usage.cached_tokens:
        counts["cachedContentTokenCount"] = usage.cached_tokens
        counts["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": usage.cached_tokens}]
    if usage.reasoning_tokens:
        counts["thoughtsTokenCount"] = usage.reasoning_tokens
    return counts
