"""Who may call the API.

The Unix socket lies in the home directory, which only its owner can enter: whoever reaches it is the owner (`OpenDoor`). On
loopback TCP every program and every web page on the machine can connect (`TokenDoor`), so a call there needs the token of the
home (`Authorization: Bearer …`), a Host header that names this machine, and no foreign Origin: a page in a browser that tricks
its way here (DNS rebinding, cross-site requests) has none of the three.

What services post to `/hooks/NAME` needs no token: its signature is looked at behind the door. It may also come under the host name of
`gateway.public_url`, as a proxy passes it on; under that name nothing else is there, with or without a token.
"""

import hmac
import re
from collections.abc import Iterable
from typing import Protocol
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from daimon.gateway.answers import explained
from daimon.gateway.hooks.route import PATH

_PORT = re.compile(r":\d+$")
FOR_ANYBODY = frozenset({"/healthz", "/readyz"})
HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


class Door(Protocol):
    def refusal(self, headers: Iterable[tuple[bytes, bytes]], path: str) -> tuple[int, bytes] | None:
        """Status and answer for a caller who may not come in."""
        ...


class OpenDoor:
    def refusal(self, headers: Iterable[tuple[bytes, bytes]], path: str) -> tuple[int, bytes] | None:
        return None


class TokenDoor:
    def __init__(self, token: str, public_url: str = "") -> None:
        self._token = f"Bearer {token}".encode()
        public = urlsplit(public_url).netloc.rpartition("@")[2]
        self._posting = HOSTS | {_PORT.sub("", public).lower()} if public else HOSTS

    def refusal(self, headers: Iterable[tuple[bytes, bytes]], path: str) -> tuple[int, bytes] | None:
        host, token, is_foreign = "", b"", False
        for name, value in headers:
            if name == b"host":
                host = _PORT.sub("", value.strip(b" \t").decode("latin-1")).lower()
            elif name == b"authorization":
                token = value.strip(b" \t")
            elif name == b"origin":
                is_foreign = True
        is_posted = PATH.fullmatch(path) is not None
        if host not in (self._posting if is_posted else HOSTS):
            return 421, explained("wrong_host", f"this is not {host!r}; call it as 127.0.0.1 or localhost")
        if is_foreign:
            return 403, explained("foreign_origin", "web pages may not call this API")
        if path not in FOR_ANYBODY and not is_posted and not hmac.compare_digest(token, self._token):
            return 401, explained("no_token", "send `Authorization: Bearer TOKEN`; the token is in the file `token` of the home directory")
        return None


class Guarded:
    """An application behind a door."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._door.refusal(scope["headers"], scope["path"]) if scope["type"] in ("http", "websocket") else None
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).send_denial_response(Response(refused[1], refused[0], media_type="application/json"))
        else:
            await Response(refused[1], refused[0], media_type="application/json")(scope, receive, send)
