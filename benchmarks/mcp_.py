"""Claim: a call of a server's tool through Daimon costs less than twice a bare call of the SDK, and 300 such tools cost a hello no tokens.

One small server, made with the SDK, is called over stdio in two ways, in turns, in the same run:

    sdk      the SDK's own client and transport, the server a plain child process
    daimon   the whole way of a call: schema, floor, policy, the intent on disk, the server in its box, the result checked, cleaned,
             labelled and on disk. The journal is a real one, with fsync.

    sdk_ms, daimon_ms   of one call, with 16 conversations that make them all the time, as the kernel has by default
    ratio_sdk           of these: the median over rounds, since both meet the same noise in one round
    ratio_sdk_alone     with one conversation: it waits twice for the disk, for every call
    hello_tokens_300    of a first "hello" to the real `./daimon up` with 300 approved tools of a server; counted as `overhead` does

(The file has an underscore because `mcp` is the name of the SDK.)
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvloop
from lab import report, tokens
from lab.called import callers
from lab.dialogue import say
from lab.encounter import KEY, MODEL, MODELS, address, write
from lab.prefix import Sent
from lab.process import Process

from daimon import config
from daimon.machine.clock import SystemClock
from daimon.mcp.listed import Listed
from daimon.mcp.pins import Pins
from daimon.mcp.servers import Around, Servers, pins_path
from daimon.sandbox.plan import has_bwrap
from daimon.testing.provider.line import Call, Line
from daimon.testing.provider.server import ProviderServer
from daimon.workshop import NoSecrets, Sandboxes, Workshop

HERE = Path(__file__).resolve().parent
CALLS, CONVERSATIONS, MANY = 160, 16, 300
AIM_RATIO, AIM_TOKENS = 2.0, 2_500
VENDORS = ("openai", "anthropic")
SAYS = config.SaysOfTool(effect="pure", capabilities=("reads_private",), roles={"a": "query"}, result="service")
"""What the owner says of the tool, so that no question stands between two calls."""


Calls = Callable[[int, int], Awaitable[None]]
"""As conversation number so much, with this number."""


@asynccontextmanager
async def bare(server: Path) -> AsyncIterator[Calls]:
    """The SDK alone."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    async with Client(StdioServerParameters(command=sys.executable, args=[str(server)])) as client:
        await client.list_tools()

        async def call(_: int, n: int) -> None:
            await client.call_tool("add", {"a": n, "b": 1})

        yield call


@asynccontextmanager
async def whole(place: Path, server: Path) -> AsyncIterator[Calls]:
    """Daimon, with the server in a box."""
    (place / "home" / "roles").mkdir(parents=True)
    clock, groups = SystemClock(), dict[str, Any]()
    shop = Workshop(Sandboxes(place / "home/roles", place / "home/work", 59_001, {}, {}, "none", True), NoSecrets(), clock)
    servers = Servers(Around(shop=shop, clock=clock, blobs=Nowhere()), groups.__setitem__, lambda _: frozenset())
    settings = config.Server(command=(sys.executable, str(server)), read=(sys.prefix,), write=(str(server.parent),), tools={"add": SAYS})
    await servers.change({"adder": settings})
    adder = servers.get("adder")
    adder.approve(frozenset(change.hash for change in (await adder.review()).waiting))
    try:
        async with callers(place, groups["mcp:adder"], CONVERSATIONS) as gates:

            async def call(which: int, n: int) -> None:
                await gates[which].call("adder_add", {"a": n, "b": 1})

            yield call
    finally:
        await servers.close()
        shop.close()


class Nowhere:
    async def put(self, data: bytes) -> Any:
        raise AssertionError("an adder has nothing to keep")

    async def get(self, blob: Any) -> bytes:
        raise AssertionError("an adder has nothing to keep")


