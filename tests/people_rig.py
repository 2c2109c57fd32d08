"""A whole Daimon with one chat service, people who write there, and a model that does what a test tells it to."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated, Any

from daimon.abi.channel import Message, Pressed, Reacted
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.message import Text
from daimon.abi.people import Rank
from daimon.abi.tool import Call, Effect, Result
from daimon.abi.turn import State
from daimon.boot import running
from daimon.config import Context, Home, Model, People, Sandbox, Settings
from daimon.extension import Kit
from daimon.gateway.client import Client
from daimon.gateway.reception import ChannelReception
from daimon.gateway.remote_people import RemoteIntroductions
from daimon.machine.clock import SystemClock
from daimon.testing.channel import FakeChannel
from daimon.testing.model import Line, ScriptedModel, calls, says
from daimon.tools.schema import tool

TELEGRAM = "telegram"
ME, ANNA, BOB, STRANGER = "100", "200", "300", "666"
PARTS: dict[str, Any] = {}


@tool(effect=Effect.PURE)
async def diary(call: Call) -> Result:
    """Read today's page of the diary."""
    return Result({"page": "diary-secret"}, labels={"": Label.of(Origin(Author.SERVICE, "diary"), readers=(OWNER,))})


@tool(effect=Effect.PURE)
async def weather(call: Call, place: Annotated[str, "Where."] = "here") -> Result:
    """Tell the weather."""
    return Result({"sky": "blue"})


def extend(kit: Kit) -> None:
    kit.models["scripted"] = PARTS["model"]
    kit.channels.append(PARTS["channel"])
    kit.tools.extend((diary, weather))


@dataclass(frozen=True, slots=True)
class World:
    model: ScriptedModel
    channel: FakeChannel
    client: Client
    people: RemoteIntroductions
    reception: ChannelReception
    project: Path
    keys: "count[int]" = field(default_factory=lambda: count(1))

    def said(self, sender: str, text: str, **more: Any) -> Message:
        more = {"place": f"chat-{sender}", "name": f"name of {sender}", "key": f"u{next(self.keys)}"} | more
        return Message(sender=sender, parts=(Text(text),), at=SystemClock().now(), **more)

    async def say(self, sender: str, text: str, *script: Line, **more: Any) -> str:
        """What they say, and the script of the turn that follows."""
        self.model.add(*script)
        return await self.reception.take(self.said(sender, text, **more))

    async def press(self, sender: str, code: str, place: str) -> str:
        key = f"u{next(self.keys)}"
        return await self.reception.take(Pressed(key=key, place=place, sender=sender, at=SystemClock().now(), code=code))

    async def react(self, sender: str, sign: str, ref: str, place: str) -> str:
        key = f"u{next(self.keys)}"
        return await self.reception.take(Reacted(key=key, place=place, sender=sender, at=SystemClock().now(), sign=sign, ref=ref))

    async def owner_does(self, text: str, *script: Line) -> None:
        """In the terminal, to the end of the turn."""
        self.model.add(*script)
        taken = await asyncio.to_thread(self.client.send, json.dumps({"type": "message", "text": text}).encode())

        async def has_ended() -> bool:
            turn = (await asyncio.to_thread(self.client.event, taken.event)).turn
            return turn is not None and turn.state not in (State.QUEUED, State.RUNNING, State.PARKED)

        await until(has_ended)

    async def heard(self, place: str, number: int = 1) -> list[str]:
        """What was said there, once it is so many messages."""

        async def has_enough() -> bool:
            return len(self.texts(place)) >= number

        await until(has_enough)
        return self.texts(place)

    def texts(self, place: str) -> list[str]:
        return [sent.piece.text for sent in self.channel.sent if sent.to == place]

    async def quiet(self) -> None:
        """Until no turn runs or waits to run."""

        async def is_quiet() -> bool:
            found = await asyncio.to_thread(self.client.status)
            return not found.depth.running and not found.depth.waiting

        await until(is_quiet)

    async def is_parked(self, sender: str) -> bool:
        found = await asyncio.to_thread(self.client.turns, 9, f"{TELEGRAM}/chat-{sender}")
        return [turn.state for turn in found] == [State.PARKED]

    async def question(self) -> Any:
        async def is_asked() -> bool:
            return bool(await asyncio.to_thread(self.client.questions))

        await until(is_asked)
        return (await asyncio.to_thread(self.client.questions))[0]

    def seen(self, last: int = 1) -> str:
        """All that the model had before it in its last calls."""
        return "\n".join(repr(request) for request in self.model.requests[-last:])


async def until(is_so: Callable[[], Awaitable[bool]], seconds: float = 60.0) -> None:
    async with asyncio.timeout(seconds):
        while True:
            if await is_so():
                return
            await asyncio.sleep(0.01)


@asynccontextmanager
async def world(place: Path, *guest_tools: str, **more: Any) -> AsyncIterator[World]:
    project = place / "project"
    project.mkdir(exist_ok=True)
    PARTS.update(model=more.pop("scripted", None) or ScriptedModel([]), channel=FakeChannel(TELEGRAM))
    settings = Settings(
        model=Model(use="scripted"),
        extensions=(__name__,),
        sandbox=Sandbox(workspace=str(project)),
        people=People(guest_tools=("now", "find_tools", *guest_tools)),
        context=Context(patience_s=60),  # what memory has is in the prompt, however busy the machine is
        **more,
    )
    home = Home(place / "home")
    async with running(home, settings, port=0) as daimon:
        reception = daimon.hall.reception(TELEGRAM)
        yield World(PARTS["model"], PARTS["channel"], Client(home.socket), RemoteIntroductions(home.socket), reception, project)


@asynccontextmanager
async def acquainted(place: Path, *guest_tools: str, **more: Any) -> AsyncIterator[World]:
    """The owner has a chat, Anna is trusted, Bob is a guest."""
    async with world(place, *guest_tools, **more) as here:
        await here.people.allow(TELEGRAM, ME, "", Rank.OWNER)
        await here.people.allow(TELEGRAM, ANNA, "Anna", Rank.TRUSTED)
        await here.people.allow(TELEGRAM, BOB, "Bob", Rank.GUEST)
        yield here


def do(*wanted: tuple[str, dict[str, Any]]) -> Line:
    return calls(*wanted)


def answer(text: str) -> Line:
    return says(text)
