"""Matrix: whose token it is. It must be that of the account in the settings, as the channel demands when it starts."""

from collections.abc import Callable
from urllib.parse import urlsplit

import httpx2

from daimon.abi.errors import LockedOut, Misconfigured
from daimon.gateway.channels.matrix_line import Line
from daimon.gateway.channels.matrix_wire import text
from daimon.gateway.checks.found import Checked


async def check(homeserver: str, user: str, token: Callable[[], str]) -> Checked:
    """Raises LockedOut, NotSent, ConnectionError, Misconfigured."""
    if urlsplit(homeserver).scheme not in ("http", "https") or not urlsplit(homeserver).hostname:
        raise Misconfigured(f"{homeserver[:200]!r} is no address of a homeserver; give one such as https://matrix.org")
    line = Line(homeserver, token)
    try:
        owner = text(await line.ask("GET", "/account/whoami"), "user_id")
    except httpx2.HTTPError as error:
        raise ConnectionError(f"{homeserver} did not answer as a homeserver does: {type(error).__name__}") from None
    finally:
        await line.close()
    if owner != user:
        raise LockedOut(f"the access token is that of {owner[:200] or 'nobody'}, not of {user}: give the one of {user}")
    return Checked(owner, pair_at=f"a room without encryption: /invite {owner} CODE")
