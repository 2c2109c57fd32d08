"""Questions to sign-in services: small JSON, by the guarded way out, never along a redirect.

Whatever comes back is a stranger's. It is bounded, and it must be an object of JSON; of what it says only the fields that are asked for
are looked at. What is sent may hold a secret, so that no error repeats any of it, nor what came back, except the code of an error of OAuth,
which is one word.
"""

import json
import re
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from pydantic import JsonValue

from daimon.abi.errors import WebFailed
from daimon.abi.label import Author, Label, Origin
from daimon.abi.web import Web, WebRequest, WebResponse

MOST_BYTES = 256 * 1024
TIMEOUT_S = 20.0
_CODE = re.compile(r"[a-z][a-z_]{1,39}")
_OURS = Label.of(Origin(Author.SERVICE, "oauth"))


@dataclass(frozen=True, slots=True)
class Heard:
    status: int
    fields: dict[str, JsonValue]
    headers: dict[str, str]

    @property
    def is_well(self) -> bool:
        return self.status in (200, 201)

    @property
    def error(self) -> str:
        """The code of OAuth; empty: it gave none that is one."""
        code = self.fields.get("error")
        return code if isinstance(code, str) and _CODE.fullmatch(code) else ""

    def text(self, name: str) -> str:
        found = self.fields.get(name)
        return found if isinstance(found, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.fields.get(name)
        return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()


@dataclass(frozen=True, slots=True)
class Asking:
    web: Web

    async def get(self, url: str) -> Heard:
        """Raises WebFailed where nobody answers; a status that is no success is an answer."""
        return await self._heard(WebRequest(url=url, headers={"Accept": "application/json"}))

    async def form(self, url: str, fields: dict[str, str], headers: dict[str, str] | None = None) -> Heard:
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        return await self._heard(WebRequest(url=url, method="POST", headers={**kind, **(headers or {})}, body=urlencode(fields).encode()))

    async def json(self, url: str, data: JsonValue) -> Heard:
        kind = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        return await self._heard(WebRequest(url=url, method="POST", headers=kind, body=json.dumps(data).encode()))

    async def _heard(self, request: WebRequest) -> Heard:
        bounded = WebRequest(
            url=request.url, method=request.method, headers=request.headers, body=request.body, label=_OURS, most_bytes=MOST_BYTES,
            timeout_s=TIMEOUT_S, most_redirects=0,
        )  # fmt: skip
        answer = await self.web.request(bounded)
        return Heard(answer.status, _fields(answer), answer.headers)


def host_of(url: str) -> str:
    """With its port, where it has one, in small letters. Empty: it names none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    return (parts.hostname or "") + (f":{port}" if port else "")


def _fields(answer: WebResponse) -> dict[str, JsonValue]:
    if answer.is_cut:
        raise WebFailed("bad_answer", f"{host_of(answer.url)} answered with more than {MOST_BYTES:,} bytes, where a few words were due")
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
