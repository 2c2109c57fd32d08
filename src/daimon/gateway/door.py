"""Who may call the API.

The Unix socket lies in the home directory, which only its owner can enter: whoever reaches it is the owner. On loopback TCP
every program and every web page on the machine can connect, so a call there needs the token of the home (`Authorization:
Bearer …`), a Host header that names this machine, and no foreign Origin: a page in a browser that tricks its way here (DNS
rebinding, cross-site requests) has none of the three.
"""

import hmac
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from daimon.gateway.api import error

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]
_PORT = re.compile(r":\d+$")
HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


class TokenDoor:
    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            await error(*refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        headers = {name: value for name, value in scope["headers"] if name in (b"host", b"origin", b"authorization")}
        host = _PORT.sub("", headers.get(b"host", b"").decode("latin-1"))
        if host not in HOSTS:
            return 421, "wrong_host", f"this is not {host!r}; call it as 127.0.0.1 or localhost"
        if b"origin" in headers:
            return 403, "foreign_origin", "web pages may not call this API"
        if scope["path"] == "/healthz":
            return None
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._token):
            return 401, "no_token", "send `Authorization: Bearer TOKEN`; the token is in the file `token` of the home directory"
        return None
