"""The door that is not in the home: TCP, on loopback or on the network.

Every program and every web page on the machine can connect here, and with a LAN bind every device on the network. In this order:

1. **The name.** `Host` must be one of ours (`places.py`), so a page that makes its name point here gets nothing.
2. **Who passes it on.** Forwarded headers are believed from a listed proxy only. From anybody else they mean that some proxy passes on to
   us what it should not: such a request is refused, because "from this machine" would be said of the whole world.
3. **`/mcp`** is for programs with a token that was made for them, and for nobody else (`programs.py`).
4. **The token**, if there is one: all rights. No page of any origin may send it.
5. **What is open to all**: the page's own files, which hold nothing of the owner's, and the ways to sign in.
6. **The session.** The cookie alone is not enough: browsers send it along with whatever any page asks for. The request must also say that
   it comes from our own page: `Sec-Fetch-Site`, an exact `Origin` on whatever changes something and on WebSockets, the header
   `X-Daimon: 1` and JSON, which no form can send.

What services post to `/hooks/NAME` needs no token: its signature is looked at behind the door. It may also come under the host name of
`gateway.public_url`, as a proxy passes it on; under that name nothing else is there, with or without a token.
"""

import asyncio
import hmac
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from starlette.types import Scope

from daimon.abi.access import NOBODY, OWNERS_TOKEN, PROGRAMS, Caller
from daimon.abi.errors import JournalFailed
from daimon.gateway.access.entrance import Entrance
from daimon.gateway.access.places import LOOPBACK, Place, Places
from daimon.gateway.access.programs import AT, Programs, too_many
from daimon.gateway.access.sessions import caller_of
from daimon.gateway.answers import explained
from daimon.gateway.door import Admitted, Headers, Refused, Source
from daimon.gateway.hooks.route import PATH

FOR_ANYBODY = frozenset({"/healthz", "/readyz"})
SIGNING_IN = frozenset({"/v1/enter", "/v1/devices/requests", "/v1/devices/requests/collect"})
"""Open to those who are not in yet, by POST, from our own page."""
FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-real-ip"})
SAFE = frozenset({"GET", "HEAD"})
_PORT = re.compile(r":\d+$")
_TOKEN_HINT = "send `Authorization: Bearer TOKEN`; the token is in the file `token` of the home directory"
_OWN_PAGE = "this can only be asked by the page itself"


def is_page(path: str) -> bool:
    """The page's own files hold nothing of the owner's; all else is below these."""
    return not path.startswith(("/v1/", "/hooks/")) and path not in ("/v1", "/hooks", AT)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the settings say."""

    places: Places = Places()
    public_url: str = ""
    proxies: tuple[str, ...] = ()
    """Addresses and networks whose forwarded headers are believed."""
    is_page: Callable[[str], bool] = is_page


class TokenDoor:
    """What the owner's own programs need, and what services post: known at once, without anything to look up."""

    def __init__(self, token: str, public_url: str = "") -> None:
        self._token = f"Bearer {token}".encode()
        public = urlsplit(public_url).netloc.rpartition("@")[2]
        self._posting = LOOPBACK | {_PORT.sub("", public).lower()} if public else LOOPBACK

    def is_token(self, sent: bytes) -> bool:
        return hmac.compare_digest(sent, self._token)

    def may_post_as(self, host: str) -> bool:
        return host in self._posting

    def refusal(self, headers: Headers, path: str) -> tuple[int, bytes] | None:
        host = _PORT.sub("", headers.get("host", "")).lower()
        is_posted = PATH.fullmatch(path) is not None
        if host not in (self._posting if is_posted else LOOPBACK):
            return 421, explained("wrong_host", _elsewhere(host))
        if "origin" in headers:
            return 403, explained("foreign_origin", _OWN_PAGE)
        if is_posted or path in FOR_ANYBODY:
            return None
        if not FORWARDED.isdisjoint(headers) or not self.is_token(headers.get("authorization", "").encode("latin-1")):
            return 401, explained("no_token", _TOKEN_HINT)
        return None


