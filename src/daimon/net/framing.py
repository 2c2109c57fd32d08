"""How long a body is. Exactly one thing may say so; whoever says it twice, or in other words than these, is refused."""

import re
from dataclasses import dataclass

from daimon.net.head import Answer, Headers, Request
from daimon.net.refusal import Malformed


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(frozen=True, slots=True)
class Exactly:
    size: int


@dataclass(frozen=True, slots=True)
class Chunked:
    pass


@dataclass(frozen=True, slots=True)
class UntilClose:
    pass


Body = Nothing | Exactly | Chunked | UntilClose


def of_request(request: Request) -> Nothing | Exactly | Chunked:
    return _stated(request.headers, request.minor) or Nothing()


def of_answer(answer: Answer, method: str) -> Body:
    stated = _stated(answer.headers, answer.minor)
    if method == "HEAD" or answer.status == 304:
        return Nothing()
    if answer.status == 204:
        if stated not in (None, Exactly(0)):
            raise Malformed("an answer without content says that it has some")
        return Nothing()
    return stated or UntilClose()


def _stated(headers: Headers, minor: int) -> Exactly | Chunked | None:
    length, coding = headers.one(b"content-length"), headers.one(b"transfer-encoding")
    if coding is None:
        return None if length is None else Exactly(_size(length))
    if length is not None:
        raise Malformed("there is a Content-Length and a Transfer-Encoding")
    if coding.lower() != b"chunked" or not minor:
        raise Malformed("Transfer-Encoding can only be chunked, and only in HTTP/1.1")
    return Chunked()


def _size(text: bytes) -> int:
    if not re.fullmatch(rb"[0-9]{1,15}", text):
        raise Malformed("Content-Length is no plain number")
    return int(text)
