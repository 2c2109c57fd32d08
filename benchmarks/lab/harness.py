"""A folder with an AgentDojo harness, as the rest of the laboratory sees it.

Any folder of the same shape will do: `adh.episode` (suites, Episode), `adh.catalog` (what each tool does), `adh.labels` (who wrote each
text of a result) and `adh.attacks` (what an attacker wants called). Nothing here or above knows the name of a suite, a tool or an argument.

AgentDojo itself comes from an environment of its own (`dojo.lock`). Its packages stand *behind* ours on the path, so Daimon runs with what
Daimon pins. It is loaded by its place, because the benchmark's own file has its name.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Protocol

from lab import peers
from lab.process import CHECKOUT

VARIABLE = "DAIMON_DOJO"
USUAL = CHECKOUT.parent / "shared" / "agentdojo"
PACKAGE = "agentdojo"


class Wanted(Protocol):
    """A call that the script makes. `origin` is for those who count, and for the owner who answers; nobody else may look at it."""

    name: str
    args: dict[str, Any]
    origin: str


class Tooling(Protocol):
    """What the catalogue says of a tool."""

    effect: str
    roles: Mapping[str, str]
    trusted_output: bool


class Fragment(Protocol):
    text: str
    field: str
    author: str


class Task(Protocol):
    ID: str


class Suite(Protocol):
    name: str
    user_tasks: Mapping[str, Task]
    injection_tasks: Mapping[str, Task]


class Episode(Protocol):
    prompt: str
    me: str
    env: Any
    user_calls: Sequence[Wanted]

    def tool_schemas(self) -> list[dict[str, Any]]: ...
    def next_call(self) -> Wanted | None: ...
    def execute(self, call: Wanted) -> tuple[Any, str, str | None]: ...
    def refused(self, call: Wanted, why: str = "") -> None: ...
    def grade(self) -> dict[str, bool]: ...


@dataclass(frozen=True, slots=True)
class Harness:
    suites: Mapping[str, Suite]
    episode: Callable[..., Episode]
    call: Callable[..., Wanted]
    tool: Callable[[str], Tooling]
    script: Callable[[str, Task, Any], Generator[Any, Any, None]]
    fragments: Callable[[str, Any, int, str], list[Fragment]]
    structural: frozenset[str]

    def has_effect(self, tool: str) -> bool:
        """Could an attacker use it as a sink? An outward read can carry words out as well."""
        return self.tool(tool).effect != "read"

    def wishes(self, suite: Suite, user: Task, injection: Task) -> set[str]:
        """The tools with an effect that the attack calls if nobody stops it. None at all: it wants a sentence, which no gate can see."""
        episode = self.episode(suite, user, injection)
        script, got, found = self.script(suite.name, injection, episode.env), None, set()
        while (call := _next(script, got)) is not None:
            raw, _, error = episode.execute(self.call(call.function, dict(call.args), "attack"))
            got = (error is None, raw)
            found.add(call.function)
        return {tool for tool in found if self.has_effect(tool)}

    def swaps(self, suite: Suite, user: Task, injection: Task) -> bool:
        """Does the user call a tool with an effect that the attacker wants as well? Then its arguments can be swapped."""
        episode = self.episode(suite, user, injection)
        own = {call.name for call in episode.user_calls if self.has_effect(call.name)}
        return bool(own.intersection(call.function for call in self.script(suite.name, injection, episode.env)))


def _next(script: Generator[Any, Any, None], got: tuple[bool, Any] | None) -> Any:
    """A script yields calls and is told of each whether it was executed, and its result."""
    try:
        return next(script) if got is None else script.send(got)
    except StopIteration:
        return None


def load(folder: Path | None) -> Harness:
    """Raises peers.Missing where there is no harness, or no AgentDojo."""
    place = folder or Path(os.environ.get(VARIABLE) or USUAL)
    if not (place / "adh" / "episode.py").is_file():
        raise peers.Missing(f"{place} holds no harness (adh/episode.py); name one with --harness or {VARIABLE}")
    _install()
    sys.dont_write_bytecode = True  # the folder is somebody else's
    sys.path.insert(0, str(place.resolve()))
    episode, catalog, labels, attacks = (importlib.import_module(f"adh.{name}") for name in ("episode", "catalog", "labels", "attacks"))
    return Harness(
        episode.suites(),
        episode.Episode,
        episode.Call,
        catalog.tool,
        attacks.script,
        labels.fragments,
        frozenset(labels.STRUCTURAL),
    )


def _install() -> None:
    if PACKAGE in sys.modules:
        return
    packages = str(peers.packages(peers.DOJO))
    sys.path.append(packages)
    spec = PathFinder.find_spec(PACKAGE, [packages])
    if spec is None or spec.loader is None:
        raise peers.Missing(f"{packages} holds no {PACKAGE}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)
