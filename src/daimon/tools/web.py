"""Hands for the web: reading a page, asking an API, changing something there.

They are three tools because they are three questions to the policy. `web_fetch` reads what anybody may read; `http_get` reads with
headers and secrets, so what comes back may be the owner's own; `http_request` does something elsewhere and cannot be repeated blindly.
An address can carry words away, so it is a destination in all of them: the gate asks who wrote it (docs/decisions/0054).

All that comes back are the words of the site, and labelled so: `web:HOST`, of the host that was asked and of the one that answered.
"""

import json
import re
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from daimon.abi.errors import ToolFailed, WebFailed
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.message import File
from daimon.abi.ports import Store
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel, Tool
from daimon.abi.web import Web, WebRequest, WebResponse
from daimon.tools.links import host_of
from daimon.tools.readable import MOST, readable
from daimon.tools.schema import tool

MOST_KEPT = 20 * 1024 * 1024
MOST_JSON = 200_000
TIMEOUT_S = 30.0
_CUT = "it is longer; this is its beginning"
_Url = Annotated[str, Field(min_length=1, max_length=4_000)]
_Headers = Annotated[list[Annotated[str, Field(min_length=1, max_length=4_000)]], Field(max_length=30)]
_Secrets = Annotated[list[Annotated[str, Field(min_length=1, max_length=128)]], Field(max_length=5)]
_Body = Annotated[str, Field(max_length=1_000_000)]
_Method = Literal["POST", "PUT", "PATCH", "DELETE"]
_HEADERS = "Each as `Name: value`. A secret stands as {vault:NAME}."
_SECRETS = "Names of the secrets that stand in it."
_SITE = ResultLabel(Author.STRANGER, "web:{url}")
_SOON = frozenset({"timeout", "unreachable", "resting"})
_HTML, _TEXT = ("text/html", "application/xhtml+xml"), ("text/", "application/xml", "application/javascript", "application/x-yaml")
_SHOWN: tuple[str, ...] = ("location", "link", "etag", "retry-after")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_KNOWN = re.compile(
    r"utf-?(?:8|16(?:le|be)?)|(?:iso-?8859-|windows-|cp)\d{1,4}|us-ascii|latin-?1"
    r"|shift[_-]jis|euc-(?:jp|kr)|gb(?:k|2312|18030)|big5|koi8-[ru]"
)
"""Python knows codecs that take an hour for a page."""


def web_tools(web: Web, blobs: Store) -> tuple[Tool, ...]:
    """`blobs` keeps what is no text."""

    @tool(effect=Effect.PURE, capabilities={Capability.READS_OUTSIDE}, result=_SITE, timeout_s=TIMEOUT_S + 10)
    async def web_fetch(call: Call, url: Annotated[_Url, ArgumentRole.DESTINATION, "http or https."]) -> Result:
        """Read a web page as text with links, or a JSON or text file."""
        request = WebRequest(url=url, agent=call.agent, label=call.label, most_bytes=MOST_KEPT, timeout_s=TIMEOUT_S)
        return await _read(web, blobs, request)

    @tool(
        effect=Effect.PURE,
        capabilities={Capability.READS_OUTSIDE, Capability.READS_PRIVATE},
        result=_SITE,
        timeout_s=TIMEOUT_S + 10,
        is_rare=True,
    )
    async def http_get(
        call: Call,
        url: Annotated[_Url, ArgumentRole.DESTINATION, "http or https."],
        headers: Annotated[_Headers, ArgumentRole.CONTENT, _HEADERS] = [],  # noqa: B006 - it is copied into the schema, never changed
        secrets: Annotated[_Secrets, ArgumentRole.SECRET, _SECRETS] = [],  # noqa: B006
    ) -> Result:
        """Read from a web API, with headers and secrets of the vault. For pages use web_fetch."""
        return _answered(await _asked(web, _request(call, "GET", url, headers, secrets)))

    @tool(
        effect=Effect.UNSAFE,
        capabilities={Capability.READS_OUTSIDE, Capability.READS_PRIVATE, Capability.SENDS},
        result=_SITE,
        timeout_s=TIMEOUT_S + 10,
        is_rare=True,
    )
    async def http_request(
        call: Call,
        method: Annotated[_Method, ArgumentRole.TARGET, "What to do there."],
        url: Annotated[_Url, ArgumentRole.DESTINATION, "http or https."],
        body: Annotated[_Body, ArgumentRole.CONTENT, "JSON is sent as such."] = "",
        headers: Annotated[_Headers, ArgumentRole.CONTENT, _HEADERS] = [],  # noqa: B006
        secrets: Annotated[_Secrets, ArgumentRole.SECRET, _SECRETS] = [],  # noqa: B006
    ) -> Result:
        """Change something through a web API, with headers and secrets of the vault."""
        request = _request(call, method, url, headers, secrets)
        return _answered(await _asked(web, replace(request, body=body.encode(), headers=_with_kind(request.headers, body, call))))

    return (web_fetch, http_get, http_request)


