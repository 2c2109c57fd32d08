"""Errors as the API tells them: {"error": {"code", "message"}}, each class under its status."""

from collections.abc import Mapping

from starlette.responses import Response

from daimon.abi.errors import (
    BadInput,
    DaimonError,
    Fenced,
    Forbidden,
    JournalFailed,
    JournalFull,
    Misconfigured,
    NoSpace,
    NotFound,
    Outdated,
    TooLarge,
    TooMany,
)
from daimon.gateway.answers import explained


def error(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(explained(code, message), status, headers, media_type="application/json")


def status_of(failure: DaimonError) -> int:
    match failure:
        case TooLarge():
            return 413
        case BadInput() | Misconfigured():
            return 400
        case Forbidden():
            return 403
        case NotFound():
            return 404
        case Fenced() | Outdated():
            return 409
        case TooMany():
            return 429
        case JournalFull() | NoSpace():
            return 507
        case JournalFailed():
            return 503
        case _:
            return 500
