"""An extension with a channel: what is said to `logbook` becomes a line of a file.

    # daimon.toml
    extensions = ["logbook"]

An event with `"reply_to": {"channel": "logbook", "to": "garden"}` is answered in garden.jsonl of the directory in LOGBOOK.
A key that stands in the file already is not written again, so a second send after a crash is harmless, and its traits say so. Nobody
answers in a logbook: it listens to nothing.
"""

import asyncio
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from daimon.abi.channel import Piece, Receipt, Reception, Traits
from daimon.abi.event import Said
from daimon.abi.message import Text
from daimon.abi.ports import Outgoing
from daimon.extension import Kit


class Logbook:
    name = "logbook"
    traits = Traits("harmless")

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        parts = message.content.parts if isinstance(message.content, Said) else ()
        return (Piece("".join(part.text for part in parts if isinstance(part, Text))),)

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        file = self._directory / f"{Path(to).name}.jsonl"
        written = file.read_text(encoding="utf-8") if file.exists() else ""
        if key in _keys(written):
            return Receipt("confirmed")
        line = json.dumps({"key": key, "text": piece.text})
        with file.open("a", encoding="utf-8") as out:
            out.write("\n" * (bool(written) and not written.endswith("\n")) + line + "\n")
            out.flush()
            os.fsync(out.fileno())
        return Receipt("confirmed")

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        return None

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        return

    async def serve(self, reception: Reception) -> None:
        await asyncio.Event().wait()


def _keys(written: str) -> set[str]:
    """A line that was cut off in the middle counts as not written."""
    found = set()
    for line in written.splitlines():
        with suppress(ValueError):
            found.add(json.loads(line)["key"])
    return found


def extend(kit: Kit) -> None:
    directory = Path(os.environ.get("LOGBOOK") or Path.home() / "logbook")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    kit.channels.append(Logbook(directory))
