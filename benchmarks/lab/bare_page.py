"""The least that can bring a token to a screen: a WebSocket that sends stamps, and a page of five lines that shows them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from lab.stamps import PAUSE_S, stamp

PAGE = b"""<!doctype html><meta charset="utf-8"><title>bare</title><p id="said"></p><script>
const text = document.createTextNode(''); said.append(text);
new WebSocket(location.href.replace('http', 'ws')).onmessage = ({data}) => text.appendData(data);
</script>"""


@asynccontextmanager
async def bare_page(count: int) -> AsyncIterator[str]:
    async def say(line: ServerConnection) -> None:
        for _ in range(count):
            await line.send(stamp())
            await asyncio.sleep(PAUSE_S)
        await line.wait_closed()

    def show(line: ServerConnection, request: Request) -> Response | None:
        if request.headers.get("Upgrade"):
            return None
        return Response(
            HTTPStatus.OK, "OK", Headers({"Content-Type": "text/html", "Content-Length": str(len(PAGE)), "Connection": "close"}), PAGE
        )

    async with serve(say, "127.0.0.1", 0, process_request=show) as server:
        yield f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/"
