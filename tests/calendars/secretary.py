"""An extension whose model looks into the calendar once and says what it found."""

from collections.abc import AsyncIterator

from daimon.abi.message import Role, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.extension import Kit


class Secretary(Unmetered):
    name = "secretary"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        if request.messages[-1].role is Role.TOOL:
            yield Reply((Text("There it is."),), self.name)
        else:
            yield Reply((ToolCall("c1", "calendar_events", {"since": "2026-03-16", "until": "2026-03-16"}),), self.name, "tools")


def extend(kit: Kit) -> None:
    kit.models["secretary"] = Secretary()
