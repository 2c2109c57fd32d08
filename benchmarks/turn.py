"""Claim: Daimon adds less than ten milliseconds to a model call.

A message goes over HTTP to the real `./daimon up`; it is written down, a model is chosen and paid for in advance, asked over HTTP with
streaming, and its answer is written down and shown on the feed: three commits to disk. Beside it the bare client library makes the same
call, with the very bytes that Daimon sent, to the same provider on loopback, which answers at once. The two take turns, so whatever else
the machine does hits both. What Daimon adds is the difference of each pair.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
from lab import report
from lab.process import CHECKOUT, Process

from daimon.testing.provider.server import ProviderServer

WARM_UP = 30
AIM_MS = 10.0
QUESTION = "Tell me in one sentence why the sky is blue, please."
ANSWER = "Because air scatters blue light more than red light."
SETTINGS = """
[model]
use = ["sky"]
[models.sky]
vendor = "compatible"
model = "sky"
base_url = "{url}/v1"
key = "lab"
price = {{ input = 1, output = 2 }}
"""


@asynccontextmanager
async def provider() -> AsyncIterator[str]:
    """A provider in a process of its own that says the same thing each time."""
    child = await asyncio.create_subprocess_exec(sys.executable, str(Path(__file__)), "serve", stdout=asyncio.subprocess.PIPE, cwd=CHECKOUT)
    assert child.stdout is not None
    try:
        yield (await child.stdout.readline()).decode().strip()
    finally:
        child.kill()
        await child.wait()


async def serve() -> None:
    from daimon.testing.provider.line import Line

    async with ProviderServer(lambda seen: Line(text=ANSWER)) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


class Subject:
    """The real thing, with one ear on its feed."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._n = 0
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def listen(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._process.port)
        self._writer.write(f"GET /v1/feed HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._process.token}\r\n\r\n".encode())
        while (await self._reader.readline()).strip():
            pass

    async def turn(self) -> float:
        """Milliseconds from handing the message in to its answer."""
        assert self._reader is not None
        self._n += 1
        begun = time.perf_counter()
        taken = await self._process.event({"type": "message", "text": QUESTION, "conversation": f"c{self._n}"}, f"k{self._n}")
        if taken.status != 202:
            raise RuntimeError(f"an event was refused: {taken.body!r}")
        while True:
            update = await self._reader.readline()
            if not update:
                raise RuntimeError("the feed ended")
            if b'"kind":"turn"' in update and b'"state":"done"' in update:
                return (time.perf_counter() - begun) * 1000

    async def request(self) -> dict[str, Any]:
        """What it sent to the provider, from its own trace."""
        turns = (await self._process.call("GET", "/v1/turns?limit=1")).data
        trace = (await self._process.call("GET", f"/v1/turns/{turns[0]['id']}")).data
        if "failed" in {step["body"]["kind"] for step in trace["steps"]}:
            raise RuntimeError("the turn failed")
        return dict(next(step["body"] for step in trace["steps"] if step["body"]["kind"] == "reply"))


async def bare(client: openai.AsyncOpenAI, body: dict[str, Any]) -> float:
    begun = time.perf_counter()
    said = ""
    async for chunk in await client.chat.completions.create(**body):
        for choice in chunk.choices:
            said += choice.delta.content or ""
    if said != ANSWER:
        raise RuntimeError(f"the provider said {said!r}")
    return (time.perf_counter() - begun) * 1000


async def recorded(home: Path) -> dict[str, Any]:
    """The body that Daimon sends for this question: one turn against a provider that keeps it."""
    async with ProviderServer() as server:
        write(home, server.url)
        process = await Process.start(home)
        await process.ready()
        subject = Subject(process)
        await subject.listen()
        await subject.turn()
        process.kill()
        await process.exit()
        found: dict[str, Any] = json.loads(server.requests[-1].body)
        return found


def write(home: Path, url: str) -> None:
    home.mkdir(mode=0o700)
    (home / "daimon.toml").write_text(SETTINGS.format(url=url))
    (home / "keys.toml").touch(mode=0o600)
    (home / "keys.toml").write_text('[keys]\nlab = "test-key"\n')


async def main() -> int:
    asked = report.options(__doc__)
    pairs = 100 if asked.quick else 600
    with tempfile.TemporaryDirectory(prefix="daimon-turn-") as place:
        body = await recorded(Path(place) / "sample")
        async with provider() as url:
            home = Path(place) / "home"
            write(home, url)
            process = await Process.start(home)
            await process.ready()
            subject = Subject(process)
            await subject.listen()
            client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="test-key", max_retries=0)
            try:
                taken = [(await subject.turn(), await bare(client, body)) for _ in range(WARM_UP + pairs)][WARM_UP:]
                await subject.request()
            finally:
                await client.close()
                process.kill()
                await process.exit()
    ours, theirs, added = [a for a, _ in taken], [b for _, b in taken], [a - b for a, b in taken]
    report.table(
        ("ms", "p50", "p90", "p99"),
        [
            (name, *(round(report.percentile(values, share), 2) for share in (0.5, 0.9, 0.99)))
            for name, values in (("a turn of Daimon", ours), ("the bare client", theirs), ("added", added))
        ],
    )
    p50, p99 = round(report.percentile(added, 0.5), 2), round(report.percentile(added, 0.99), 2)
    fields = {
        "added_p50_ms": p50, "added_p99_ms": p99, "turn_p50_ms": round(report.percentile(ours, 0.5), 2),
        "bare_p50_ms": round(report.percentile(theirs, 0.5), 2), "pairs": pairs, "request_bytes": len(json.dumps(body)),
    }  # fmt: skip
    return report.finish(asked, fields, aims={f"added at the median: {p50} ms, aim {AIM_MS} ms": p50 < AIM_MS})


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        raise SystemExit(asyncio.run(main()))