class FrontDoor:
    def __init__(self, token: TokenDoor, entrance: Entrance, rules: Rules) -> None:
        self._token, self._rules = token, rules
        self._sessions, self._attempts, self._acts = entrance.sessions, entrance.attempts, entrance.acts
        self._programs = Programs(entrance.sessions, entrance.attempts)
        self._proxies = tuple(ip_network(each, strict=False) for each in rules.proxies)
        self.refusal = token.refusal

    def admit(self, scope: Scope) -> Admitted | Refused:
        asked = _Asked.of(scope)
        if PATH.fullmatch(asked.path) is not None and (posted := self._posted(asked)) is not None:
            return posted
        if asked.is_forwarded and asked.path not in FOR_ANYBODY and not self._is_proxy(asked.peer):
            return Refused(403, "unlisted_proxy", f"{asked.peer} passes requests on and is not in gateway.trusted_proxies")
        place = self._rules.places.find(self._host(asked))
        if place is None:
            return Refused(421, "wrong_host", _elsewhere(self._host(asked)))
        source = self._source(asked, place)
        if asked.path in FOR_ANYBODY and asked.origin is None:
            return Admitted(NOBODY, source)
        if asked.path == AT:
            if asked.origin not in (None, place.origin):
                return Refused(403, "foreign_origin", _OWN_PAGE)
            return self._programs.admit(asked.token, source)
        if asked.token:
            return self._by_token(asked, source)
        if self._rules.is_page(asked.path) and asked.path not in FOR_ANYBODY:
            return Admitted(NOBODY, source)
        return self._by_browser(asked, source, place)

    async def note(self, found: Admitted | Refused) -> None:
        if isinstance(found, Refused):
            if found.by:
                await self._acts.failed(found.by, "call with a token", found.code)
        elif found.caller not in (NOBODY, OWNERS_TOKEN):
            with suppress(JournalFailed):  # a full disk keeps nobody from looking
                await self._sessions.seen(found.caller.id)

    def is_still(self, caller: Caller) -> bool:
        if caller in (NOBODY, OWNERS_TOKEN):
            return True
        return self._sessions.is_still(caller)

    async def until_over(self, caller: Caller) -> None:
        if caller.id == OWNERS_TOKEN.id:
            await asyncio.Event().wait()
        if caller != NOBODY:
            await self._sessions.until_over(caller)

    def _posted(self, asked: "_Asked") -> Admitted | Refused | None:
        """A service posts. None: not under a name that services use, so it is looked at like all else."""
        if not self._token.may_post_as(_PORT.sub("", asked.host)):
            return None
        if asked.origin is not None:
            return Refused(403, "foreign_origin", _OWN_PAGE)
        return Admitted(NOBODY, Source(asked.peer, is_local=False))

    def _by_token(self, asked: "_Asked", source: Source) -> Admitted | Refused:
        if asked.origin is not None:
            return Refused(403, "foreign_origin", "web pages may not send the token")
        if (locked_s := self._attempts.locked_s(source.address)) > 0:
            return too_many(locked_s)
        if self._token.is_token(asked.token):
            return Admitted(OWNERS_TOKEN, source)
        wait_s = self._attempts.wrong(source.address, source.is_local)
        return Refused(401, "no_token", _TOKEN_HINT, by=source.address, wait_s=wait_s)

    def _by_browser(self, asked: "_Asked", source: Source, place: Place) -> Admitted | Refused:
        if asked.origin not in (None, place.origin):
            return Refused(403, "foreign_origin", _OWN_PAGE)
        is_signing_in = asked.path in SIGNING_IN and asked.method == "POST"
        secret = asked.cookies.get(place.cookie, "")
        if not secret and not is_signing_in:
            return Refused(401, "no_token", f"{_TOKEN_HINT}; in a browser, sign in with the link that `daimon open` prints")
        if (refused := _not_our_page(asked, place)) is not None:
            return refused
        if is_signing_in:
            return Admitted(NOBODY, source)
        device = self._sessions.find(secret)
        if device is None or device.by in PROGRAMS:  # what a program holds is no cookie
            return Refused(401, "no_session", "this browser is not signed in any more; `daimon open` prints a new link")
        return Admitted(caller_of(device), source)

    def _host(self, asked: "_Asked") -> str:
        return asked.headers.get("x-forwarded-host", asked.host) if asked.is_forwarded and self._is_proxy(asked.peer) else asked.host

    def _source(self, asked: "_Asked", place: Place) -> Source:
        """Behind listed proxies: the last address that none of them has."""
        address = asked.peer
        if asked.is_forwarded:
            for each in reversed([part.strip() for part in asked.headers.get("x-forwarded-for", "").split(",") if part.strip()]):
                address = each
                if not self._is_proxy(each):
                    break
        return Source(address[:64], not asked.is_forwarded and _is_loopback(asked.peer), place)

    def _is_proxy(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        return any(found in each for each in self._proxies)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a door looks at."""

    method: str
    path: str
    headers: Mapping[str, str]
    peer: str

    @classmethod
    def of(cls, scope: Scope) -> "_Asked":
        headers: dict[str, str] = {}
        for raw, value in scope["headers"]:
            name, text = raw.decode("latin-1").lower(), value.decode("latin-1").strip(" \t")
            # A header that is there twice is one that nobody matches, but for lists that may be cut anywhere.
            headers[name] = f"{headers[name]}{'; ' if name == 'cookie' else ', '}{text}" if name in headers else text
        peer = scope["client"][0] if scope.get("client") else ""
        return cls(scope["method"] if scope["type"] == "http" else "WEBSOCKET", scope["path"], headers, peer)

    @property
    def host(self) -> str:
        return self.headers.get("host", "").lower()

    @property
    def origin(self) -> str | None:
        """An empty one is one as well: only a browser sends any."""
        return self.headers.get("origin")

    @property
    def token(self) -> bytes:
        return self.headers.get("authorization", "").encode("latin-1")

    @property
    def is_forwarded(self) -> bool:
        return not FORWARDED.isdisjoint(self.headers)

    @property
    def has_body(self) -> bool:
        return self.headers.get("content-length", "0") != "0" or "transfer-encoding" in self.headers

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def cookies(self) -> dict[str, str]:
        pairs = (part.strip().partition("=") for part in self.headers.get("cookie", "").split(";"))
        return {name: value for name, equals, value in pairs if equals}


def _not_our_page(asked: _Asked, place: Place) -> Refused | None:
    """Why a request with a cookie may come from elsewhere than our own page."""
    site, is_ours = asked.headers.get("sec-fetch-site"), asked.headers.get("x-daimon") == "1"
    if site not in (None, "same-origin", "none"):
        return Refused(403, "foreign_site", _OWN_PAGE)
    if asked.method in SAFE:
        says_so = site is not None or is_ours or asked.origin is not None or not place.tells_sites
        return None if says_so else Refused(403, "foreign_site", f"{_OWN_PAGE}: neither Sec-Fetch-Site nor X-Daimon was sent")
    if asked.origin != place.origin:
        return Refused(403, "foreign_origin", f"{_OWN_PAGE}: no Origin was sent")
    if asked.method == "WEBSOCKET":
        return None
    if not is_ours:
        return Refused(403, "foreign_site", f"{_OWN_PAGE}: the header X-Daimon is missing")
    wanted = "application/octet-stream" if asked.path == "/v1/blobs" else "application/json"
    if asked.has_body and asked.media_type != wanted:
        return Refused(415, "bad_type", f"the body must be {wanted}, not {asked.media_type[:60]!r}")
    return None


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _elsewhere(host: str) -> str:
    return f"this is not {host[:100]!r}; call it as 127.0.0.1 or localhost, or under a name of gateway.origins"
