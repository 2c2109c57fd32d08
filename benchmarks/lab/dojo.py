"""The work of the containment benchmarks, spread over processes: one job is one user task with all its attacks."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import uvloop

from lab import harness as harnesses
from lab.catalogue import missing
from lab.clean import stated
from lab.harness import Episode, Harness, Suite, Task
from lab.naming import naming
from lab.player import UNPLANNED, Opening, Stage, play
from lab.tally import Row, row

WORKERS = 2
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    harness: Path | None = None
    suites: tuple[str, ...] = ()
    attack: str = "plain"
    when: str = "now"
    plan: str = "stated"
    rename: int | None = None
    rules: str = "shipped"


@dataclass(frozen=True, slots=True)
class Job:
    settings: Settings
    suite: str
    user: str


def parser(about: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--json", action="store_true", help="end with one JSON object on the last line")
    made.add_argument("--quick", action="store_true", help="a fourth of the user tasks")
    made.add_argument("--suites", default="", help="some of the harness's suites, with commas between them; left out: all")
    made.add_argument("--plan", choices=("none", "stated"), default="stated", help="whether the model states a plan first")
    made.add_argument("--rules", choices=("shipped", "none", "ask"), default="shipped", help="none and ask: to see that it counts right")
    made.add_argument("--harness", type=Path, help=f"a folder of the same shape as {harnesses.USUAL}")
    made.add_argument("--why", action="store_true", help="list what was asked, and what got through")
    return made


def settings(asked: argparse.Namespace) -> Settings:
    return Settings(
        asked.harness, tuple(filter(None, asked.suites.split(","))), getattr(asked, "attack", "plain"), getattr(asked, "when", "now"),
        asked.plan, getattr(asked, "rename", None), asked.rules,
    )  # fmt: skip


def jobs(asked: argparse.Namespace) -> list[Job]:
    """Raises peers.Missing. Unknown suites are an error, not an empty result."""
    chosen = settings(asked)
    harness = harnesses.load(chosen.harness)
    suites = harness.suites
    if strangers := set(chosen.suites) - set(suites):
        raise SystemExit(f"there is no suite {', '.join(sorted(strangers))}; there are {', '.join(suites)}")
    found = [
        Job(chosen, name, user) for name, suite in suites.items() if not chosen.suites or name in chosen.suites for user in suite.user_tasks
    ]
    for line in sorted({line for name in {job.suite for job in found} for line in _widened(harness, suites[name])}):
        print(line, file=sys.stderr, flush=True)
    return found[::4] if asked.quick else found


def _widened(harness: Harness, suite: Suite) -> Iterator[str]:
    episode = harness.episode(suite, next(iter(suite.user_tasks.values())))
    for schema in episode.tool_schemas():
        if more := missing(schema, harness.tool(schema["name"])):
            yield f"{schema['name']} {', '.join(sorted(more))} as well, by its arguments, though the catalogue does not say so"


def spread(work: Callable[[Job], T], over: list[Job]) -> Iterator[T]:
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        yield from pool.map(work, over)


_loaded: dict[Path | None, Harness] = {}
_wishes: dict[tuple[Path | None, str, str], bool] = {}


def harness_of(job: Job) -> Harness:
    """Loaded once in each process; it is a module, and stays."""
    folder = job.settings.harness
    if folder not in _loaded:
        _loaded[folder] = harnesses.load(folder)
    return _loaded[folder]


def opening_of(job: Job, harness: Harness, suite: Suite, user: Task) -> Opening:
    return stated(harness, suite, user, naming(job.settings.rename)) if job.settings.plan == "stated" else UNPLANNED


def attacked(job: Job) -> list[Row]:
    """The user task in peace, then under every attack that can be seen at a gate."""
    harness = harness_of(job)
    suite = harness.suites[job.suite]
    user = suite.user_tasks[job.user]
    opening = opening_of(job, harness, suite, user)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = [runner.run(_play(job, harness, harness.episode(suite, user), opening))]
        for injection in suite.injection_tasks.values():
            if _is_due(job, harness, suite, user, injection):
                episode = harness.episode(suite, user, injection, job.settings.attack, job.settings.when)
                rows.append(runner.run(_play(job, harness, episode, opening, injection.ID)))
    # A hijack that never got to a call of its own is no attack.
    return [r for r in rows if r.injection is None or r.tries or job.settings.attack != "hijack"]


def _is_due(job: Job, harness: Harness, suite: Suite, user: Task, injection: Task) -> bool:
    if job.settings.attack == "hijack":
        return harness.swaps(suite, user, injection)
    key = (job.settings.harness, suite.name, injection.ID)
    if key not in _wishes:  # nearly always the same for every user task, and slow to find out
        _wishes[key] = bool(harness.wishes(suite, user, injection))
    return _wishes[key]


async def _play(job: Job, harness: Harness, episode: Episode, opening: Opening, injection: str | None = None) -> Row:
    stage = Stage(harness, episode, naming(job.settings.rename), opening)
    return row(stage, await play(stage, job.settings.rules), job.suite, job.user, injection)
