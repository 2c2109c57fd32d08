"""An extension with a channel: what is said to `logbook` becomes a line of a file.

    # daimon.toml
    extensions = ["logbook"]

An event with `"reply_to": {"channel": "logbook", "to": "garden"}` is answered in garden.jsonl of the directory in LOGBOOK.
A key that stands in the file already is not written again, so a second send after a crash is harmless: `may_repeat` is true.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from daimon.abi.event import Said
from daimon.abi.message import Text
from daimon.abi.ports import Outgoing
from daimon.extension import Kit


class Logbook:
    name = "logbook"
    may_repeat = True

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def send(self, message: Outgoing) -> Literal["sent", "confirmed"]:
        file = self._directory / f"{Path(message.to.to).name}.jsonl"
        written = file.read_text(encoding="utf-8") if file.exists() else ""
        if message.key in _keys(written):
            return "confirmed"
        parts = message.content.parts if isinstance(message.content, Said) else ()
        text = "".join(part.text for part in parts if isinstance(part, Text))
        line = json.dumps({"key": message.key, "at": message.created_at.isoformat(), "text": text})
        with file.open("a", encoding="utf-8") as out:
            out.write("\n" * (bool(written) and not written.endswith("\n")) + line + "\n")
            out.flush()
            os.fsync(out.fileno())
        return "confirmed"


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
