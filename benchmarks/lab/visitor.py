"""An extension with one model, `visitor`: told the name of a server, it looks for its tools and makes the calls that LAB_VISITS has."""

import json
import os
from collections.abc import AsyncIterator

from daimon.abi.message import Role, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.extension import Kit


class Visitor(Unmetered):
    name = "visitor"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        last = max(i for i, message in enumerate(request.messages) if message.role is Role.USER)
        server = request.messages[last].text.partition(":")[0]
        calls = [["find_tools", {"query": f"{server} {' '.join(tool for tool, _ in _visits()[server])}"}]]
        calls += [[f"{server}_{tool}", given] for tool, given in _visits()[server]]
        done = sum(message.role is Role.TOOL for message in request.messages[last:])
        if done < len(calls):
            tool, given = calls[done]
            yield Reply((ToolCall(f"c{done}", tool, given),), self.name, "tools")
        else:
            yield Reply((Text("done"),), self.name)


def _visits() -> dict[str, list[list]]:
    return json.loads(os.environ["LAB_VISITS"])


def extend(kit: Kit) -> None:
    kit.models["visitor"] = Visitor()
