"""Whoever listens on the host: by address, by path, by abstract name. Each keeps what it heard, and says one word that only it knows."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

PORT = 8_099
METADATA, PUBLIC, OWN = "169.254.169.254", "93.184.216.34", "10.99.0.1"


class Sinks:
    FILES = ("service.sock",)

    def __init__(self, word: str) -> None:
        self._word = word
        self._heard: dict[str, bytearray] = {}
        self.known: dict[str, str] = {"port": str(PORT), "own": OWN, "metadata": METADATA, "public": PUBLIC, "abstract": "owners-service"}

    async def start(self, stack: AsyncExitStack, home: Path) -> None:
        for name, address, port in (
            ("loopback", "127.0.0.1", PORT), ("loopback-web", "127.0.0.1", 80), ("own", OWN, PORT), ("metadata", METADATA, 80),
            ("public", PUBLIC, 80), ("public-other-port", PUBLIC, 8_080), ("loopback6", "::1", PORT),
        ):  # fmt: skip
            server = await asyncio.start_server(self._taking(name), address, port)
            stack.callback(server.close)
        for name, path in (
            ("path", str(home / "service.sock")),
            ("workspace", str(home / "work/service.sock")),
            ("abstract", "\0owners-service"),
        ):
            server = await asyncio.start_unix_server(self._taking(name), path)
            stack.callback(server.close)
        for name in ("path", "workspace"):
            (home / ("work/service.sock" if name == "workspace" else "service.sock")).chmod(0o666)
        loop = asyncio.get_running_loop()
        for name, address in (("udp", "127.0.0.1"), ("udp-own", OWN)):
            transport, _ = await loop.create_datagram_endpoint(lambda name=name: _Datagrams(self._kept(name)), (address, PORT))
            stack.callback(transport.close)

    def heard(self, name: str) -> bytes:
        return bytes(self._kept(name))

    def clear(self) -> None:
        for kept in self._heard.values():
            kept.clear()

    def _kept(self, name: str) -> bytearray:
        return self._heard.setdefault(name, bytearray())

    def _taking(self, name: str):
        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            kept = self._kept(name)
            kept += b"(connected)"
            body = f"{self._word}\n".encode()
            try:
                while data := await asyncio.wait_for(reader.read(65_536), 5):
                    kept += data
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                    await writer.drain()
            except (OSError, TimeoutError):
                pass
            writer.close()

        return take


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, kept: bytearray) -> None:
        self._kept = kept

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._kept += data
