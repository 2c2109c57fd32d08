"""An extension whose model does what the last message tells it to."""

import asyncio
from collections.abc import AsyncIterator

from daimon.abi.message import Role, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.extension import Kit


class Puppet(Unmetered):
    """`say WORDS` is answered word by word, `ask QUESTION` asks the owner, `hang` begins to speak and never ends, the rest is silence."""

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
            case "hang":
                yield Delta("well, ")
                await asyncio.Event().wait()
            case _:
                yield Reply((), self.name)


def extend(kit: Kit) -> None:
    kit.models["puppet"] = Puppet()
