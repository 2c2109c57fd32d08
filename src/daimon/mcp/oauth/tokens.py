"""Tokens that are good when they are needed.

`ready` is asked before a connection and answers with the name under which the vault has a good token; `refused` is told when the server did
not take it. Whoever asks while a token is being renewed waits for that one renewal. Neither ever asks a person anything: where only a
person can help, they raise LockedOut with the command to give, and the owner is told once, over restarts too.

A token is renewed a while before it runs out. One that seems to come from the future is renewed as well: the clock was set back. A renewal
that cannot be had for the moment is no harm while the old token is good; after that, calls fail until it can, and the service is asked
again after a pause that grows. New tokens that cannot be written down are held and written before anything else: a service that gives each
of its renewals once only would otherwise have locked us out.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from daimon.abi.errors import LockedOut, Misconfigured, NotFound, WebFailed
from daimon.abi.ports import Clock
from daimon.mcp.oauth.asking import Asking, host_of
from daimon.mcp.oauth.challenge import MOST_SCOPES
from daimon.mcp.oauth.granting import Granted, Redeeming
from daimon.mcp.oauth.keeping import Keeping, SignedIn, secret_of

EARLY = timedelta(seconds=60)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 300.0
Tell = Callable[[str], Awaitable[None]]
"""The owner, in one sentence."""


@dataclass(slots=True)
class _Held:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    unwritten: Granted | None = None
    not_before: float = 0.0
    pause_s: float = FIRST_PAUSE_S


@dataclass(frozen=True, slots=True)
class Tokens:
    keeping: Keeping
    asking: Asking
    clock: Clock
    tell: Tell
    _held: dict[str, _Held] = field(default_factory=dict)

    async def ready(self, name: str, server: str) -> str:
        """The secret of the vault that is good at this address. Raises LockedOut, and WebFailed for what may mend itself."""
        return await self._renewed(name, server, None)

    async def refused(self, name: str, server: str, token: str) -> str:
        """The server did not take this token; perhaps there is another one by now, or one can be had. As `ready`."""
        return await self._renewed(name, server, token)

    async def short_of(self, name: str, server: str, scopes: tuple[str, ...]) -> None:
        """The token was taken and does not cover what was asked. A person must sign in for more; the owner is told the first time, and
        what else the token is good for goes on."""
        async with self._held.setdefault(name, _Held()).lock, self.keeping.alone(name):
            state = self.keeping.read(name)
            if state is None or state.server != server:
                return
            known = state.wanted or ()
            wanted = (*known, *(each for each in scopes if each not in known))[:MOST_SCOPES]
            if wanted != state.wanted:
                self.keeping.write(name, replace(state, wanted=wanted))
        if state.wanted is None:
            which = f" ({', '.join(wanted)})" if wanted else ""
            words = f"it wants more rights{which} than you gave it: sign in again with `daimon mcp login {name}`, if that is right"
            await self.tell(f"The MCP server {name} needs you: {words}.")

    def lacking(self, name: str, server: str) -> tuple[str, ...] | None:
        """What a person must sign in for, by scopes; empty: it is not said. None: nobody need."""
        try:
            state = self.keeping.read(name)
        except Misconfigured:
            return ()
        if state is None or state.server != server or state.is_over:
            return ()
        return state.wanted

    async def _renewed(self, name: str, server: str, bad: str | None) -> str:
        held = self._held.setdefault(name, _Held())
        async with held.lock:
            state = await self._state(name, server)
            if held.unwritten is not None:
                state = self._write(name, state, held, held.unwritten)
            if self._is_good(state, EARLY) and not self._is_bad(name, state, bad):
                return secret_of(name)
            async with self.keeping.alone(name):
                state = await self._state(name, server)  # somebody else may have done it
                if not self._is_good(state, EARLY) or self._is_bad(name, state, bad):
                    await self._renew(name, state, held, bad)
            return secret_of(name)

    async def _state(self, name: str, server: str) -> SignedIn:
        state = self.keeping.read(name)
        if state is None or state.server != server:
            raise LockedOut(f"nobody is signed in at {name}; sign in with `daimon mcp login {name}`")
        if state.is_over:
            raise await self._over(name, state, "the sign-in is over")
        return state

    async def _renew(self, name: str, state: SignedIn, held: _Held, bad: str | None) -> None:
        refresh = self.keeping.refresh(name, state)
        if not refresh:
            raise await self._over(name, state, "the sign-in has run out, and cannot be renewed")
        try:
            self._check_pause(name, state, held)
            redeeming = Redeeming(self.asking, state.token, self.keeping.client(name, state))
            fields = {"grant_type": "refresh_token", "refresh_token": refresh, "resource": state.resource}
            granted = await redeeming.redeem(fields, self.clock.now())
        except LockedOut:
            raise await self._over(name, state, "the sign-in was ended there") from None
        except WebFailed:
            held.not_before, held.pause_s = self.clock.monotonic() + held.pause_s, min(held.pause_s * 2, LONGEST_PAUSE_S)
            if bad is None and self._is_good(state, timedelta()):
                return
            raise
        held.not_before, held.pause_s = 0.0, FIRST_PAUSE_S
        self._write(name, state, held, granted)

    def _write(self, name: str, state: SignedIn, held: _Held, granted: Granted) -> SignedIn:
        held.unwritten = granted
        self.keeping.renew(name, state, granted)
        held.unwritten = None
        return state.renewed(granted)

    def _check_pause(self, name: str, state: SignedIn, held: _Held) -> None:
        if (left := held.not_before - self.clock.monotonic()) > 0:
            raise WebFailed("resting", f"{host_of(state.token)} could not renew the sign-in at {name}; it is asked again in {left:.0f} s")

    async def _over(self, name: str, state: SignedIn, why: str) -> LockedOut:
        words = f"{why}: sign in at {name} with `daimon mcp login {name}`"
        if not state.is_told:
            self.keeping.write(name, replace(state, is_over=True, is_told=True))
            await self.tell(f"The MCP server {name} needs you: {words}.")
        return LockedOut(words)

    def _is_good(self, state: SignedIn, early: timedelta) -> bool:
        now = self.clock.now()
        if now < state.at - timedelta(seconds=5):
            return False
        return state.expires_at is None or now < state.expires_at - min(early, _share(state, state.expires_at))

    def _is_bad(self, name: str, state: SignedIn, bad: str | None) -> bool:
        try:
            return bad is not None and self.keeping.access(name, state) == bad
        except NotFound:
            return True


def _share(state: SignedIn, until: datetime) -> timedelta:
    """A token that is good for a minute is not renewed all the time."""
    return (until - state.at) / 10
