"""The way to the gateway for the relay: HTTP on the socket in the home.

The SDK's client ends for good when a connection cannot be made. A gateway that is away is no reason for that, it may be back for the next
call: so that nobody answers is an answer here, one that the protocol knows.
"""

import json

import httpx2

NOT_SENT, IN_DOUBT = -32_050, -32_051
AWAY = "no gateway answers; `daimon up` starts one"
BROKEN_OFF = "the gateway went away before it answered; it may have taken this in, so send it again with the same key"


class Pipe(httpx2.AsyncBaseTransport):
    def __init__(self, address: str) -> None:
        self._line = httpx2.AsyncHTTPTransport(uds=address)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._line.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            return _instead(request, NOT_SENT, AWAY)
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
            return _instead(request, IN_DOUBT, BROKEN_OFF)

    async def aclose(self) -> None:
        await self._line.aclose()


def _instead(request: httpx2.Request, code: int, why: str) -> httpx2.Response:
    said = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": why}}).encode()
    return httpx2.Response(503, headers={"Content-Type": "application/json"}, content=said, request=request)
