"""One way in which things go wrong, tried once: what was accepted before and during it must be there afterwards."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab.process import Died
from lab.subject import Subject
from lab.verdict import judge
from lab.world import Remote


@dataclass(slots=True)
class Result:
    name: str
    faults: int = 1
    """How often it went wrong on purpose."""
    accepted: int = 0
    present: int = 0
    problems: list[str] = field(default_factory=list)
    note: str = ""

    @property
    def has_failed(self) -> bool:
        return bool(self.problems) or self.present < self.accepted

    def expect(self, claim: bool, problem: str) -> None:
        if not claim:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True)
class Lab:
    """What every case is given."""

    place: Path
    world: Remote
    is_quick: bool
    seed: int

    def subject(self, name: str, *faults: str, settings: str = "", at: Path | None = None) -> Subject:
        return Subject(at or self.place / name, self.world, random.Random(self.seed), faults, settings)


Case = Callable[[Lab], Awaitable[Result]]


@asynccontextmanager
async def living(subject: Subject) -> AsyncIterator[Subject]:
    """Up at the beginning, gone at the end."""
    try:
        await subject.up()
        yield subject
    finally:
        await subject.close()


async def check(result: Result, subject: Subject) -> None:
    """Everything that was accepted is there, finished and answered, and nothing happened twice. The subject must be up."""
    try:
        while True:
            await subject.rest()
            if not await subject.answer_some(ignore=0):
                break
        stories = await subject.stories()
    except Died as died:
        result.problems.append(f"it died while it was looked at: {died}; {subject.process.last_words(300)}")
        return
    verdict = judge(subject.accepted, stories, (await subject.world.ledger()).of_home(subject.home.name))
    result.accepted += len(subject.accepted)
    result.present += sum(mark in stories for mark in subject.accepted)
    result.problems += [*verdict.lost, *verdict.repeated, *verdict.unreported, *subject.faults]
