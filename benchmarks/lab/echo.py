"""What the delivery benchmark adds to Daimon: a model that answers at once, as it is ordered to (`lab/letter.py`)."""

import json
from collections.abc import AsyncIterator

from daimon.abi.ids import BlobHash
from daimon.abi.message import File, Part, Text, is_said
from daimon.abi.model import Delta, Reply, Request, Unmetered
from daimon.extension import Kit
from lab.letter import ordered

CONTENT = "An attachment. " * 100
FILE = json.dumps(CONTENT).encode()
"""As JSON, since that is what the laboratory's HTTP sends."""


def extend(kit: Kit) -> None:
    kit.models["echo"] = Echo()


class Echo(Unmetered):
    name = "echo"

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        asked = next(message for message in reversed(request.messages) if is_said(message))
        letter = ordered(asked.text)
        assert letter is not None, f"nothing is ordered by {asked.text!r}"
        parts: list[Part] = [Text(letter.text)]
        if letter.kind == "file":
            parts.append(File(BlobHash(letter.more), letter.file_name, "text/plain", len(FILE)))
        yield Reply(tuple(parts), self.name)
