"""The sender, in a process of its own: many connections that stay open, one request under way on each, as fast as the answers come.

    python -m lab.load PORT SECONDS CONNECTIONS FILE [SECRET]
    python -m lab.load PORT 0       CONNECTIONS FILE [SECRET]    sends what FILE names once more and counts what is new

It posts as a service does to a webhook: each connection to a hook of its own (`/hooks/cN`), each delivery with an id and a body of its own,
signed with the secret. An id whose 202 was seen is written to FILE. The last line on stdout is JSON: how many, how fast, how late.
"""

import asyncio
import hmac
import json
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from lab import report

TEXT = "What do we know about the trip to Lisbon, and who has not answered yet? " * 3


class Sender(asyncio.Protocol):
    """One connection. Ends with its keys, with the time, or when nobody answers any more."""

    def __init__(self, name: str, secret: str, keys: Iterator[str], until: float) -> None:
        self.accepted: list[str] = []
        self.took_s: list[float] = []
        self.new = 0
        self.refused: list[bytes] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._name = name
        self._secret = secret.encode()
        self._keys = keys
        self._until = until
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found or len(rest) < _length(head):
            return
        now = time.perf_counter()
        self.took_s.append(now - self._sent_at)
        if head[9:12] == b"202":
            self.accepted.append(self._key)
            self.new += b'"new":true' in rest
        else:
            self.refused.append(self._buffer[:200])
        self._buffer = b""
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def _send(self) -> None:
        key = next(self._keys, None)
        self._sent_at = time.perf_counter()
        if key is None or self._sent_at > self._until:
            self._transport.close()
            return
        self._key = key
        body = json.dumps({"action": "opened", "id": key, "text": TEXT}).encode()
        signature = hmac.digest(self._secret, body, "sha256").hex().encode()
        self._transport.write(  # type: ignore[attr-defined]
            b"POST /hooks/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Hub-Signature-256: sha256=%s\r\n"
            b"X-GitHub-Delivery: %s\r\nContent-Length: %d\r\n\r\n%s" % (self._name.encode(), signature, key.encode(), len(body), body)
        )


async def send(port: int, seconds: float, connections: int, file: Path, secret: str) -> dict[str, object]:
    old = [] if seconds else _read(file)
    begun = time.perf_counter()
    until = begun + (seconds or 600)
    senders = []
    for i in range(connections):
        keys = map(f"{file.name}-{i}-{{}}".format, count()) if seconds else iter(old[i::connections])
        sender = Sender(f"c{i}", secret, keys, until)
        await asyncio.get_running_loop().create_connection(lambda sender=sender: sender, "127.0.0.1", port)
        senders.append(sender)
    await asyncio.gather(*(sender.done for sender in senders))
    took = time.perf_counter() - begun
    if seconds:
        _write(file, [key for sender in senders for key in sender.accepted])
    late = sorted(t for sender in senders for t in sender.took_s)
    accepted = sum(len(sender.accepted) for sender in senders)
    refused = [said.decode(errors="replace") for sender in senders for said in sender.refused]
    return {
        "accepted": accepted,
        "new": sum(sender.new for sender in senders),
        "per_s": accepted / took,
        "refused": len(refused),
        "said": refused[:1],
        "p50_ms": report.percentile(late, 0.5) * 1000 if late else 0.0,
        "p99_ms": report.percentile(late, 0.99) * 1000 if late else 0.0,
    }


def _read(file: Path) -> list[str]:
    return file.read_text().split()


def _write(file: Path, keys: list[str]) -> None:
    file.write_text("\n".join(keys))


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def main(port: str, seconds: str, connections: str, file: str, secret: str = "-") -> None:
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    print(json.dumps(run(send(int(port), float(seconds), int(connections), Path(file), secret))))


if __name__ == "__main__":
    main(*sys.argv[1:])
