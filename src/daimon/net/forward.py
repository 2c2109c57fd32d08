"""What goes on of a head: to the site, to the box. Pure.

Headers that are about one connection stay on it. The rest goes on as it was, in its order, but for Host, which is written from what was
checked, and but for what would let a secret come back unseen: codings, and pieces of a whole.
"""

from daimon.net.framing import Body, Chunked, Exactly, Nothing, UntilClose
from daimon.net.head import Answer, Headers, Item, Request
from daimon.net.refusal import Malformed, Refusal
from daimon.net.site import Site

_HOP = {
    b"connection",
    b"keep-alive",
    b"proxy-authenticate",
    b"proxy-authentication-info",
    b"proxy-authorization",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
}
_VITAL = {b"host", b"content-length", b"transfer-encoding"}
_HIDING = {b"accept-encoding", b"range", b"if-range", b"a-im"}
_CHUNKED: Item = (b"Transfer-Encoding", b"chunked")
_CLOSE: Item = (b"Connection", b"close")


def check(request: Request) -> None:
    """Raises Refusal."""
    if request.headers.all(b"upgrade"):
        raise Refusal(501, "connections that change their protocol, such as websockets, do not go through yet")
    if request.headers.words(b"expect") - {b"100-continue"}:
        raise Refusal(417, "Expect can only be 100-continue")


def outgoing(request: Request, site: Site, is_tls: bool, body: Body) -> Request:
    """Raises Malformed."""
    headers = _ours(request.headers).without({b"host", b"expect"})
    host = (b"Host", site.spelled(443 if is_tls else 80).encode("ascii"))
    framing = (_CHUNKED,) if isinstance(body, Chunked) else ()
    return Request(request.method, request.target, 1, Headers((host, *headers.items, *framing)))


def uncovered(request: Request) -> Request:
    """So that its answer can be looked through: whole, and in plain bytes."""
    headers = request.headers.without(_HIDING).plus((b"Accept-Encoding", b"identity"))
    return Request(request.method, request.target, request.minor, headers)


def check_uncovered(answer: Answer) -> None:
    """Raises Refusal."""
    if answer.headers.words(b"content-encoding") - {b"identity"}:
        raise Refusal(502, "the answer is compressed although that was not asked for, so it cannot be looked through for secrets")


def incoming(answer: Answer, body: Body, is_chunked: bool, is_last: bool) -> Answer:
    """Raises Malformed."""
    headers = _ours(answer.headers)
    if not isinstance(body, Exactly) and (answer.status == 204 or not isinstance(body, Nothing)):
        headers = headers.without({b"content-length"})
    if is_chunked:
        headers = headers.plus(_CHUNKED)
    if is_last:
        headers = headers.plus(_CLOSE)
    return Answer(answer.status, answer.phrase, 1, headers)


def is_chunked(answer: Answer, body: Body, minor: int) -> bool:
    """To the box. HTTP/1.0 knows no chunks: there the end of the connection ends the body."""
    is_announced = isinstance(body, Nothing) and answer.status != 204 and b"chunked" in answer.headers.words(b"transfer-encoding")
    return minor == 1 and (isinstance(body, Chunked) or is_announced)


def is_last_of_box(request: Request, body: Body) -> bool:
    """Must the box's connection end with this answer?"""
    return request.minor == 0 or isinstance(body, UntilClose) or b"close" in request.headers.words(b"connection")


def is_last_of_site(answer: Answer, body: Body) -> bool:
    return answer.minor == 0 or isinstance(body, UntilClose) or b"close" in answer.headers.words(b"connection")


def _ours(headers: Headers) -> Headers:
    """Without what is about the connection that it came on."""
    named = headers.words(b"connection")
    if named & _VITAL:
        raise Malformed("Connection names a header that must not be dropped")
    return headers.without(_HOP | named)
