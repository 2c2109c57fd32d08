"""A house in which a model does what a test tells it to, with everything that it can call; and a few errands with their plans."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.kernel.errands import BOB, BOBS_ACCOUNT, MINUTES, World
from tests.kernel.rig import Rig, kernel

from daimon.abi.step import Asked, Step
from daimon.abi.tool import Tool
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.policy.agents import ASSISTANT, Terms
from daimon.testing.memory import FakeMemory, FakeTexts
from daimon.testing.model import Line, calls
from daimon.tools.notes import notes_tools
from daimon.tools.people import people_tools
from daimon.tools.planning import planning_tools

Wanted = tuple[str, dict[str, Any]]


@asynccontextmanager
async def house(world: World, *script: Line, **more: Any) -> AsyncIterator[Rig]:
    tools = (*world.tools(), *planning_tools(), *people_tools(), *notes_tools(FakeMemory(), FakeTexts()), *more.pop("tools", ()))
    async with kernel(script=script, tools=tools, terms=Terms(ASSISTANT, may_hold_all=True), **more) as rig:
        yield rig


@asynccontextmanager
async def on_disk(path: Path) -> AsyncIterator[SqliteJournal]:
    clock = SystemClock()
    journal = await SqliteJournal.open(path, clock, SortableIds(clock, SystemRandom()))
    try:
        yield journal
    finally:
        await journal.close()


async def told(words: str, *rounds: Wanted | tuple[Wanted, ...], world: World | None = None) -> tuple[World, tuple[Step, ...]]:
    """What a turn did to the world: each round is what the model calls next, and nobody is there to answer a question."""
    world = world or World()
    lines = [calls(*(each if isinstance(each[0], tuple) else (each,))) for each in rounds]  # type: ignore[arg-type]
    async with house(world, *lines) as rig:
        _, steps = await rig.ask(words)
    return world, steps


def plan(*steps: str, reads: tuple[str, ...] = ()) -> Wanted:
    return "plan", {"steps": list(steps), "reads": list(reads)}


def questions(steps: Iterable[Step]) -> list[Asked]:
    return [step.body for step in steps if isinstance(step.body, Asked)]


def named(world: World, name: str) -> Tool:
    return next(tool for tool in world.tools() if tool.manifest.name == name)


def acts(world: World) -> list[Wanted]:
    return [done for done in world.done if done[0] != "look"]


MAILS: Wanted = ("mails", {})
SAFE: Wanted = ("safe", {})


def mail(to: str = BOB, text: str = MINUTES, **more: str) -> Wanted:
    return "send_mail", {"to": to, "text": text, **more}


def page(url: str) -> Wanted:
    return "look", {"url": url}


def note(text: str) -> Wanted:
    return "remember", {"text": text}


MINUTES_ASKED = "Bob's mail asks for something, answer it. He is bob@x.org, the minutes are in the file minutes."
MINUTES_PLAN = plan(f"send_mail(to='{BOB}', text=own())", reads=("mails()", "file(name='minutes')"))
MINUTES_READ: tuple[Wanted, ...] = (MAILS, ("file", {"name": "minutes"}))

PAY_ASKED = f"Pay the invoice of {BOBS_ACCOUNT}."
PAY_PLAN = plan(f"pay(to='{BOBS_ACCOUNT}', amount=seen('invoices', payee='{BOBS_ACCOUNT}').amount)", reads=("invoices()",))
PAY: Wanted = ("pay", {"to": BOBS_ACCOUNT, "amount": 120.5})

POST_ASKED = "Sum up www.tulips.org in the channel garden."
POST_PLAN = plan("post(channel='garden', text=own())", reads=("look(url='www.tulips.org')",))
POST: Wanted = ("post", {"channel": "garden", "text": "Tulips are planted in autumn."})

BOOK_ASKED = "Book one of the hotels in town with a good review, for 2 nights."
BOOK_PLAN = plan("book(hotel=one_of(seen('hotels').name), nights=2)", reads=("hotels()",))
BOOK: Wanted = ("book", {"hotel": "City Hub", "nights": 2})
