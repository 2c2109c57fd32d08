"""A chat completion, whole or as a stream. Thoughts go out as `reasoning_content`, as DeepSeek and most compatible servers do."""

from pydantic import JsonValue

from daimon.testing.provider.line import Call, Usage
from daimon.testing.provider.prompt import Prompt, compact
from daimon.testing.provider.said import Said, split
from daimon.testing.provider.shape import Frame, Json

CREATED = 1_767_225_600
"""The same at all times, so that the same script gives the same bytes."""

_FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length", "filtered": "content_filter", "refusal": "stop"}
_LOGPROB = -0.125
_TOKEN_CHARACTERS = 4

DONE = Frame("close", "[DONE]")


def whole(said: Said, prompt: Prompt) -> Json:
    message: dict[str, JsonValue] = {"role": "assistant", "content": _content(said), "refusal": _refusal(said), "annotations": []}
    if said.reasoning:
        message["reasoning_content"] = said.reasoning
    if said.calls:
        message["tool_calls"] = [_call(call) for call in said.calls]
    choice: dict[str, JsonValue] = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(said.text, prompt),
        "finish_reason": _FINISH[said.finish],
    }
    completion: dict[str, JsonValue] = {**_envelope(said, "chat.completion"), "choices": [choice]}
    return {**completion, "usage": _usage(said.usage)} if said.usage else completion


def frames(said: Said, prompt: Prompt) -> list[Frame]:
    usage: dict[str, JsonValue] = {"usage": None} if prompt.wants_usage else {}
    envelope = {**_envelope(said, "chat.completion.chunk"), **usage}

    def chunk(delta: Json, text: str = "", finish: str | None = None) -> str:
        choice: dict[str, JsonValue] = {
            "index": 0,
            "delta": dict(delta),
            "logprobs": _logprobs(text, prompt) if text else None,
            "finish_reason": finish,
        }
        return compact({**envelope, "choices": [choice]})

    refused = said.finish == "refusal"
    start: Json = {"role": "assistant", "content": None if refused or not said.text else "", "refusal": None}
    stream = [Frame("open", chunk(start))]
    stream += [Frame("reasoning", chunk({"reasoning_content": piece})) for piece in split(said.reasoning, said.chunk)]
    stream += [
        Frame("text", chunk({"refusal": piece}) if refused else chunk({"content": piece}, piece)) for piece in split(said.text, said.chunk)
    ]
    for index, call in enumerate(said.calls):
        stream.append(Frame("call", chunk({"tool_calls": [{"index": index, **_call(call), "function": _function(call.tool, "")}]})))
        for piece in split(call.text, said.chunk):
            stream.append(Frame("call", chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})))
    stream.append(Frame("close", chunk({}, finish=_FINISH[said.finish])))
    if prompt.wants_usage and said.usage:
        stream.append(Frame("close", compact({**envelope, "choices": [], "usage": _usage(said.usage)})))
    return [*stream, DONE]


def _envelope(said: Said, kind: str) -> dict[str, JsonValue]:
    return {
        "id": f"chatcmpl-{said.number:06}",
        "object": kind,
        "created": CREATED,
        "model": said.model,
        "service_tier": "default",
        "system_fingerprint": "fp_daimon",
    }


def _content(said: Said) -> str | None:
    return said.text if said.text and said.finish != "refusal" else None


def _refusal(said: Said) -> str | None:
    return said.text if said.finish == "refusal" else None


def _call(call: Call) -> dict[str, JsonValue]:
    return {"id": call.id, "type": "function", "function": _function(call.tool, call.text)}


def _function(name: str, arguments: str) -> dict[str, JsonValue]:
    return {"name": name, "arguments": arguments}


def _usage(usage: Usage) -> JsonValue:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _logprobs(text: str, prompt: Prompt) -> JsonValue:
    if prompt.logprobs is None:
        return None
    alternatives = prompt.logprobs
    return {"content": [_token(token, alternatives) for token in split(text, _TOKEN_CHARACTERS)], "refusal": None}


def _token(token: str, alternatives: int) -> JsonValue:
    """The first alternative is the token itself, the others are each half as likely or less."""
    others = [token, *(f"{token}{place}" for place in range(1, alternatives))][:alternatives]
    return {**_likely(token, 1), "top_logprobs": [_likely(other, place) for place, other in enumerate(others, 1)]}


def _likely(token: str, place: int) -> dict[str, JsonValue]:
    return {"token": token, "logprob": _LOGPROB * place * place, "bytes": list(token.encode())}
