"""The client-server API of a Matrix homeserver, one request at a time.

What a status means is decided here and nowhere else: 401 for the token is `LockedOut`, 429 is `RetryLater` with the server's own pause,
any other refusal (4xx) is `NotSent`, since the server did nothing; a connection that never came about likewise. Everything else (5xx, a
connection that broke) is raised as httpx2 raises it and leaves open what the server did. Nothing is asked twice.

The token is asked for with each request, so that a changed secret counts at once, and is never part of an address or of an error.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2

from daimon.abi.errors import LockedOut, Misconfigured, NotSent, RetryLater
from daimon.gateway.channels.matrix_wire import Json, number, text

CLIENT = "/_matrix/client/v3"
REQUEST_S = 30.0
_PAUSE_S = 5.0
"""Where the server says that it is too much, and not for how long."""
_TOKEN_REFUSED = ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED", "M_USER_SUSPENDED")


@dataclass(frozen=True, slots=True)
class Account:
    homeserver: str
    user: str
    name: str = "matrix"


class Line:
    def __init__(self, homeserver: str, token: Callable[[], str]) -> None:
        self._http = _client(homeserver)
        self._token = token

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, method: str, path: str, body: Json | None = None, query: dict[str, str] | None = None, more_s: float = 0) -> Json:
        """`more_s`: so much longer than usual may the server take."""
        timeout = httpx2.Timeout(REQUEST_S + more_s, connect=10)
        answer = await self._send(method, f"{CLIENT}{path}", params=query, json=body, timeout=timeout)
        return _read(answer)

    async def look(self, path: str) -> Json | None:
        """None: there is no such thing, or it is not for us."""
        answer = await self._send("GET", f"{CLIENT}{path}")
        if answer.status_code in (400, 403, 404) and _errcode(answer) not in _TOKEN_REFUSED:
            return None
        return _read(answer)

    async def upload(self, data: bytes, media_type: str, name: str) -> str:
        headers = {"Content-Type": media_type or "application/octet-stream"}
        query = {"filename": name} if name else None
        answer = _read(await self._send("POST", "/_matrix/media/v3/upload", content=data, headers=headers, params=query))
        return text(answer, "content_uri")

    async def download(self, uri: str, most: int) -> bytes | None:
        """None: it is larger than that. Raises NotSent where the server has no such thing."""
        server, _, media = uri.removeprefix("mxc://").partition("/")
        if not uri.startswith("mxc://") or not server or not media:
            raise NotSent(f"{uri[:100]!r} is no address of a file on a homeserver")
        place = f"/_matrix/client/v1/media/download/{quote(server, safe=':[]')}/{quote(media, safe='')}"
        async with self._http.stream("GET", place, headers=self._headers(), follow_redirects=False) as answer:
            if answer.status_code != 200:
                await answer.aread()
                _read(answer)
            found = bytearray()
            async for chunk in answer.aiter_bytes():
                found += chunk
                if len(found) > most:
                    return None
            return bytes(found)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token()}"}

    async def _send(self, method: str, path: str, **more: Any) -> httpx2.Response:
        more["headers"] = {**more.get("headers", {}), **self._headers()}
        try:
            return await self._http.request(method, path, **more)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise NotSent(f"no connection to {self._http.base_url}: {error}; is the homeserver up?") from error


async def login(homeserver: str, user: str, password: str) -> str:
    """A token of a new device, for the owner to keep in the vault. Raises LockedOut where the password is refused."""
    if urlsplit(homeserver).scheme not in ("http", "https"):
        raise Misconfigured(f"{homeserver!r} is no address of a homeserver: give one such as https://matrix.org")
    wish = {
        "type": "m.login.password",
        "identifier": {"type": "m.id.user", "user": user},
        "password": password,
        "initial_device_display_name": "Daimon",
    }
    async with _client(homeserver) as http:
        try:
            answer = await http.post(f"{CLIENT}/login", json=wish)
        except httpx2.TransportError as error:
            raise NotSent(f"no connection to {homeserver}: {error}") from error
    if answer.status_code == 403:
        raise LockedOut(f"{homeserver} refuses the password of {user}: {_said(answer)}")
    return text(_read(answer), "access_token")


def _client(homeserver: str) -> httpx2.AsyncClient:
    is_near = urlsplit(homeserver).hostname in ("localhost", "127.0.0.1", "::1")  # no proxy leads to one's own machine
    return httpx2.AsyncClient(base_url=homeserver.rstrip("/"), timeout=httpx2.Timeout(REQUEST_S, connect=10), trust_env=not is_near)


def segment(name: str) -> str:
    """A room, a user, an event as a part of a path."""
    return quote(name, safe="")


def _read(answer: httpx2.Response) -> Json:
    status, what = answer.status_code, f"{answer.request.method} {answer.request.url.path}"
    if _errcode(answer) in _TOKEN_REFUSED and status in (401, 403):
        raise LockedOut(
            f"{answer.request.url.host} refuses the access token ({_said(answer)}): log in again and put the new one in the vault"
        )
    if status == 429:
        pause = _pause_s(answer)
        raise RetryLater(f"{what}: too much at once, the homeserver wants a pause of {pause:g} s", after_s=pause)
    if 400 <= status < 500:
        raise NotSent(f"{what}: refused with {status} ({_said(answer)})")
    answer.raise_for_status()
    data = _json(answer)
    if data is None:
        raise Misconfigured(f"{what}: the answer is no JSON; is {answer.request.url.host} a Matrix homeserver?")
    return data


def _pause_s(answer: httpx2.Response) -> float:
    told = number(_json(answer) or {}, "retry_after_ms")
    if told is not None:
        return told / 1_000
    with suppress(ValueError):
        return max(0.0, float(answer.headers.get("Retry-After", "")))
    return _PAUSE_S


def _errcode(answer: httpx2.Response) -> str:
    return text(_json(answer) or {}, "errcode") if answer.status_code >= 400 else ""


def _said(answer: httpx2.Response) -> str:
    data = _json(answer) or {}
    return f"{text(data, 'errcode') or 'no code'}: {text(data, 'error')[:200] or 'no text'}"


def _json(answer: httpx2.Response) -> Json | None:
    try:
        data = answer.json()
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
