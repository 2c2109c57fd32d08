"""The bare gateways: the least HTTP servers that may say 202. They find the end of the request, write the body on the floor
(`floor.py`), and answer; no key, no schema, no token, no order.

python -m lab.bare FILE          asyncio's own server and streams; prints its port
python -m lab.bare FILE raw      a protocol on raw sockets under uvloop: what the machine can do at most
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
        if found and len(body) >= (length := length_in(head)):
            self._buffer = body[length:]
            self._floor.write(body[:length]).add_done_callback(self._answer)

    def _answer(self, _: "asyncio.Future[None]") -> None:
        self._transport.write(ANSWER)  # type: ignore[attr-defined]


def length_in(head: bytes) -> int:
    return int(head.lower().rpartition(b"content-length:")[2].split(b"\r\n", 1)[0])


async def talk(floor: Floor, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            await floor.write(await reader.readexactly(length_in(head)))
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve(path: Path, is_raw: bool) -> None:
    floor = Floor(path)
    if is_raw:
        server = await asyncio.get_running_loop().create_server(lambda: Connection(floor), "127.0.0.1", 0, backlog=512)
    else:
        server = await asyncio.start_server(lambda reader, writer: talk(floor, reader, writer), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main(path: str, kind: str = "") -> None:
    if kind == "raw":
        import uvloop

        uvloop.run(serve(Path(path), is_raw=True))
    else:
        asyncio.run(serve(Path(path), is_raw=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
