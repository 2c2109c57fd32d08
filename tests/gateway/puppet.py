"""An extension whose model does what the last message tells it to."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from daimon.abi.label import Author
from daimon.abi.message import Role, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel
from daimon.extension import Kit
from daimon.tools.schema import tool


class Puppet(Unmetered):
    """`say WORDS` is answered word by word, `ask QUESTION` asks the owner, `mail WHOM…` sends mails, `hang` begins to speak and never ends,
    the rest is silence."""

    name = "puppet"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        last = request.messages[-1]
        verb, _, rest = last.text.partition(" ")
        if last.role is Role.TOOL:
            verb, rest = "say", "thank you"
        match verb:
            case "say":
                for word in rest.split(" "):
                    yield Delta(f"{word} ")
                yield Reply((Text(rest),), self.name)
            case "ask":
                yield Reply((ToolCall("c1", "ask_owner", {"question": rest, "options": ["no", "yes"]}),), self.name, "tools")
            case "mail":
                yield Reply(tuple(ToolCall(f"c{i}", "mail", {"to": to}) for i, to in enumerate(rest.split())), self.name, "tools")
            case "hang":
                yield Delta("well, ")
                await asyncio.Event().wait()
            case _:
                yield Reply((), self.name)


@tool(effect=Effect.PURE, capabilities={Capability.SENDS}, result=ResultLabel(Author.SERVICE, "mail"))
async def mail(call: Call, to: Annotated[str, ArgumentRole.DESTINATION, "Whom."]) -> Result:
    """Send a mail."""
    return Result(f"sent to {to}")


def extend(kit: Kit) -> None:
    kit.tools.append(mail)
    kit.models["puppet"] = Puppet()
