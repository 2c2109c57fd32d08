"""An extension whose model does what the last message tells it to, for looking at in the control room.

`say WORDS` is answered word by word · `stream GATE` streams words, half of them when a gate was opened · `ask QUESTION` asks the owner ·
`mail WHOM…` sends mails · `call TOOL JSON` calls a tool · `hang` begins to speak and never ends · anything else is answered with itself.
What a tool returned is answered with "thank you".
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from tests.room import gates

from daimon.abi.label import Author
from daimon.abi.message import Role, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel
from daimon.extension import Kit
from daimon.tools.schema import tool

LARGE = 5 * 1024 * 1024
STREAMED = 60
"""Words."""


class Puppet(Unmetered):
    name = "puppet"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        last = request.messages[-1]
        verb, _, rest = last.text.partition(" ")
        if last.role is Role.TOOL:
            verb, rest = "say", "thank you"
        match verb:
            case "ask":
                yield Reply((ToolCall("c1", "ask_owner", {"question": rest, "options": ["no", "yes"]}),), self.name, "tools")
            case "mail":
                yield Reply(tuple(ToolCall(f"c{i}", "mail", {"to": to}) for i, to in enumerate(rest.split())), self.name, "tools")
            case "call":
                name, _, arguments = rest.partition(" ")
                yield Reply((ToolCall("c1", name, json.loads(arguments or "{}")),), self.name, "tools")
            case "hang":
                yield Delta("well, ")
                await asyncio.Event().wait()
            case "stream":
                async for each in self._haltingly(rest):
                    yield each
            case _:
                said = rest if verb == "say" else last.text
                for word in said.split(" "):
                    yield Delta(f"{word} ")
                yield Reply((Text(said),), self.name)

    async def _haltingly(self, gate: str) -> AsyncIterator[Delta | Reply]:
        said = [f"word{i}" for i in range(STREAMED)]
        for each in said[: STREAMED // 2]:
            yield Delta(f"{each} ")
        await gates.passed(gate)
        for each in said[STREAMED // 2 :]:
            yield Delta(f"{each} ")
        yield Reply((Text(" ".join(said)),), self.name)


@tool(effect=Effect.PURE, capabilities={Capability.SENDS}, result=ResultLabel(Author.SERVICE, "mail"))
async def mail(call: Call, to: Annotated[str, ArgumentRole.DESTINATION, "Whom."]) -> Result:
    """Send a mail. One to a gate is sent when the gate is opened."""
    if to.startswith("gate-"):
        await gates.passed(to)
    return Result(f"sent to {to}")


@tool(effect=Effect.PURE, result=ResultLabel(Author.STRANGER, "web:example.org"))
async def lookup(call: Call, text: Annotated[str, "What is returned, as a stranger's words."]) -> Result:
    """Look something up."""
    return Result(text)


@tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "flood"))
async def flood(call: Call) -> Result:
    """Return very much."""
    return Result("x" * LARGE)


def extend(kit: Kit) -> None:
    kit.tools.extend((mail, lookup, flood))
    kit.models["puppet"] = Puppet()
