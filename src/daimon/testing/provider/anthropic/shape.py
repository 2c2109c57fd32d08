"""Anthropic's messages."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.testing.provider.anthropic.reply import frames, whole
from daimon.testing.provider.anthropic.request import read
from daimon.testing.provider.line import Usage
from daimon.testing.provider.prompt import Prompt, compact
from daimon.testing.provider.said import Said
from daimon.testing.provider.shape import Frame, Json, Problem, Shape, json_reply
from daimon.testing.provider.wire import Asked, Reply

_LIMIT = 200_000
_CREATED = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class _Words:
    status: int
    type: str
    message: str


_CREDITS = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."
_QUOTA = "You have reached your specified API usage limits. You will regain access on 2026-02-01 at 00:00 UTC."
_RATE = "This request would exceed your organization's rate limit of 50 requests per minute."

_PROBLEMS = {
    "invalid": _Words(400, "invalid_request_error", "The request is not valid."),
    "unknown_path": _Words(404, "not_found_error", "Not found"),
    "wrong_key": _Words(401, "authentication_error", "invalid x-api-key"),
    "401": _Words(401, "authentication_error", "invalid x-api-key"),
    "402": _Words(402, "billing_error", "There is an issue with your billing or payment information."),
    "credits": _Words(400, "invalid_request_error", _CREDITS),
    "403": _Words(403, "permission_error", "Your API key does not have permission to use the specified resource."),
    "404": _Words(404, "not_found_error", "model: {model}"),
    "408": _Words(408, "timeout_error", "The request took too long to arrive."),
    "413": _Words(413, "request_too_large", "Request exceeds the maximum size"),
    "too_long": _Words(400, "invalid_request_error", "prompt is too long: {tokens} tokens > {limit} maximum"),
    "429": _Words(429, "rate_limit_error", _RATE),
    "quota": _Words(400, "invalid_request_error", _QUOTA),
    "500": _Words(500, "api_error", "Internal server error"),
    "503": _Words(503, "api_error", "Service unavailable"),
    "529": _Words(529, "overloaded_error", "Overloaded"),
}


def key(asked: Asked) -> str:
    """In `x-api-key`, as most programs send it, or as a bearer, as Anthropic's own client now does."""
    return asked.headers.get("x-api-key") or asked.headers.get("authorization", "").removeprefix("Bearer ")


def problem(problem: Problem) -> Reply:
    words = _PROBLEMS[problem.name]
    usual = words.message.format(model=problem.model, tokens=_LIMIT + problem.tokens, limit=_LIMIT)
    request_id = f"req_{problem.number:06}"
    headers = {"request-id": request_id}
    if problem.retry_after is not None:
        headers["retry-after"] = f"{problem.retry_after}"
    if problem.retry_after_ms is not None:
        headers["retry-after-ms"] = f"{problem.retry_after_ms}"
    return json_reply(words.status, headers, {**_error(words.type, problem.message or usual), "request_id": request_id})


def _error(type_: str, message: str) -> Json:
    return {"type": "error", "error": {"type": type_, "message": message}}


def models(names: Sequence[str]) -> Json:
    rows: list[JsonValue] = [{"type": "model", "id": name, "display_name": name, "created_at": _CREATED} for name in names]
    return {"data": rows, "has_more": False, "first_id": names[0] if names else None, "last_id": names[-1] if names else None}


_NOTHING = Said(1, "none", "", "", (), "stop", Usage(1, 1), 1)

ANTHROPIC = Shape(
    name="anthropic",
    newline="\n",
    key=key,
    read=read,
    whole=whole,
    frames=frames,
    problem=problem,
    models=models,
    overloaded=Frame("close", compact(dict(_error("overloaded_error", "Overloaded"))), "error"),
    noise=(": keep-alive", "id: 7", "retry: 1000", "event: daybreak", 'data: {"type":"daybreak","light":"pale"}', ""),
    malformed=Frame("text", compact({"type": "content_block_delta", "index": 0}), "content_block_delta"),
    nothing=tuple(frames(_NOTHING, Prompt("none", (), ""))),
)
