"""A model that reads a page, keeps what it says and tells it; and a page that is a stranger's.

`read` fetches the page and remembers and learns from it; anything else is said back.
"""

import json
import os
from pathlib import Path
from typing import Annotated

from daimon.abi.label import Author
from daimon.abi.message import Role, Text, ToolResult
from daimon.abi.model import Reply, Request
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result, ResultLabel
from daimon.extension import Kit
from daimon.testing.model import ScriptedModel, calls, says
from daimon.tools.schema import tool

SIGNS = Path(os.environ.get("PATIENT_SIGNS", "."))


@tool(effect=Effect.PURE, capabilities={Capability.READS_OUTSIDE}, result=ResultLabel(Author.STRANGER, "web:{host}"))
async def fetch(call: Call, host: Annotated[str, ArgumentRole.QUERY, "Whose page."]) -> Result:
    """Read a page."""
    return Result({"page": (SIGNS / "page.txt").read_text()})


def browse(request: Request) -> Reply:
    # What the prompt adds by itself (page, memory, what is true now) begins with its kind in brackets.
    last = next(each for each in reversed(request.messages) if each.role is not Role.USER or not each.text.startswith("["))
    if last.role is not Role.TOOL:
        return calls(("fetch", {"host": "example.org"})) if last.text.startswith("read") else says(f"You said: {last.text}")
    result = last.parts[-1]
    assert isinstance(result, ToolResult)
    if result.tool != "fetch":
        return says("Kept.")
    assert isinstance(result.parts[0], Text)
    page = json.loads(result.parts[0].text)["data"]["page"]
    learnt = {"subject": "owner", "statement": f"The page says {page}", "about": "city"}
    return calls(("remember", {"text": f"On that page: {page}"}), ("learn", learnt))


def extend(kit: Kit) -> None:
    kit.tools.append(fetch)
    kit.models["browser"] = ScriptedModel([browse] * 100)
