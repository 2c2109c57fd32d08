"""One calendar on a server: what it is asked over HTTP, what it answers, and in which words a refusal is told.

The password is never here: a request names it by its placeholder, and the way out puts it in. Where the address is that of a whole
server, the calendar is looked for once (`discovery.py`), and must be the only one there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from daimon.abi.errors import ToolFailed, WebFailed
from daimon.abi.ids import AgentId
from daimon.abi.label import Label
from daimon.abi.tool import Touched
from daimon.abi.web import Web, WebRequest, WebResponse
from daimon.calendars.dav import NotXml, Resource, resources

KEEPER = AgentId("calendars")
"""Whom the vault gives the passwords to. It is no agent: none can use them past this driver, from a box or through `http_request`."""
TIMEOUT_S = 30.0
MOST_BYTES = 8 * 1024 * 1024
_SOON = frozenset({"timeout", "unreachable", "resting"})
_REFUSED = frozenset({401, 403})
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What the settings say of a calendar."""

    name: str
    url: str
    user: str = ""
    secret: str = ""
    """The name of its password in the vault. Empty: none is needed."""
    address: str = ""
    """The owner's, as organiser."""
    is_own: bool = False
    """Only the owner writes into it."""
    is_changeable: bool = True


@dataclass(frozen=True, slots=True)
class On:
    """Under what a request goes out, and what of it was seen."""

    label: Label
    touched: list[Touched] = field(default_factory=list)


class Account:
    def __init__(self, access: Access, web: Web) -> None:
        self.access = access
        self._web = web

    async def tell(self, method: str, url: str, on: On, headers: Mapping[str, str] = {}, body: bytes = b"") -> WebResponse:
        """Any answer but a refusal of the password."""
        access, sent = self.access, dict(headers)
        if access.user:
            sent["Authorization"] = f"Basic {access.user}:{{vault:{access.secret}}}"
        request = WebRequest(
            url=url, method=method, headers=sent, body=body, secrets=(access.secret,) if access.user else (),
            agent=KEEPER, label=on.label, most_bytes=MOST_BYTES, timeout_s=TIMEOUT_S,
        )  # fmt: skip
        try:
            response = await self._web.request(request)
        except WebFailed as failed:
            raise ToolFailed(failed.reason, f"the calendar {access.name}: {failed}", failed.reason in _SOON) from failed
        on.touched.extend(response.touched)
        return self._let_in(response)

    async def listed(self, method: str, url: str, on: On, body: bytes, depth: str = "0") -> tuple[Resource, ...]:
        """The answer to a question about what is there."""
        response = await self.tell(method, url, on, {"Depth": depth, "Content-Type": "application/xml; charset=utf-8"}, body)
        if response.status in _GONE or response.status == 405:
            raise ToolFailed("not_found", f"the calendar {self.access.name}: there is nothing of the kind at {url}; check its url")
        if response.status != 207:
            raise self.failed(response)
        if response.is_cut:
            raise ToolFailed("too_much", f"the calendar {self.access.name} has more than fits into one answer; ask for a shorter time")
        try:
            return resources(response.body)
        except NotXml as wrong:
            raise ToolFailed("no_calendar", f"the calendar {self.access.name}: {url} is no calendar server: {wrong}") from wrong

    def failed(self, response: WebResponse) -> ToolFailed:
        name, status = self.access.name, response.status
        if status == 412:
            return ToolFailed("changed", f"the event in {name} was changed by somebody else meanwhile; read it again, then try again", True)
        if status in _GONE:
            return ToolFailed("not_found", f"there is no such event in {name} any more; look again with calendar_events")
        if status == 507:
            return ToolFailed("full", f"the server of the calendar {name} has no room left")
        return ToolFailed("refused", f"the server of the calendar {name} answered {status}; nothing was changed", status >= 500)

    def _let_in(self, response: WebResponse) -> WebResponse:
        access = self.access
        if response.status not in _REFUSED:
            return response
        if not access.user:
            raise ToolFailed("locked_out", f"the calendar {access.name} asks for a user; set calendars.{access.name}.user and password")
        text = f"the calendar {access.name} does not let {access.user} in, or not do this ({response.status})"
        raise ToolFailed("locked_out", f"{text}; the owner can give another password with `daimon secrets rotate {access.secret}`")

    def joined(self, href: str, base: str) -> str:
        """Where something of the server's own is. Raises ToolFailed for a place elsewhere: the password is not for that."""
        url = urljoin(base, href)
        if urlsplit(url)[:2] != urlsplit(base)[:2]:
            raise ToolFailed("elsewhere", f"the calendar {self.access.name} leads to another server: {url[:200]}; use that as its url")
        return url
