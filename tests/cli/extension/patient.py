"""A model for these tests.

It echoes. Told to `wait`, it says the first word and goes on when a file `go` appears; told to `think`, it says nothing until then; told to
`ask`, it asks the owner.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from daimon.abi.errors import ProviderFailed
from daimon.abi.message import Role, Text, ToolCall, ToolResult
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.extension import Kit

SIGNS = Path(os.environ.get("PATIENT_SIGNS", "."))


class Patient(Unmetered):
    name = "patient"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        # What the prompt adds by itself begins with its kind in brackets.
        heard = (message.text for message in reversed(request.messages) if message.role is Role.USER)
        said = next(text for text in heard if not text.startswith("["))
        results = [part for part in request.messages[-1].parts if isinstance(part, ToolResult)]
        if said == "wait":
            yield Delta("slow ")
            (SIGNS / "started").touch()
            await _go()
            yield Delta("and steady")
            yield Reply((Text("slow and steady"),), self.name)
        elif said == "think":
            await _go()
            yield Reply((Text("thought through"),), self.name)
        elif said == "ask" and not results:
            yield Reply((ToolCall("c1", "ask_owner", {"question": "Tea or coffee?", "options": ["tea", "coffee"]}),), self.name, "tools")
        elif said == "fail":
            raise ProviderFailed("down", "this model is out of order")
        else:
            text = results[-1].parts[0].text if results and isinstance(results[-1].parts[0], Text) else said
            yield Delta(text)
            yield Reply((Text(text),), self.name)


async def _go() -> None:
    while not (SIGNS / "go").exists():  # noqa: ASYNC110 - the test in another process has no other way to tell
        await asyncio.sleep(0.01)


def extend(kit: Kit) -> None:
    kit.models["patient"] = Patient()
