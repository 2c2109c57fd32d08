"""How fast what was recorded becomes rows: through the projection of memory, and as bare rows with a full text index.

The changes are whole turns: an event with words, the reply, the end of the turn, of which an episode is made; three changes, three rows. A
batch of them is one transaction, as the store takes them.
"""

import time
from datetime import timedelta
from pathlib import Path

import apsw

from daimon.abi.event import Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, EventId, Key, TurnId
from daimon.abi.message import Text
from daimon.abi.ports import Change, Cursor
from daimon.abi.step import Complete, Decided, Replied, Step, StepBody
from daimon.abi.turn import Ending, State, Turn
from daimon.memory import file
from lab.chatter import Line

BATCH = 500
_BARE = """
    CREATE TABLE rows (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL) STRICT;
    CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
"""


class Turns:
    """Of two lines each: one asks, one answers."""

    def __init__(self, said: list[Line]) -> None:
        self.changes: list[Change] = []
        self._turns: dict[TurnId, Turn] = {}
        for asked, answer in zip(said[::2], said[1::2], strict=False):
            self._add(asked, answer)

    def known(self, turn: TurnId) -> Turn | None:
        return self._turns.get(turn)

    def _add(self, asked: Line, answer: Line) -> None:
        event = Event(
            id=EventId(f"new-{asked.n:07}"), source="chat", key=Key(f"new-{asked.n}"), conversation=asked.conversation, principal=OWNER,
            body=Said((Text(asked.text),), speaker=asked.speaker), occurred_at=asked.at, received_at=asked.at, space=HOME_SPACE,
            label=asked.label,
        )  # fmt: skip
        turn = Turn(
            id=(id_ := TurnId(f"new-t{asked.n:07}")), root=id_, conversation=asked.conversation, event=event.id, principal=OWNER,
            agent=SELF, state=State.DONE, created_at=asked.at, space=HOME_SPACE,
        )  # fmt: skip
        self._turns[turn.id] = turn
        replied = Replied("m", (Text(answer.text),), "stop")
        for item in (event, _step(turn, 0, replied, asked), _step(turn, 1, Decided(Complete(Ending.ANSWERED), "1"), asked)):
            self.changes.append(Change(Cursor(f"new-{len(self.changes)}"), item))


def _step(turn: Turn, n: int, body: StepBody, line: Line) -> Step:
    return Step(
        turn=turn.id, n=n, body=body, at=line.at + timedelta(seconds=n + 1), space=HOME_SPACE, principal=OWNER, agent=SELF, label=line.label
    )


def projected_per_s(path: Path, said: list[Line]) -> float:
    """Changes a second; the median of batches."""
    turns, connection = Turns(said), file.connect(path)
    took = []
    for start in range(0, len(turns.changes), BATCH):
        batch = turns.changes[start : start + BATCH]
        begun = time.perf_counter()
        file.advance(connection, batch, turns.known)
        took.append(len(batch) / (time.perf_counter() - begun))
    connection.close()
    return sorted(took)[len(took) // 2]


def bare_per_s(path: Path, said: list[Line]) -> float:
    """Rows a second, of the texts that the projection makes of the same turns."""
    texts = [
        text for line, other in zip(said[::2], said[1::2], strict=False) for text in (line.text, other.text, f"{line.text}\n{other.text}")
    ]
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.execute(_BARE)
    took = []
    for start in range(0, len(texts), BATCH):
        batch = list(enumerate(texts[start : start + BATCH], start + 1))
        begun = time.perf_counter()
        with connection:
            connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", [(n, f"new-{n:07}", text) for n, text in batch])
            connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", batch)
        took.append(len(batch) / (time.perf_counter() - begun))
    connection.close()
    return sorted(took)[len(took) // 2]
