"""Claim: public MCP servers work as they are, in a box, and those that Daimon knows are not asked about where there is nothing to ask.

Seven servers (everything, filesystem, memory, sequential-thinking, git, time, fetch) are installed by npm and pip into a directory of their
own (`--at`; not below /tmp, which boxes do not see), connected with `daimon mcp add … --known NAME --yes`, and visited in one whole turn
each of a running gateway: the model looks for the tools, calls them, and what came back is looked up in the journal. No turn may ask.

servers   how many were tried
passed    their turn ended with an answer, every call happened, and its result holds what it should
failed    the others, with reasons
known     tools of theirs that `mcp/known.py` knows with just their arguments; unknown: the others, named
add_s     median time of `daimon mcp add`, with the start of the server in its box
turn_s    median time of the turn
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab import report
from lab.process import CHECKOUT
from lab.visit import PAGE_HOST, Unavailable, Visit, installed, reads, versions, visits

from daimon.mcp.known import KNOWN
from daimon.mcp.listed import BESIDES
from daimon.mcp.pins import Pins

COMMAND_S = 120.0
USUAL = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "daimon" / "servers"
PAGE = b"<html><title>Plums</title><body><main><h1>Plums</h1><p>A greengage is a plum.</p></main></body></html>"


@dataclass(slots=True)
class Outcome:
    visit: Visit
    add_s: float = 0.0
    turn_s: float = 0.0
    fault: str = ""
    known: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class House:
    """A home, and the command line that works on it."""

    home: Path
    environment: dict[str, str]

    def run(self, *words: str) -> str:
        """Raises RuntimeError with what it said."""
        command = (sys.executable, "-m", "daimon", *words)
        done = subprocess.run(command, env=self.environment, capture_output=True, timeout=COMMAND_S, check=False)
        if done.returncode:
            raise RuntimeError(f"`daimon {' '.join(words[:3])}` ended with {done.returncode}: {done.stderr.decode()[-300:].strip()}")
        return done.stdout.decode()


async def _page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + PAGE)
    await writer.drain()
    writer.close()


def _grounds(ground: Path) -> None:
    for name in ("files", "graph", "repo"):
        (ground / name).mkdir(parents=True)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "Plant a tree")):
        subprocess.run(("git", *words), cwd=ground / "repo", check=True, capture_output=True)


def _home(place: Path, port: int, all_visits: tuple[Visit, ...]) -> House:
    home = place / "home"
    home.mkdir()
    (home / "daimon.toml").write_text(
        f'extensions = ["lab.visitor"]\n[model]\nuse = "visitor"\n[memory]\nembeddings = "off"\n[network.local]\n'
        f'"{PAGE_HOST}" = "127.0.0.1:{port}"\n'
    )
    path = os.pathsep.join((str(CHECKOUT / "benchmarks"), str(CHECKOUT / "src")))
    script = json.dumps({each.name: each.calls for each in all_visits})
    return House(home, {**os.environ, "PYTHONPATH": path, "DAIMON_HOME": str(home), "LAB_VISITS": script})


def _connect(house: House, outcome: Outcome, place: Path) -> None:
    visit, begun = outcome.visit, time.monotonic()
    house.run("mcp", "add", visit.name, "--known", visit.name, *reads(place), *visit.options, "--yes", "--json", "--", *visit.command)
    outcome.add_s = time.monotonic() - begun
    pins = Pins.read(house.home / "mcp" / f"{visit.name}.json")
    for tool in pins.offered():
        if tool in BESIDES.values():
            continue
        known = KNOWN[visit.name].get(tool.name)
        is_known = known is not None and tool.arguments <= set(known.arguments)
        (outcome.known if is_known else outcome.unknown).append(tool.name)


def _visit(house: House, outcome: Outcome) -> None:
    """Raises RuntimeError."""
    visit, begun = outcome.visit, time.monotonic()
    house.run("chat", "--conversation", visit.name, "--json", visit.says)
    outcome.turn_s = time.monotonic() - begun
    turn = json.loads(house.run("turns", "--conversation", visit.name, "--json"))[0]
    if turn["state"] != "done" or turn["ending"] != "answered":
        raise RuntimeError(f"its turn is {turn['state']}, {turn['ending']}: it asked, perhaps")
    outcome.fault = _fault(visit, json.loads(house.run("trace", turn["id"], "--json"))["steps"])


def _fault(visit: Visit, steps: list) -> str:
    bodies = [step["body"] for step in steps]
    happened = [body for body in bodies if body["kind"] == "outcome" and body["result"]["tool"].startswith(f"{visit.name}_")]
    if len(happened) != len(visit.calls):
        return f"{len(happened)} of {len(visit.calls)} calls happened"
    for body, expected in zip(happened, visit.expects, strict=True):
        text = json.dumps(body["result"]["parts"])
        if body["code"] or body["result"]["is_error"] or expected not in text:
            return f"{body['result']['tool']}: {body['code'] or 'no error'}, without {expected!r}: {text[:300]}"
    return ""


async def _all(place: Path, work: Path) -> list[Outcome]:
    _grounds(work)
    page = await asyncio.start_server(_page, "127.0.0.1", 0)
    port = page.sockets[0].getsockname()[1]
    outcomes = [Outcome(each) for each in visits(place, work)]
    house = _home(work, port, tuple(each.visit for each in outcomes))
    for step in (lambda each: _connect(house, each, place), lambda each: _visit(house, each)):
        for outcome in (each for each in outcomes if not each.fault):
            try:
                await asyncio.to_thread(step, outcome)
            except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError) as failed:
                outcome.fault = f"{type(failed).__name__}: {failed}"
    page.close()
    return outcomes


def main() -> int:
    asked = report.options(__doc__ or "", {"at": (USUAL, "where the servers are installed, once")})
    work = Path(tempfile.mkdtemp(prefix="daimon-servers-"))
    try:
        installed(asked.at)
        outcomes = asyncio.run(_all(asked.at, work))
    except Unavailable as reason:
        print(f"not measured: {reason}", file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(work, ignore_errors=True)
    known = versions(asked.at)
    names = {"sequentialthinking": "sequential-thinking"}
    rows = [(each.visit.name, known[names.get(each.visit.name, each.visit.name)], len(each.known), f"{each.add_s:.2f}",
             f"{each.turn_s:.2f}", each.fault or "passed") for each in outcomes]  # fmt: skip
    report.table(("server", "version", "known tools", "add s", "turn s", ""), rows)
    failed = {each.visit.name: each.fault for each in outcomes if each.fault}
    fields = {
        "servers": len(outcomes), "passed": len(outcomes) - len(failed), "failed": failed,
        "known": sum(len(each.known) for each in outcomes), "unknown": [tool for each in outcomes for tool in each.unknown],
        "add_s": report.median([each.add_s for each in outcomes]), "turn_s": report.median([each.turn_s for each in outcomes]),
    }  # fmt: skip
    return report.finish(asked, fields, is_kept=not failed)


if __name__ == "__main__":
    sys.exit(main())
