"""Slack: whose bot token it is, and whether the app token opens a socket. The socket is asked for and not opened."""

from collections.abc import Callable

from daimon.gateway.channels.slack_api import WebApi
from daimon.gateway.checks.found import Checked


async def check(api: str, bot_token: Callable[[], str], app_token: Callable[[], str]) -> Checked:
    """Raises LockedOut, NotSent, ConnectionError."""
    web = WebApi(api, bot_token, app_token)
    told = await web.ask("auth.test", {})
    await web.ask("apps.connections.open", {}, as_app=True)
    who = str(told.get("user") or told.get("user_id") or "the app")
    team = str(told.get("team") or told.get("team_id") or "")
    facts = (*((f"in the workspace {team}",) if team else ()), "socket mode is on")
    return Checked(f"@{who}", facts, pair_at=f"a direct message to @{who} (under Apps)")
