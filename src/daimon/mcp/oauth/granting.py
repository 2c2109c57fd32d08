"""Tokens, as the token endpoint gives them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from daimon.abi.errors import LockedOut, WebFailed
from daimon.mcp.oauth.asking import Asking, Heard, host_of
from daimon.mcp.oauth.registering import Client

LONGEST_S = 10 * 365 * 86_400.0
SHORTEST = 8
"""A shorter token would be found in ordinary text."""
_OVER = frozenset({"invalid_grant", "invalid_client", "unauthorized_client", "access_denied", "expired_token"})
"""Another try is of no use: somebody must sign in."""


@dataclass(frozen=True, slots=True)
class Granted:
    access: str = field(repr=False)
    refresh: str = field(repr=False)
    """Empty: there is none, or the one of before stays."""
    at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Redeeming:
    asking: Asking
    token: str
    """The endpoint."""
    client: Client

    async def redeem(self, fields: dict[str, str], now: datetime) -> Granted:
        """Raises LockedOut where somebody must sign in (again), WebFailed for all that may mend itself."""
        heard = await self.ask(fields)
        if not heard.is_well:
            self.refuse(heard)
        return granted(heard, host_of(self.token), now)

    async def ask(self, fields: dict[str, str]) -> Heard:
        body, headers = self.client.proven(fields)
        return await self.asking.form(self.token, body, headers)

    def refuse(self, heard: Heard) -> None:
        host = host_of(self.token)
        if heard.error in _OVER or heard.status in (401, 403):
            raise LockedOut(f"{host} gives no token: {heard.error or heard.status}")
        raise WebFailed("bad_answer", f"{host} gives no token: {heard.error or f'it answered {heard.status}'}; try again later")


def granted(heard: Heard, host: str, now: datetime) -> Granted:
    access, kind = heard.text("access_token"), heard.text("token_type")
    if len(access) < SHORTEST or kind.lower() != "bearer" or not access.isascii() or not access.isprintable():
        raise WebFailed("bad_answer", f"{host} gave something that is no token to bear")
    refresh = heard.text("refresh_token")
    return Granted(access, refresh if len(refresh) >= SHORTEST else "", now, _until(heard, now))


def _until(heard: Heard, now: datetime) -> datetime | None:
    lasts = heard.fields.get("expires_in")
    try:
        seconds = float(lasts) if isinstance(lasts, str | int | float) and not isinstance(lasts, bool) else None
    except ValueError:
        seconds = None
    return None if seconds is None or seconds != seconds else now + timedelta(seconds=max(0.0, min(seconds, LONGEST_S)))
