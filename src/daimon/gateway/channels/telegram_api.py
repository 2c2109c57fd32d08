"""One question to Telegram's Bot API: what came back, or what surely did or did not happen.

The Bot API knows no idempotency key, so all that keeps a message from going out twice is that this file never calls a failure harmless
that was not. What is known to have had no effect is raised as NotSent: no connection came about (name, refusal, TLS, proxy, a time-out of
any of these); the connection broke before the first byte of the body was written, since a request without its body is none; Telegram
answered with a status of 3xx or 4xx, which it does instead of acting. All else is in doubt and raised as ConnectionError: an answer that
did not come in time, a connection that broke after the body began, an answer that is no JSON, and 5xx, which Telegram's front also gives
when it lost sight of a server that had already acted. That the body began is told by the HTTP library's own trace, not guessed from the
class of an error.

Every question has a connection of its own unless a `Line` is held open: a connection that was kept may be closed by the other side in the
moment in which it is used again, and that would look like a message in doubt.

The token is a part of every address. It is put in below the client, at the last moment: the addresses that the client logs, or that its
errors hold, say `bot~` in its place.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from pydantic import JsonValue

from daimon.abi.errors import LockedOut, NotSent, RetryLater
from daimon.gateway.channels.certainty import Begun

_MARK = "bot~"
_CONNECT_S = 15.0


@dataclass(frozen=True, slots=True)
class Refused:
    """Telegram understood the question and did nothing."""

    status: int
    why: str
    moved_to: int | None = None
    """The group has another id now."""


@dataclass(frozen=True, slots=True)
class Done:
    result: JsonValue


@dataclass(frozen=True, slots=True)
class Upload:
    field: str
    name: str
    media_type: str
    data: bytes


class BotApi:
    def __init__(self, api: str, token: Callable[[], str], answer_s: float) -> None:
        self._api = api.rstrip("/")
        self._token = token
        self._answer_s = answer_s
        self._ssl: SSLContext | None = None

    @property
    def token(self) -> str:
        token = self._token().strip()
        if not re.fullmatch(r"\d+:[\w-]+", token, re.ASCII):
            raise LockedOut("the token of the Telegram bot is not of the form 123456:ABC-DEF; copy it anew from @BotFather")
        return token

    @asynccontextmanager
    async def line(self) -> AsyncIterator["Line"]:
        token = self.token
        transport = _Keyed(token, httpx2.AsyncHTTPTransport(verify=self._trust(), proxy=self._proxy()))
        async with httpx2.AsyncClient(transport=transport, timeout=httpx2.Timeout(self._answer_s, connect=_CONNECT_S)) as client:
            yield Line(client, self._api, token)

    async def ask(self, method: str, args: Mapping[str, JsonValue], upload: Upload | None = None) -> Done | Refused:
        async with self.line() as line:
            return await line.ask(method, args, upload)

    def _trust(self) -> SSLContext:
        """Takes long to make, so it is made once."""
        if self._ssl is None:
            self._ssl = httpx2.create_ssl_context() if self._api.startswith("https:") else SSLContext(PROTOCOL_TLS_CLIENT)
        return self._ssl

    def _proxy(self) -> str | None:
        url = urlsplit(self._api)
        return None if proxy_bypass(url.hostname or "") else getproxies().get(url.scheme)


class Line:
    """Questions over connections that are kept."""

    def __init__(self, client: httpx2.AsyncClient, api: str, token: str) -> None:
        self._client = client
        self._api = api
        self._token = token

    async def ask(
        self, method: str, args: Mapping[str, JsonValue], upload: Upload | None = None, answer_s: float | None = None
    ) -> Done | Refused:
        """Raises NotSent, RetryLater, LockedOut; ConnectionError when it is not known what happened."""
        body: dict[str, Any] = {"json": dict(args)}
        if upload:
            body = {
                "data": {name: value if isinstance(value, str) else json.dumps(value) for name, value in args.items()},
                "files": {upload.field: (upload.name, upload.data, upload.media_type)},
            }
        wait = httpx2.Timeout(answer_s, connect=_CONNECT_S) if answer_s else self._client.timeout
        begun = Begun()
        try:
            response = await self._client.post(f"{self._api}/{_MARK}/{method}", **body, timeout=wait, extensions={"trace": begun.trace})
        except (httpx2.HTTPError, OSError) as error:
            if begun.is_certain(error):
                raise NotSent(f"Telegram was not reached at {self._api} for {method}: {self._said(error)}") from None
            raise ConnectionError(f"Telegram did not answer {method}, which may have been done: {self._said(error)}") from None
        return self._judge(method, response)

    async def do(self, method: str, args: Mapping[str, JsonValue], answer_s: float | None = None) -> JsonValue:
        """Raises NotSent where it is refused, too."""
        match await self.ask(method, args, answer_s=answer_s):
            case Done(result):
                return result
            case Refused(status, why):
                raise NotSent(f"Telegram refused {method} ({status}): {why}")

    async def fetch(self, path: str, most_bytes: int) -> bytes | None:
        """A file. None: it is larger, or not there any more. Raises ConnectionError."""
        data = bytearray()
        try:
            async with self._client.stream("GET", f"{self._api}/file/{_MARK}/{path}") as response:
                if 400 <= response.status_code < 500:
                    return None
                if response.status_code != 200:
                    raise ConnectionError(f"Telegram answered {response.status_code} for a file")
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > most_bytes:
                        return None
        except httpx2.HTTPError as error:
            raise ConnectionError(f"a file did not come from Telegram: {self._said(error)}") from None
        return bytes(data)

    def _judge(self, method: str, response: httpx2.Response) -> Done | Refused:
        status = response.status_code
        answer = _object(response)
        if status == 200 and answer.get("ok") is True and "result" in answer:
            return Done(answer["result"])
        why = self._clean(str(answer.get("description", "no reason given")))
        if status < 300 or status >= 500:
            raise ConnectionError(f"Telegram answered {method} with status {status} ({why}); it may have been done")
        parameters = answer.get("parameters")
        hints = parameters if isinstance(parameters, dict) else {}
        if status == 429:
            raise RetryLater(f"Telegram asks for a pause before {method}: {why}", float(_number(hints.get("retry_after")) or 1))
        if status in (401, 404) and answer.get("ok") is False:
            raise LockedOut(f"Telegram refuses the token of the bot ({status}, {why}); ask @BotFather for the current one")
        return Refused(status, why, _number(hints.get("migrate_to_chat_id")))

    def _said(self, error: Exception) -> str:
        return self._clean(str(error) or type(error).__name__)

    def _clean(self, text: str) -> str:
        return text.replace(self._token, _MARK)[:300]


class _Keyed(httpx2.AsyncBaseTransport):
    def __init__(self, token: str, inner: httpx2.AsyncBaseTransport) -> None:
        self._key = f"/bot{token}/".encode()
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.raw_path.replace(f"/{_MARK}/".encode(), self._key, 1)
        return await self._inner.handle_async_request(
            httpx2.Request(
                request.method,
                request.url.copy_with(raw_path=path),
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


def _object(response: httpx2.Response) -> dict[str, JsonValue]:
    try:
        answer = response.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _number(value: JsonValue) -> int | None:
    return value if isinstance(value, int) else None
