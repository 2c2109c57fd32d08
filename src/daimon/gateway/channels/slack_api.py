"""One question to Slack's Web API: what came back, or what surely did or did not happen.

Slack answers 200 with `ok: false` where it refuses, and then it did nothing (NotSent); 429 says when to come back; a token that it
refuses is LockedOut. A time-out, a broken connection after the body began, 5xx, and the codes that Slack itself calls uncertain
(`internal_error`, `fatal_error`, `request_timeout`) are in doubt and raised as ConnectionError: whoever sends looks afterwards
(`SlackChannel.find`).

Tokens travel in a header, never in an address; what is said in errors is Slack's code, and nothing that was sent.
"""

import json
from collections.abc import Callable, Mapping
from ssl import SSLContext
from urllib.parse import urlsplit

import httpx2
from pydantic import JsonValue

from daimon.abi.errors import LockedOut, NotSent, RetryLater
from daimon.gateway.channels.certainty import Begun

ANSWER_S = 30.0
CONNECT_S = 15.0
LOCKED = frozenset({
    "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "no_permission", "missing_scope",
    "not_allowed_token_type", "org_login_required", "ekm_access_denied", "team_access_not_granted", "two_factor_setup_required",
    "app_uninstalled", "link_disabled",
})  # fmt: skip
UNCERTAIN = frozenset({"internal_error", "fatal_error", "request_timeout", "service_unavailable"})

Answer = dict[str, JsonValue]


class WebApi:
    def __init__(self, api: str, bot_token: Callable[[], str], app_token: Callable[[], str]) -> None:
        self._api = api.rstrip("/")
        self._bot_token, self._app_token = bot_token, app_token
        self._trust: SSLContext | None = None

    async def ask(self, method: str, args: Mapping[str, JsonValue], *, as_app: bool = False) -> Answer:
        """Raises NotSent, RetryLater, LockedOut; ConnectionError when it is not known what happened."""
        fields = {name: value if isinstance(value, str) else json.dumps(value) for name, value in args.items() if value is not None}
        return await self._judged(method, await self._post(f"{self._api}/{method}", method, {"data": fields}, self._token(as_app)))

    async def upload(self, url: str, data: bytes) -> None:
        """The bytes of a file, to the address that Slack gave for it. Nobody sees it before it is completed."""
        if not self._is_slacks(url):
            raise NotSent(f"Slack wants a file to be put at {urlsplit(url).hostname!r}, which is not Slack")
        response = await self._post(url, "upload", {"content": data}, "")
        if response.status_code != 200:
            raise NotSent(f"Slack did not take the bytes of a file: status {response.status_code}")

    async def fetch(self, url: str, most_bytes: int) -> bytes | None:
        """A file. None: it is larger, or not there any more. Raises ConnectionError."""
        if not self._is_slacks(url):
            return None
        data = bytearray()
        try:
            async with self._client() as client, client.stream("GET", url, headers=_bearer(self._token(False))) as response:
                if 300 <= response.status_code < 500 or "text/html" in response.headers.get("content-type", ""):
                    return None  # the page to log in: this file is not for the bot
                if response.status_code != 200:
                    raise ConnectionError(f"Slack answered {response.status_code} for a file")
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > most_bytes:
                        return None
        except httpx2.HTTPError as error:
            raise ConnectionError(f"a file did not come from Slack: {type(error).__name__}") from None
        return bytes(data)

    async def _post(self, url: str, what: str, body: Mapping[str, object], token: str) -> httpx2.Response:
        begun = Begun()
        try:
            async with self._client() as client:
                return await client.post(url, **body, headers=_bearer(token), extensions={"trace": begun.trace})  # type: ignore[arg-type]
        except (httpx2.HTTPError, OSError) as error:
            if begun.is_certain(error):
                raise NotSent(f"Slack was not reached at {urlsplit(url).netloc} for {what}: {type(error).__name__}") from None
            raise ConnectionError(f"Slack did not answer {what}, which may have been done: {type(error).__name__}") from None

    async def _judged(self, method: str, response: httpx2.Response) -> Answer:
        if response.status_code == 429:
            raise RetryLater(f"Slack asks for a pause before {method}", _seconds(response.headers.get("retry-after", "")))
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or response.status_code >= 500:
            raise ConnectionError(f"Slack answered {method} with status {response.status_code}; it may have been done")
        if answer.get("ok") is True:
            return answer
        code = str(answer.get("error", "no reason given"))[:100]
        if code in LOCKED:
            raise LockedOut(f"Slack does not let the app in ({code}, at {method}); give it a current token with the scopes of the manual")
        if code in ("ratelimited", "rate_limited"):
            raise RetryLater(f"Slack asks for a pause before {method}", _seconds(response.headers.get("retry-after", "")))
        if code in UNCERTAIN:
            raise ConnectionError(f"Slack failed at {method} ({code}); it may have been done")
        raise NotSent(f"Slack refused {method}: {code}")

    def _client(self) -> httpx2.AsyncClient:
        """A connection of its own for each question: one that was kept may be closed by the other side in the moment of its use."""
        if self._trust is None and self._api.startswith("https:"):
            self._trust = httpx2.create_ssl_context()  # takes long: made once
        return httpx2.AsyncClient(verify=self._trust or False, timeout=httpx2.Timeout(ANSWER_S, connect=CONNECT_S))

    def _token(self, as_app: bool) -> str:
        token, start, name = (self._app_token(), "xapp-", "app_token") if as_app else (self._bot_token(), "xoxb-", "bot_token")
        if not token.strip().startswith(start):
            raise LockedOut(f"channels.slack.{name} must begin with {start}; copy it anew from the page of your Slack app")
        return token.strip()

    def _is_slacks(self, url: str) -> bool:
        """The token goes with the question: only to Slack, or to where the API is."""
        asked, ours = urlsplit(url), urlsplit(self._api)
        is_slacks = asked.scheme == "https" and (asked.hostname or "").endswith(".slack.com")
        return is_slacks or (asked.scheme, asked.netloc) == (ours.scheme, ours.netloc)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() and len(text) < 7 else 30.0
