"""Did a request that failed reach the other side? What is certain is told by the HTTP library's own trace, not guessed from an error's
class.

Nothing was done if no connection came about, or if it broke before the first byte of the body was written, since a request without its
body is none. All else is in doubt.
"""

from collections.abc import Mapping

import httpx2

NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)


class Begun:
    """Watches one request: `extensions={"trace": begun.trace}`."""

    def __init__(self) -> None:
        self.began = False

    async def trace(self, name: str, _: Mapping[str, object]) -> None:
        self.began = self.began or name.endswith("send_request_body.started")

    def is_certain(self, error: Exception) -> bool:
        """Surely nothing was done."""
        return isinstance(error, NEVER_SENT) or not self.began