async def took_ms(call: Calls, conversations: int) -> float:
    """One call, where so many conversations make them all the time."""

    async def talk(which: int) -> None:
        for n in range(CALLS // conversations):
            await call(which, n)

    began = time.perf_counter()
    await asyncio.gather(*(talk(which) for which in range(conversations)))
    return (time.perf_counter() - began) * 1_000 / (CALLS // conversations * conversations)


async def rounds(place: Path, times: int) -> dict[int, list[tuple[float, float]]]:
    """Of the SDK and of Daimon, by conversations at once. The first round only warms up."""
    code = place / "server" / "adder.py"
    code.parent.mkdir()
    code.write_text((HERE / "lab" / "adder.py").read_text())
    found: dict[int, list[tuple[float, float]]] = {CONVERSATIONS: [], 1: []}
    async with bare(code) as one, whole(place, code) as other:
        for n in range(times + 1):
            for at_once, pairs in found.items():
                pair = await took_ms(one, at_once), await took_ms(other, at_once)
                if n:
                    pairs.append(pair)
    return found


def many() -> dict[str, Listed]:
    """Tools as a real server has them."""
    text = {"type": "string", "description": "What it is about, in a few words."}
    schema = {"type": "object", "properties": {"owner": text, "repo": text, "title": text, "body": text}, "required": ["owner"]}
    return {
        f"do_thing_{n}": Listed(f"do_thing_{n}", f"Does the thing number {n} in a repository, and says what came of it.", parameters=schema)
        for n in range(MANY)
    }


async def hello(place: Path, vendor: str) -> int:
    """Tokens of a first hello with all of them."""
    looks = Call("find_tools", {"query": "do the thing number 17"})
    script = (Line(text="Hello! What can I do for you?"), Line(calls=(looks,)), Line(text="I found it."))
    async with ProviderServer(script, key=KEY) as server:
        model = MODEL.format(name="first", vendor=vendor, model=MODELS[vendor], url=address(server.url, vendor))
        write(place, f'model.use = "first"\n{model}\n[mcp.many]\ncommand = ["/bin/false"]\n')
        Pins(pins_path(place, "many"), many(), many()).approve(frozenset())
        process = await Process.start(place)
        try:
            await process.ready()
            usages = await say(process, "hello", "Hello")
            await say(process, "look", "Please do the thing number 17.")
        finally:
            process.kill()
            await process.exit()
        if "many_do_thing_17" not in json.dumps(server.requests[2].json):
            raise RuntimeError(f"the {MANY} tools are not there: {json.dumps(server.requests[2].json)[-500:]}")
        count, sent = tokens.counter(), Sent.of(server.requests[0].json)
        return count(sent.text) if count else usages[0]["input_tokens"]


async def main() -> int:
    asked = report.options(__doc__)
    if not has_bwrap():
        print("bwrap is not installed: no box can be made, and nothing was measured")
        return 1
    with tempfile.TemporaryDirectory(prefix="daimon-mcp-") as name:
        place = Path(name)
        found = await rounds(place, 5 if asked.quick else 15)
        hellos = [await hello(place / vendor, vendor) for vendor in VENDORS]
    rows = [
        (f"{n} at once", *(round(report.median([pair[i] for pair in pairs]), 2) for i in (0, 1)), ratio(pairs))
        for n, pairs in found.items()
    ]
    report.table(("ms a call", "sdk", "daimon", "ratio"), rows)
    fields = {
        "sdk_ms": rows[0][1],
        "daimon_ms": rows[0][2],
        "ratio_sdk": ratio(found[CONVERSATIONS]),
        "ratio_sdk_alone": ratio(found[1]),
        "hello_tokens_300": max(hellos),
    }
    return report.finish(asked, fields, aims=aims(fields))


def aims(fields: dict[str, Any]) -> dict[str, bool]:
    return {
        f"less than {AIM_RATIO:g} times the SDK": fields["ratio_sdk"] < AIM_RATIO,
        f"a hello of less than {AIM_TOKENS:,} tokens with {MANY} tools": fields["hello_tokens_300"] < AIM_TOKENS,
    }


def ratio(pairs: list[tuple[float, float]]) -> float:
    """The median over rounds, since both meet the same noise in one round."""
    return round(report.median([ours / sdk for sdk, ours in pairs]), 2)


if __name__ == "__main__":
    sys.exit(uvloop.run(main()))
