"""Tools for the puppet of the chat: one that waits until a test lets it go on, one that returns files."""

from typing import Annotated

from tests.room import gates

from daimon.abi.ids import BlobHash
from daimon.abi.label import Author
from daimon.abi.message import File, Image
from daimon.abi.tool import Call, Effect, Result, ResultLabel
from daimon.extension import Kit
from daimon.tools.schema import tool

EXTENSIONS = ("tests.room.puppet", "tests.room.tools")
Of = Annotated[str, "A blob."]
Size = Annotated[int, "Bytes of the page."]


@tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "gate"))
async def gate(call: Call) -> Result:
    """Wait until somebody opens the gate that is called as the conversation is."""
    await gates.passed(call.conversation.name)
    return Result("open")


@tool(effect=Effect.PURE, result=ResultLabel(Author.SERVICE, "files"))
async def files(call: Call, picture: Of, page: Of, size: Size) -> Result:
    """Return a picture and a page."""
    return Result("here", (Image(BlobHash(picture), "image/png", "a dot"), File(BlobHash(page), "page.html", "text/html", size)))


def extend(kit: Kit) -> None:
    kit.tools.extend((gate, files))
