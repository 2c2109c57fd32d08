"""A memory file with many rows: lines of chatter as messages, some of them as notes, each with its vector.

Rows are written by the functions that the projection writes them with, in large transactions; only the vectors are put in directly,
because making them is another's claim. Nothing is left to catch up with: the journal behind it is at its end.
"""

from pathlib import Path
from typing import Literal

import numpy as np

from daimon.abi.ids import HOME_SPACE, OWNER, TurnId
from daimon.abi.memory import Item
from daimon.abi.ports import Change, Cursor
from daimon.abi.turn import Turn
from daimon.memory import file, items
from daimon.memory.receipt import Receipt
from lab.chatter import Line

MODEL = "chatter"
_BATCH = 20_000
_NOTED = 50
"""One line in so many is a note and no message."""


class Quiet:
    """Implements `memory.store.Changes`: nothing happens."""

    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        return []

    def known_turn(self, turn: TurnId) -> Turn | None:
        return None


class Prepared:
    """Implements `Embedder`: the vector of the next question is there already."""

    model = MODEL

    def __init__(self) -> None:
        self.vector = b""

    async def embed(self, texts: tuple[str, ...], what: Literal["query", "passage"]) -> tuple[bytes, ...]:
        return (self.vector,) * len(texts)


def fill(path: Path, said: list[Line], meant: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> None:
    """Of items and lines the first has number 1, and so on."""
    connection = file.connect(path)
    last: dict[str, int] = {}
    for start in range(0, len(said), _BATCH):
        with connection:
            for line in said[start : start + _BATCH]:
                _write(connection, line, last)
            rows = enumerate(meant[start : start + _BATCH].astype("<f4"), start + 1)
            connection.executemany("INSERT INTO vectors VALUES (?, 'own', ?, ?)", ((n, MODEL, vector.tobytes()) for n, vector in rows))
    connection.close()


def _write(connection: "file.apsw.Connection", line: Line, last: dict[str, int]) -> None:
    is_note = line.n % _NOTED == 0
    source = f"e{line.n:07}"
    receipt = Receipt(HOME_SPACE, OWNER, source, f"t{line.n // 2:07}", line.label, line.at)
    item = Item(
        id=source, kind="note" if is_note else "message", text=line.text, at=line.at, label=line.label, source=source,
        conversation="" if is_note else line.conversation, speaker="" if is_note else line.speaker,
    )  # fmt: skip
    n = items.add(connection, receipt, item, None if is_note else last.get(line.conversation))
    if not is_note:
        last[line.conversation] = n
