"""Signing in, by a person at a terminal: with a browser, or with a code on another device.

    places → client → the person says yes on the service's page → code → tokens → vault

Nothing is changed before the tokens are there. The page is never opened from here: its address is shown, with its host, and the person goes
there. A proof (PKCE) binds the code to this very process, the state binds the browser's return to this very sign-in.
"""

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode, urlsplit

from daimon.abi.errors import LockedOut, Misconfigured, WebFailed
from daimon.abi.ports import Clock
from daimon.mcp.oauth.asking import Asking, Heard, host_of
from daimon.mcp.oauth.callback import Callback, Returned
from daimon.mcp.oauth.granting import Redeeming, granted
from daimon.mcp.oauth.keeping import Keeping, SignedIn
from daimon.mcp.oauth.places import Places, find
from daimon.mcp.oauth.registering import DEVICE, Client, given, registered
from daimon.mcp.words import shown

PATIENCE_S = 600.0
"""So long a person may take."""
_PACE_S = 5.0
_SLOWER_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    name: str
    server: str
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    at: tuple[str, ...] = ()
    """Hosts of sign-in pages that the owner knows to belong to the issuer."""
    port: int = 0
    """Where the browser comes back; 0: any. Clients that were registered by hand may need the same one every time."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A person is to go to `url`. With a browser it comes back by itself; otherwise `code` is to be typed there."""

    url: str
    host: str
    code: str = ""
    state: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Login:
    asking: Asking
    keeping: Keeping
    clock: Clock

    async def places(self, wish: Wish) -> Places:
        """Where, and for what: the server may have asked for more since the last time; then for both."""
        found, before = await find(self.asking, wish.server, wish.at), self._before(wish)
        if before is None or before.wanted is None or before.issuer != found.issuer:
            return found
        return replace(found, scopes=tuple(dict.fromkeys((*found.scopes, *before.scopes, *before.wanted))))

    def _before(self, wish: Wish) -> SignedIn | None:
        try:
            state = self.keeping.read(wish.name)
        except Misconfigured:  # it is made anew
            return None
        return state if state is not None and state.server == wish.server else None

    @asynccontextmanager
    async def by_browser(self, wish: Wish, places: Places) -> AsyncIterator["ByBrowser"]:
        """Raises WebFailed."""
        if not places.authorize:
            raise WebFailed("refused", f"{host_of(places.issuer)} has no sign-in page for browsers; try --device")
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(64)
        async with Callback(state, wish.port) as callback:
            client = await self._client(wish, places, callback.redirect)
            yield ByBrowser(self, wish, places, client, callback, verifier, _page(places, client, callback.redirect, state, verifier))

    async def by_device(self, wish: Wish, places: Places) -> "ByDevice":
        """Raises WebFailed."""
        if not places.device:
            raise WebFailed("refused", f"{host_of(places.issuer)} gives no codes for devices; sign in with a browser, without --device")
        client = await self._client(wish, places, "")
        fields, headers = client.proven(_wanted(places))
        heard = await self.asking.form(places.device, fields, headers)
        code, page = heard.text("device_code"), heard.text("verification_uri")
        if not heard.is_well or not code or urlsplit(page).scheme not in ("https", urlsplit(wish.server).scheme):
            raise WebFailed("bad_answer", f"{host_of(places.device)} gives no code: {heard.error or heard.status}")
        begun = Begun(shown(page, 500), host_of(page), shown(heard.text("user_code"), 40))
        pace_s, lasts_s = _seconds(heard, "interval", _PACE_S), _seconds(heard, "expires_in", PATIENCE_S)
        return ByDevice(self, wish, places, client, begun, code, pace_s, lasts_s)

    async def out(self, name: str) -> bool:
        """Nothing is left here; the service is told to forget the token too, if it can be. False: it was not told."""
        state = self.keeping.read(name)
        was_told = False
        if state is not None and state.revoke and (refresh := self.keeping.refresh(name, state) or self.keeping.access(name, state)):
            try:
                redeeming = Redeeming(self.asking, state.revoke, self.keeping.client(name, state))
                was_told = (await redeeming.ask({"token": refresh})).status == 200
            except WebFailed:
                was_told = False
        async with self.keeping.alone(name):
            self.keeping.end(name)
        return was_told

    async def _client(self, wish: Wish, places: Places, redirect: str) -> Client:
        return given(places, wish.client_id, wish.client_secret) if wish.client_id else await registered(self.asking, places, redirect)

    async def keep(self, wish: Wish, places: Places, client: Client, heard: Heard) -> None:
        tokens = granted(heard, host_of(places.token), self.clock.now())
        async with self.keeping.alone(wish.name):
            self.keeping.begin(wish.name, wish.server, places, client, tokens)


@dataclass(frozen=True, slots=True)
class ByBrowser:
    login: Login
    wish: Wish
    places: Places
    client: Client
    callback: Callback
    verifier: str = field(repr=False)
    begun: Begun

    async def finish(self, seconds: float = PATIENCE_S) -> None:
        """Waits for the browser. Raises WebFailed."""
        await self.take(await self.callback.wait(seconds))

    async def take(self, back: Returned) -> None:
        code = back.checked(self.places)
        fields = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self.callback.redirect, "code_verifier": self.verifier,
            "resource": self.places.resource,
        }  # fmt: skip
        redeeming = Redeeming(self.login.asking, self.places.token, self.client)
        heard = await redeeming.ask(fields)
        if not heard.is_well:
            redeeming.refuse(heard)
        await self.login.keep(self.wish, self.places, self.client, heard)


@dataclass(frozen=True, slots=True)
class ByDevice:
    login: Login
    wish: Wish
    places: Places
    client: Client
    begun: Begun
    code: str = field(repr=False)
    pace_s: float
    lasts_s: float

    async def finish(self) -> None:
        """Asks until somebody has typed the code. Raises WebFailed."""
        redeeming, clock, pace_s = Redeeming(self.login.asking, self.places.token, self.client), self.login.clock, self.pace_s
        until = clock.monotonic() + self.lasts_s
        fields = {"grant_type": DEVICE, "device_code": self.code, "resource": self.places.resource}
        while clock.monotonic() < until:
            await clock.sleep(pace_s)
            try:
                heard = await redeeming.ask(fields)
            except WebFailed:
                pace_s += _SLOWER_S
                continue
            if heard.is_well:
                return await self.login.keep(self.wish, self.places, self.client, heard)
            if heard.error == "slow_down" or heard.status >= 500:
                pace_s += _SLOWER_S
            elif heard.error != "authorization_pending":
                redeeming.refuse(heard)
        raise LockedOut(f"nobody typed the code within {self.lasts_s:.0f} s; begin again when you are ready")


def _page(places: Places, client: Client, redirect: str, state: str, verifier: str) -> Begun:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    asked = {
        "response_type": "code", "client_id": client.id, "redirect_uri": redirect, "state": state, "code_challenge": challenge,
        "code_challenge_method": "S256", **_wanted(places),
    }  # fmt: skip
    joint = "&" if urlsplit(places.authorize).query else "?"
    return Begun(f"{places.authorize}{joint}{urlencode(asked)}", host_of(places.authorize), state=state)


def _wanted(places: Places) -> dict[str, str]:
    return {"resource": places.resource, **({"scope": " ".join(places.scopes)} if places.scopes else {})}


def _seconds(heard: Heard, name: str, usual: float) -> float:
    found = heard.fields.get(name)
    return min(max(float(found), 1.0), 3_600.0) if isinstance(found, int | float) and not isinstance(found, bool) else usual
