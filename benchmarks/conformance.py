"""Claim: both ends of the Model Context Protocol do what the public suite says they must, or it is written down why not.

The suite is a program of others (`lab/suite.py`). Of its scenarios those for servers are run against its own fixtures, served by the code
that serves Daimon's abilities (`lab/fixture_server.py`); those for clients drive the client that Daimon has for servers
(`lab/fixture_client.py`). With `--write` the page docs/conformance.md is made of what was found.

Where there is no npm it says so and ends with 77, which is neither a yes nor a no.
"""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from lab import report
from lab.conformed import REASONS, page
from lab.peers import Missing
from lab.process import CHECKOUT
from lab.suite import Outcome, Scenario, Suite, installed

CANNOT = 77
LONGEST_S, READY_S = 60.0, 60.0
PAGE = CHECKOUT / "docs" / "conformance.md"


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(CHECKOUT / "src"), str(CHECKOUT / "benchmarks")))}


@asynccontextmanager
async def fixture_server() -> AsyncIterator[str]:
    """Its address. It ends when its input does."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.fixture_server", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environment()
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        async with asyncio.timeout(READY_S):
            url = (await child.stdout.readline()).decode().strip()
        yield url
    finally:
        child.stdin.close()
        await child.wait()


async def of_servers(suite: Suite, scenarios: list[Scenario]) -> list[Outcome]:
    async with fixture_server() as url:
        return [await suite.run(each, ["--url", url], LONGEST_S) for each in scenarios]


async def of_clients(suite: Suite, scenarios: list[Scenario]) -> list[Outcome]:
    command = shlex.join((sys.executable, "-m", "lab.fixture_client"))
    os.environ.update(environment())
    return [await suite.run(each, ["--command", command], LONGEST_S) for each in scenarios]


def show(found: list[Outcome]) -> None:
    rows = [(each.scenario.side, each.scenario.name, "passed" if each.is_passed else "FAILED", each.passed) for each in found]
    report.table(("side", "scenario", "result", "checks"), rows)
    for each in found:
        for why in (*each.failed, *each.warned):
            print(f"{each.scenario.side} {each.scenario.name}: {why[:400]}")


async def main() -> int:
    asked = report.options(__doc__, write="make docs/conformance.md of what was found")
    try:
        suite = installed()
    except Missing as missing:
        print(f"the suite cannot be run here: {missing}")
        return CANNOT
    all_ = suite.scenarios()
    tried = [each for each in all_ if each.name not in REASONS]
    servers = [each for each in tried if each.side == "server"]
    clients = [each for each in tried if each.side == "client"][: 2 if asked.quick else None]
    found = [*await of_servers(suite, servers), *await of_clients(suite, clients)]
    show(found)
    if asked.write:
        await asyncio.to_thread(Path(PAGE).write_text, page(all_, found), "utf-8")
    broken = [each for each in found if not each.is_passed]
    fields = {
        "server_passed": sum(each.is_passed for each in found if each.scenario.side == "server"),
        "server_failed": sum(each.scenario.side == "server" for each in broken),
        "client_passed": sum(each.is_passed for each in found if each.scenario.side == "client"),
        "client_failed": sum(each.scenario.side == "client" for each in broken),
        "left_out": len(all_) - len(tried),
        "checks": sum(each.passed for each in found),
    }
    return report.finish(asked, fields, not broken)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
