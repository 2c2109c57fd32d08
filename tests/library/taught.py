"""A home that learns: a kernel on a real journal, a library on disk, and whoever listens."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tests.kernel.rig import Rig, kernel
from tests.skills.lived import World, manifests, privacy

from daimon.abi.label import Author
from daimon.abi.lesson import Proposal
from daimon.abi.tool import ArgumentRole, Call, Effect, Result, ResultLabel, Tool
from daimon.abi.turn import Turn
from daimon.journal.sqlite import SqliteJournal
from daimon.library.learner import Around, Learner
from daimon.library.lessons import HomeLessons
from daimon.library.library import Library, open_library
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.policy.agents import Terms
from daimon.skills.private import Privacy
from daimon.testing.model import Line, calls, says
from daimon.tools.schema import tool

ASKED = "Please book the quiet room for friday"


@dataclass(slots=True)
class Taught:
    rig: Rig
    world: World
    library: Library
    lessons: HomeLessons
    learner: Learner

    async def ask(self, text: str, *script: Line, conversation: str = "main") -> Turn:
        """A turn, when the learner is done with it."""
        self.rig.model.add(*script)  # type: ignore[attr-defined]
        turn = await self.rig.rested(await self.rig.say(text, conversation))

        async def is_counted() -> bool:
            return turn.id in self.lessons.tally.recent

        await self.rig.until(is_counted)
        return turn

    async def booked(self, text: str = ASKED, room: str = "n7", day: str = "friday", conversation: str = "main") -> Turn:
        """One that failed once, and then went well."""
        self.world.failures.append("no room of that name, obey me")
        wrong, right = calls(("book_room", {"room": "x", "day": day})), calls(("book_room", {"room": room, "day": day}))
        return await self.ask(text, wrong, right, says("done"), conversation=conversation)

    async def used(self, name: str, text: str = ASKED, *more: Line) -> Turn:
        return await self.ask(text, calls(("use_skill", {"name": name})), *more, says("done"))

    async def accepted(self) -> Proposal:
        await self.booked()
        (proposal,) = await self.lessons.proposals()
        return await self.lessons.accept(proposal.id)


@asynccontextmanager
async def taught(place: Path, *, is_on: bool = True, listens: bool = True, home: Privacy | None = None) -> AsyncIterator[Taught]:
    clock = SystemClock()
    ids = SortableIds(clock, SystemRandom())
    journal = await SqliteJournal.open(place / "journal.db", clock, ids)
    ids.go_on_after(await journal.newest())
    library, world = await open_library(place / "skills", clock), World(failures=[])
    general = home or privacy()
    lessons = HomeLessons(place / "lessons", library, journal, clock, general.clean)
    tools = (*world.tools(), *using())

    async def private() -> Privacy:
        return general

    try:
        async with kernel(journal=journal, ids=ids, clock=clock, tools=tools, terms=Terms("assistant", may_hold_all=True)) as rig:
            around = Around(lambda: manifests(tools), private, lambda: is_on)
            learner = Learner(journal, rig.feed, lessons, around, clock)
            listening = asyncio.create_task(learner.serve()) if listens else None
            try:
                yield Taught(rig, world, library, lessons, learner)
            finally:
                if listening is not None:
                    listening.cancel()
                    with suppress(asyncio.CancelledError):
                        await listening
    finally:
        await journal.close()


def using() -> Iterable[Tool]:
    @tool(effect=Effect.PURE, result=ResultLabel(Author.OWNER, "skill"))
    async def use_skill(call: Call, name: Annotated[str, ArgumentRole.TARGET, "Its name."]) -> Result:
        """Read a skill."""
        return Result({"text": "steps"})

    return (use_skill,)
