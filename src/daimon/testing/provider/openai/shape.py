"""OpenAI's chat completions, and with them all servers that call themselves compatible."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.testing.provider.openai.reply import CREATED, DONE, frames, whole
from daimon.testing.provider.openai.request import read
from daimon.testing.provider.prompt import compact
from daimon.testing.provider.shape import Frame, Json, Problem, Shape, json_reply
from daimon.testing.provider.wire import Asked, Reply

_LIMIT = 128_000


@dataclass(frozen=True, slots=True)
class _Words:
    status: int
    type: str
    code: str | None
    message: str


_QUOTA = "You exceeded your current quota, please check your plan and billing details."
_BUSY = "The server is currently overloaded with other requests. Sorry about that! Please try again later."
_TOO_LONG = "This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens."
_FAILED = "The server had an error while processing your request. Sorry about that!"

_PROBLEMS = {
    "invalid": _Words(400, "invalid_request_error", None, "The request is not valid."),
    "unknown_path": _Words(404, "invalid_request_error", None, "Invalid URL."),
    "wrong_key": _Words(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    "401": _Words(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    "402": _Words(402, "unknown_error", "invalid_request_error", "Insufficient Balance"),
    "credits": _Words(429, "insufficient_quota", "insufficient_quota", _QUOTA),
    "403": _Words(403, "request_forbidden", "unsupported_country_region_territory", "Country, region, or territory not supported"),
    "404": _Words(404, "invalid_request_error", "model_not_found", "The model `{model}` does not exist or you do not have access to it."),
    "408": _Words(408, "server_error", "request_timeout", "The request took too long to arrive."),
    "413": _Words(413, "invalid_request_error", "request_too_large", "The request body is too large."),
    "too_long": _Words(400, "invalid_request_error", "context_length_exceeded", _TOO_LONG),
    "429": _Words(429, "requests", "rate_limit_exceeded", "Rate limit reached for {model} on requests per min (RPM): Limit 3, Used 3."),
    "quota": _Words(429, "insufficient_quota", "insufficient_quota", _QUOTA),
    "500": _Words(500, "server_error", None, _FAILED),
    "503": _Words(503, "server_error", None, _BUSY),
    "529": _Words(503, "server_error", "overloaded", _BUSY),
}


def key(asked: Asked) -> str:
    return asked.headers.get("authorization", "").removeprefix("Bearer ")


def problem(problem: Problem) -> Reply:
    words = _PROBLEMS[problem.name]
    usual = words.message.format(model=problem.model, tokens=_LIMIT + problem.tokens, limit=_LIMIT)
    headers = {"x-request-id": f"req_{problem.number:06}"}
    if problem.retry_after is not None:
        headers["retry-after"] = f"{problem.retry_after}"
    if problem.retry_after_ms is not None:
        headers["retry-after-ms"] = f"{problem.retry_after_ms}"
    return json_reply(words.status, headers, _error(problem.message or usual, words.type, problem.code or words.code, problem.param))


def _error(message: str, type_: str, code: str | None, param: str | None = None) -> Json:
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}


def models(names: Sequence[str]) -> Json:
    rows: list[JsonValue] = [{"id": name, "object": "model", "created": CREATED, "owned_by": "daimon"} for name in names]
    return {"object": "list", "data": rows}


OPENAI = Shape(
    name="openai",
    newline="\n",
    key=key,
    read=read,
    whole=whole,
    frames=frames,
    problem=problem,
    models=models,
    overloaded=Frame("close", compact(dict(_error(_BUSY, "server_error", "overloaded")))),
    noise=(": OPENROUTER PROCESSING", "id: 7", "retry: 1000"),
    malformed=Frame("text", compact({"id": "chatcmpl-1", "object": "chat.completion.chunk"})),
    nothing=(
        Frame("open", compact({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": CREATED, "model": "none", "choices": []})),
        DONE,
    ),
)
