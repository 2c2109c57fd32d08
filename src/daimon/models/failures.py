"""What went wrong at a provider, in one of a few stable reasons and one sentence.

The router acts on the reason, the owner reads the sentence: what failed, with what value, what to do. The library has sorted most
errors already; what it left is sorted here. Nothing that is sent tells the key.

Invariant: `was_sent` is False only where the provider cannot have billed: nobody was reached, or an error status came instead of an
answer. Calling order: `failed` for whatever was raised, `cut` and `empty` for a stream that ended without an end.

What to do stands at the end, as it is right where the kernel asks. Whoever asks elsewhere takes it off with `without_advice`.
"""

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from daimon.abi.errors import ProviderFailed
from daimon.models.endpoint import Endpoint

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError

_SHOWN = 300
_LASTING = frozenset({"auth", "payment", "not_found", "too_long", "rejected"})
_UNSENT_PHASES = frozenset({"pool", "connect"})
_BY_STATUS = {
    401: "auth",
    402: "payment",
    403: "auth",
    404: "not_found",
    408: "timeout",
    413: "too_long",
    429: "rate",
    503: "overloaded",
    529: "overloaded",
}
_PAYMENT = (
    "credit balance is too low",
    "credits are depleted",
    "enable billing",
    "insufficient balance",
    "insufficient credits",
    "insufficient_quota",
    "reached your specified api usage limits",
)
_TOO_LONG = (
    "context length",
    "context window",
    "prompt is too long",
    "maximum context",
    "exceeds the available context",
    "input token count",
)
_PAGE = re.compile(r"^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)
_DELAY = re.compile(r"^(\d+(?:\.\d+)?)s$")
_NOT_IMPLEMENTED = 501
AGAIN = "it will be tried again"
_DO = {
    "auth": "if it is the key, `daimon model add` sets a new one",
    "payment": "the account there needs money or a higher limit",
    "not_found": "`daimon model list --at {name}` shows what there is",
    "too_long": "the conversation must become shorter, or another model must take it",
    "rejected": "the request is not what this model takes; another model may take it",
    "rate": "it will be tried again later",
    "overloaded": "it will be tried again later",
    "server": "it will be tried again later",
    "timeout": AGAIN,
    "unreachable": "is the address right, and does something listen there?",
    "cut": AGAIN,
    "garbage": "it may be another kind of server than {vendor}, or a proxy in between",
    "filtered": "say it in other words, or ask another model",
    "empty": AGAIN,
}


def failed(error: Exception, endpoint: Endpoint, is_open: bool) -> ProviderFailed:
    """`is_open`: the answer had begun."""
    from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError

    ours = next((cause for cause in _causes(error) if isinstance(cause, ProviderFailed)), None)
    if ours is not None:
        return ours
    if isinstance(error, ModelAPIError):
        return _from_api(error, endpoint, is_open)
    if isinstance(error, UserError | NotImplementedError):
        return _failure("rejected", endpoint, f"cannot be asked this way: {_short(str(error), endpoint)}", was_sent=False)
    if isinstance(error, UnexpectedModelBehavior):
        return empty(endpoint)
    return _failure("garbage", endpoint, f"answered what cannot be read ({type(error).__name__}: {_short(str(error), endpoint)})")


def cut(endpoint: Endpoint) -> ProviderFailed:
    return _failure("cut", endpoint, "stopped in the middle of its answer")


def empty(endpoint: Endpoint) -> ProviderFailed:
    return _failure("empty", endpoint, "answered nothing at all")


def broken(endpoint: Endpoint, finish: str) -> ProviderFailed:
    sentence = f"{_who(endpoint)} gave up on its own answer ({_short(finish, endpoint)}): {AGAIN}"
    return ProviderFailed("garbage", sentence)


def keyless(endpoint: Endpoint) -> ProviderFailed:
    return _failure("auth", endpoint, "needs a key and none is set", was_sent=False)


def without_advice(failure: ProviderFailed, endpoint: Endpoint) -> str:
    """The sentence up to what is to be done about it, or all of it, where nothing is."""
    sentence = str(failure)
    ends = (f": {_to_do(failure.reason, endpoint)}", f": {AGAIN}")
    return next((sentence.removesuffix(end) for end in ends if sentence.endswith(end)), sentence)


def web_page(endpoint: Endpoint, reason: str = "garbage") -> ProviderFailed:
    """Another reason than garbage: it may pass, since proxies too show pages when what is behind them is down."""
    is_short = endpoint.served_by.shape == "openai" and not endpoint.address.endswith("/v1")
    hint = "usually it ends in /v1" if is_short else "is it the right one?"
    sentence = f"{endpoint.host} answered with a web page, not with an API: base_url is {endpoint.place}; {hint}"
    return ProviderFailed(reason, sentence, is_lasting=reason == "garbage", was_sent=False)


def moved(endpoint: Endpoint, to: str) -> ProviderFailed:
    sentence = f"{endpoint.host} sends elsewhere, to {_short(to, endpoint)!r}: if that is right, make it the base_url"
    return ProviderFailed("garbage", sentence, is_lasting=True, was_sent=False)


def not_a_stream(endpoint: Endpoint, content_type: str) -> ProviderFailed:
    return _failure("garbage", endpoint, f"answered with {_short(content_type, endpoint)} instead of a stream of events")


def too_much(endpoint: Endpoint, what: str, *, was_sent: bool = True) -> ProviderFailed:
    return _failure("garbage", endpoint, f"sent {what}, and was cut off", was_sent=was_sent)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _deepest(error: BaseException) -> str:
    """The libraries wrap what happened until nothing of it is left: the innermost words are the ones that say it."""
    return next((said for cause in reversed(list(_causes(error))) if (said := str(cause).strip())), "")


def _from_api(error: "ModelAPIError", endpoint: Endpoint, is_open: bool) -> ProviderFailed:
    from pydantic_ai.exceptions import ModelConnectionError

    status = getattr(error, "status_code", None)
    said = _said(error.body)
    reason = _reason(error, status, said)
    if status is not None and _PAGE.match(said):
        may_pass = status >= 500 and status != _NOT_IMPLEMENTED
        if not may_pass or endpoint.base_url:
            return web_page(endpoint, reason if may_pass else "garbage")
    was_sent = is_open or error.in_stream or (status is None and getattr(error, "phase", None) not in _UNSENT_PHASES)
    if isinstance(error, ModelConnectionError):
        why = f" ({_short(_deepest(error), endpoint)})"
    else:
        why = f"{f' ({status})' if status else ''}{_quoted(said or error.message, endpoint)}"
    what = f"{_WORDS[reason]}{why}"
    return _failure(reason, endpoint, what, was_sent=was_sent, retry_after_s=error.retry_after or _delay(error.body))


_WORDS = {
    "auth": "refused the key",
    "payment": "wants to be paid first",
    "not_found": "does not have this model",
    "too_long": "cannot take so long a conversation",
    "rejected": "refused the request",
    "rate": "was asked too often",
    "overloaded": "is overloaded",
    "server": "had an error of its own",
    "timeout": "did not answer in time",
    "unreachable": "cannot be reached",
    "cut": "broke off",
    "garbage": "answered what cannot be read",
}


def _reason(error: "ModelAPIError", status: int | None, said: str) -> str:
    from pydantic_ai import exceptions as known

    words = f"{said} {error.provider_error_code or ''}".lower()
    if isinstance(error, known.ModelQuotaExceededError) or any(phrase in words for phrase in _PAYMENT):
        return "payment"
    is_rejected = isinstance(error, known.ModelRequestRejectedError)
    if isinstance(error, known.ModelContextWindowExceededError) or (is_rejected and any(phrase in words for phrase in _TOO_LONG)):
        return "too_long"
    kinds: tuple[tuple[type[Exception], str], ...] = (
        (known.ModelAuthenticationError, "auth"),
        (known.ModelNotFoundError, "not_found"),
        (known.ModelRateLimitError, "rate"),
        (known.ModelUnavailableError, "overloaded"),
        (known.ModelServerError, "server"),
        (known.ModelConnectionError, _broken(error)),
        (known.ModelRequestTimeout, "timeout"),
    )
    by_kind = next((reason for kind, reason in kinds if isinstance(error, kind)), None)
    return by_kind or _by_status(error, status)


def _broken(error: "ModelAPIError") -> str:
    from pydantic_ai.exceptions import ModelTimeoutError

    if getattr(error, "phase", None) in _UNSENT_PHASES:
        return "unreachable"
    return "timeout" if isinstance(error, ModelTimeoutError) else "cut"


def _by_status(error: "ModelAPIError", status: int | None) -> str:
    if status is None:
        return "server" if error.in_stream else "garbage"
    return _BY_STATUS.get(status, "server" if status >= 500 else "rejected")


def _failure(reason: str, endpoint: Endpoint, what: str, *, was_sent: bool = True, retry_after_s: float | None = None) -> ProviderFailed:
    sentence = f"{_who(endpoint)} {what}: {_to_do(reason, endpoint)}"
    return ProviderFailed(reason, sentence, is_lasting=reason in _LASTING, was_sent=was_sent, retry_after_s=retry_after_s)


def _who(endpoint: Endpoint) -> str:
    title = endpoint.served_by.title
    return f"{title[0].upper()}{title[1:]} at {endpoint.host}, asked for {endpoint.model or 'its models'},"


def _to_do(reason: str, endpoint: Endpoint) -> str:
    if reason == "not_found" and lacks_path(endpoint):
        return f"base_url is {endpoint.place}, and usually ends in /v1"
    if reason == "auth" and not endpoint.has_key and endpoint.key_variable:
        return f"the variable {endpoint.key_variable} is not set where the gateway runs"
    return _DO[reason].format(vendor=endpoint.vendor, name=shlex.quote(endpoint.name))


def lacks_path(endpoint: Endpoint) -> bool:
    return endpoint.served_by.shape == "openai" and bool(endpoint.base_url) and endpoint.place == endpoint.host


def _quoted(text: str, endpoint: Endpoint) -> str:
    if _PAGE.match(text):
        return " with a web page"
    return f", saying {short!r}" if (short := _short(text, endpoint)) else ""


def _short(text: str, endpoint: Endpoint) -> str:
    plain = endpoint.hide(" ".join(text.split()))
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 1]}…"


def _said(body: object) -> str:
    """The provider's own words, wherever it put them."""
    match body:
        case str():
            return body
        case {"error": dict() as inner} | [{"error": dict() as inner}, *_]:
            return _said(inner)
        case {"error": str(words)} | {"message": str(words)} | {"detail": str(words)}:
            return words
        case _:
            return "" if body is None else str(body)


def _delay(body: object) -> float | None:
    """How long Google asks to wait: it says so in the body, not in a header."""
    match body:
        case {"error": {"details": list() as details}} | [{"error": {"details": list() as details}}, *_]:
            return next((delay for detail in details if (delay := _seconds(detail)) is not None), None)
        case _:
            return None


def _seconds(detail: Any) -> float | None:
    told = detail.get("retryDelay") if isinstance(detail, dict) else None
    match = _DELAY.match(told) if isinstance(told, str) else None
    return float(match[1]) if match else None