def _request(call: Call, method: str, url: str, headers: list[str], secrets: list[str]) -> WebRequest:
    pairs = [each.partition(":") for each in headers]
    if wrong := next((name for name, colon, _ in pairs if not colon), None):
        raise ToolFailed("bad_header", f"{wrong[:60]!r} is no header; write it as `Name: value`")
    given = {name.strip(): value.strip() for name, _, value in pairs}
    names = tuple(dict.fromkeys(secrets))
    return WebRequest(url=url, method=method, headers=given, secrets=names, agent=call.agent, label=call.label, timeout_s=TIMEOUT_S)


def _with_kind(headers: dict[str, str], body: str, call: Call) -> dict[str, str]:
    """With the call's own key too: a service that knows it does the same once, however often it is asked."""
    known = {name.lower() for name in headers}
    added = {} if "idempotency-key" in known else {"Idempotency-Key": str(call.key)}
    if body and "content-type" not in known:
        added["Content-Type"] = "application/json" if body.lstrip()[:1] in ("{", "[") else "text/plain; charset=utf-8"
    return {**headers, **added}


async def _asked(web: Web, request: WebRequest) -> WebResponse:
    try:
        return await web.request(request)
    except WebFailed as failed:
        raise ToolFailed(failed.reason, str(failed), retryable=failed.reason in _SOON) from failed


async def _read(web: Web, blobs: Store, request: WebRequest) -> Result:
    response = await _asked(web, request)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    told: dict[str, JsonValue] = {"url": response.url}
    if response.status != 200:
        told["status"] = response.status
    if kind in _HTML or (not kind and response.body.lstrip()[:1] == b"<"):
        return _result(request, response, {**told, **_page(response)})
    if kind.endswith("json") or kind.startswith(_TEXT) or not kind:
        return _result(request, response, {**told, "type": kind, **_data(response, kind)})
    name = response.url.partition("?")[0].rpartition("/")[2][:100] or "file"
    kept = File(await blobs.put(response.body), name, kind, len(response.body))
    told |= {"type": kind, "bytes": len(response.body), "kept": str(kept.blob), "note": _CUT if response.is_cut else "kept as a file"}
    return replace(_result(request, response, told), parts=(kept,))


def _page(response: WebResponse) -> dict[str, JsonValue]:
    page = readable(_text(response), response.url)
    about = page.about
    told: dict[str, JsonValue] = {
        "title": about.title, "byline": about.byline, "site": about.site, "published": about.published, "language": about.language,
        "description": about.description, "canonical": about.canonical if about.canonical != response.url else "",
        "feeds": [*about.feeds], "text": page.text, "hidden_characters": page.unseen,
        "note": "; ".join(each for each in (page.note, _CUT if page.is_cut or response.is_cut else "") if each),
    }  # fmt: skip
    return {name: value for name, value in told.items() if value or name == "text"}


def _data(response: WebResponse, kind: str) -> dict[str, JsonValue]:
    text = _text(response)
    if kind.endswith("json") and len(text) <= MOST_JSON:
        try:
            return {"json": json.loads(text)}
        except (ValueError, RecursionError):
            pass  # it says that it is JSON, and is not
    is_cut = len(text) > MOST or response.is_cut
    return {"text": text[:MOST], "note": _CUT} if is_cut else {"text": text}


def _answered(response: WebResponse) -> Result:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    shown: dict[str, JsonValue] = {name: response.headers[name] for name in _SHOWN if name in response.headers}
    told: dict[str, JsonValue] = {"status": response.status, "type": kind, **_data(response, kind)}
    if shown:
        told["headers"] = shown
    label = Label.of(Origin(Author.STRANGER, f"web:{host_of(response.url)}"), readers=(OWNER,))
    return Result(told, touched=response.touched, labels={"": label})


def _result(request: WebRequest, response: WebResponse, told: dict[str, JsonValue]) -> Result:
    hosts = {host_of(request.url), host_of(response.url)}
    label = Label.of(*(Origin(Author.STRANGER, f"web:{host}") for host in hosts))
    return Result(told, touched=response.touched, labels={"": label})


def _text(response: WebResponse) -> str:
    """As the head says, else as the page says of itself, else as UTF-8."""
    told = _CHARSET.search(response.headers.get("content-type", "")) or _CHARSET.search(response.body[:2_048].decode("latin-1"))
    name = told[1].lower() if told else "utf-8"
    try:
        return response.body.decode(name if _KNOWN.fullmatch(name) else "utf-8", "replace")
    except LookupError:
        return response.body.decode("utf-8", "replace")
