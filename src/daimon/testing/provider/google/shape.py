"""Google's Gemini API."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.testing.provider.google.reply import frames, whole
from daimon.testing.provider.google.request import read
from daimon.testing.provider.prompt import compact
from daimon.testing.provider.shape import Frame, Json, Problem, Shape, json_reply
from daimon.testing.provider.wire import Asked, Reply

_LIMIT = 1_048_576
_RPC = "type.googleapis.com/google.rpc."


@dataclass(frozen=True, slots=True)
class _Words:
    code: int
    status: str
    message: str


_QUOTA = "You exceeded your current quota, please check your plan and billing details."
_BUSY = "The model is overloaded. Please try again later."
_UNKNOWN = "models/{model} is not found for API version v1beta, or is not supported for generateContent."
_BILLING = "Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio."

_PROBLEMS = {
    "invalid": _Words(400, "INVALID_ARGUMENT", "The request is not valid."),
    "unknown_path": _Words(404, "NOT_FOUND", "Not found."),
    "wrong_key": _Words(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "401": _Words(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
    "402": _Words(400, "FAILED_PRECONDITION", _BILLING),
    "credits": _Words(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
    "403": _Words(403, "PERMISSION_DENIED", "The caller does not have permission"),
    "404": _Words(404, "NOT_FOUND", _UNKNOWN),
    "408": _Words(408, "DEADLINE_EXCEEDED", "The request took too long to arrive."),
    "413": _Words(413, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
    "too_long": _Words(400, "INVALID_ARGUMENT", "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit})."),
    "429": _Words(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "quota": _Words(429, "RESOURCE_EXHAUSTED", _QUOTA),
    "500": _Words(500, "INTERNAL", "An internal error has occurred. Please retry."),
    "503": _Words(503, "UNAVAILABLE", "The service is currently unavailable."),
    "529": _Words(503, "UNAVAILABLE", _BUSY),
}


def key(asked: Asked) -> str:
    return asked.headers.get("x-goog-api-key") or asked.query.get("key", "")


def problem(problem: Problem) -> Reply:
    """Google says in the body when to come back; a header only comes from a proxy, with a date."""
    words = _PROBLEMS[problem.name]
    usual = words.message.format(model=problem.model, tokens=_LIMIT + problem.tokens, limit=_LIMIT)
    headers = {"retry-after": problem.retry_after} if isinstance(problem.retry_after, str) else {}
    return json_reply(words.code, headers, _error(words, problem.message or usual, _details(problem)))


def _error(words: _Words, message: str, details: list[JsonValue]) -> Json:
    error: dict[str, JsonValue] = {"code": words.code, "message": message, "status": words.status}
    return {"error": {**error, "details": details} if details else error}


def _details(problem: Problem) -> list[JsonValue]:
    details: list[JsonValue] = []
    if problem.name == "wrong_key":
        details.append({"@type": f"{_RPC}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"})
    if problem.name == "quota":
        violation: JsonValue = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "250"}
        details.append({"@type": f"{_RPC}QuotaFailure", "violations": [violation]})
    if isinstance(problem.retry_after, int | float):
        details.append({"@type": f"{_RPC}RetryInfo", "retryDelay": f"{problem.retry_after}s"})
    return details


def models(names: Sequence[str]) -> Json:
    verbs: list[JsonValue] = ["generateContent", "countTokens"]
    rows: list[JsonValue] = [
        {
            "name": f"models/{name}",
            "version": "001",
            "displayName": name,
            "inputTokenLimit": _LIMIT,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": verbs,
        }
        for name in names
    ]
    return {"models": rows}


GOOGLE = Shape(
    name="google",
    newline="\r\n",
    key=key,
    read=read,
    whole=whole,
    frames=frames,
    problem=problem,
    models=models,
    overloaded=Frame("close", compact(dict(_error(_PROBLEMS["529"], _BUSY, [])))),
    noise=(),  # its own client takes every other line for the beginning of an error
    malformed=Frame("text", compact({"candidates": "none"})),
    nothing=(Frame("close", compact({"usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1}, "modelVersion": "none"})),),
)
