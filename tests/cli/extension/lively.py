"""A model that streams, calls tools, fails and costs money, and the tools that it calls: what a chat has to show.

It does what the message says: `two` calls two tools at once, `long` one with long arguments, `bad` one that fails, `buy` one that needs the
owner's yes, `mails` three of that kind, `flaky` breaks off once; a message with files is told what came with it; anything else is said back
word by word.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from daimon.abi.errors import ProviderFailed, ToolFailed
from daimon.abi.label import Author
from daimon.abi.message import File, Image, Message, Role, Text, ToolCall, ToolResult
from daimon.abi.model import Delta, Profile, Reply, Request
from daimon.abi.money import FixedPrice, Usage
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel
from daimon.extension import Kit
from daimon.tools.schema import tool

SIGNS = Path(os.environ.get("PATIENT_SIGNS", "."))
PRICE = FixedPrice(Decimal(3), Decimal(15), Decimal("0.3"))
LONG = "a rather long description of a rather small shop " * 5


@tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "look"))
async def look(call: Call, what: Annotated[str, ArgumentRole.QUERY, "What for."]) -> Result:
    """Look something up."""
    if what == "slow":
        while not (SIGNS / "go").exists():  # noqa: ASYNC110 - the test in another process has no other way to tell
            await asyncio.sleep(0.01)
    if what == "nothing":
        raise ToolFailed("not_there", "there is nothing of that name")
    return Result({"found": what, "shops": 2})


@tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "note"))
async def describe(
    call: Call,
    place: Annotated[str, ArgumentRole.CONTENT, "Where."],
    text: Annotated[str, ArgumentRole.CONTENT, "What."],
    stars: Annotated[int, "How good."] = 0,
) -> Result:
    """Describe a place."""
    return Result("written down")


@tool(effect=Effect.PURE, capabilities={Capability.SPENDS}, result=ResultLabel(Author.SERVICE, "shop"))
async def buy(call: Call, what: Annotated[str, ArgumentRole.CONTENT, "What."]) -> Result:
    """Buy something."""
    return Result(f"one {what} bought")


@tool(effect=Effect.PURE, capabilities={Capability.SENDS}, result=ResultLabel(Author.SERVICE, "mail"))
async def mail(
    call: Call,
    to: Annotated[str, ArgumentRole.DESTINATION, "Whom."],
    text: Annotated[str, ArgumentRole.CONTENT, "What."],
) -> Result:
    """Send a mail."""
    return Result(f"sent to {to}")


class Lively:
    name = "lively"

    async def profile(self) -> Profile:
        return Profile(provider="lively.example", price=PRICE, max_output_tokens=1_000, has_images=True)

    def objection(self, request: Request) -> str:
        return ""

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        said = next(message for message in reversed(request.messages) if message.role is Role.USER)
        if any(isinstance(part, ToolResult) for part in request.messages[-1].parts):
            text = "Done."
        elif calls := _calls(said.text):
            yield Reply(calls, self.name, "tools", _used(0))
            return
        elif said.text == "flaky" and not (SIGNS / "failed").exists():
            (SIGNS / "failed").touch()
            yield Delta("I begin but")
            raise ProviderFailed("overloaded", "too many want it at once")
        else:
            text = _attached(said) or said.text
        for word in text.split(" "):
            yield Delta(f"{word} ")
        yield Reply((Text(f"{text} "),), self.name, usage=_used(len(text)))


def _calls(text: str) -> tuple[ToolCall, ...]:
    match text:
        case "two":
            return ToolCall("c1", "look", {"what": "slow"}), ToolCall("c2", "look", {"what": "nothing"})
        case "long":
            return (ToolCall("c1", "describe", {"place": "Kohlmarkt 14, Vienna", "text": LONG, "stars": 5}),)
        case "bad":
            return (ToolCall("c1", "look", {"what": "nothing"}),)
        case "mails":
            return tuple(ToolCall(f"c{i}", "mail", {"to": f"{who}@x.org", "text": LONG}) for i, who in enumerate(("ann", "bob", "cem")))
        case "buy":
            return (ToolCall("c1", "buy", {"what": "teapot"}),)
        case _:
            return ()


def _attached(said: Message) -> str:
    images = [f"image {part.media_type} {part.description}" for part in said.parts if isinstance(part, Image)]
    files = [f"file {part.media_type} {part.name} {part.size}" for part in said.parts if isinstance(part, File)]
    return "; ".join(images + files)


def _used(output: int) -> Usage:
    usage = Usage(1_000, output, cached_tokens=800)
    return Usage(1_000, output, 800, 0, PRICE.cost(usage))


def extend(kit: Kit) -> None:
    kit.models["lively"] = Lively()
    kit.tools.extend([look, describe, buy, mail])
