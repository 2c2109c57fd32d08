"""Puts the token on requests to a server, and on no others; one that the server does not take is renewed once. One that does not cover what
is asked is noted, for a person to sign in for more. Never asks a person.
"""

from collections.abc import AsyncGenerator
from typing import Protocol

import httpx2

from daimon.abi.errors import LockedOut, WebFailed
from daimon.mcp.oauth.asking import host_of
from daimon.mcp.oauth.challenge import wanted
from daimon.mcp.oauth.tokens import Tokens
from daimon.mcp.outward import HELD_BACK


class Revealing(Protocol):
    def reveal(self, name: str, by: str, host: str) -> str: ...


class Signing(httpx2.Auth):
    def __init__(self, tokens: Tokens, vault: Revealing, name: str, server: str) -> None:
        self._tokens, self._vault, self._name, self._server = tokens, vault, name, server

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """One that cannot be signed is not sent."""
        if host_of(str(request.url)) != host_of(self._server):
            yield request
            return
        try:
            token = self._put(request, await self._tokens.ready(self._name, self._server))
            answer = yield request
            if answer.status_code == httpx2.codes.UNAUTHORIZED:
                self._put(request, await self._tokens.refused(self._name, self._server, token))
                answer = yield request
        except (LockedOut, WebFailed) as why:
            request.extensions[HELD_BACK] = str(why)
            answer = yield request
        if (scopes := wanted(answer)) is not None:
            await self._tokens.short_of(self._name, self._server, scopes)

    def _put(self, request: httpx2.Request, secret: str) -> str:
        token = self._vault.reveal(secret, "mcp", host_of(self._server))
        request.headers["Authorization"] = f"Bearer {token}"
        return token
