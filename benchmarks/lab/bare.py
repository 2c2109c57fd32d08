"""The bare gateway: the least HTTP server that may say 202. It finds the end of the request, writes the body on the floor
(`floor.py`), and answers.

python -m lab.bare FILE      prints its port
"""

import asyncio
import sys
from pathlib import Path

from lab.floor import Floor

ANSWER = b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n" + b'{"new":true}'


class Connection(asyncio.Protocol):
    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().rpartition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(body) >= length:
            self._buffer = body[length:]
            self._floor.write(body[:length]).add_done_callback(self._answer)

    def _answer(self, _: "asyncio.Future[None]") -> None:
        self._transport.write(ANSWER)  # type: ignore[attr-defined]


async def serve(path: Path) -> None:
    floor = Floor(path)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(floor), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main(path: str) -> None:
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    run(serve(Path(path)))


if __name__ == "__main__":
    main(sys.argv[1])
