"""After a kill: do the stores of memory agree, with each other and with the journal?

Looked at while nobody runs, on copies, so that looking changes nothing. Every time the stores are compared with each other; now and then
the file is brought to the end of the journal and compared, row by row, with one that is made from the journal alone.
"""

import shutil
import tempfile
from pathlib import Path

import apsw

from daimon.abi.ports import START, Change, Cursor
from daimon.journal import archive
from daimon.memory import file
from daimon.memory.agreement import content, disagreements

BATCH = 500
REBUILT_EVERY = 15


class Memories:
    def __init__(self, home: Path) -> None:
        self._home = home
        self.looks = self.rebuilds = 0
        self.faults: list[str] = []

    def look(self, is_last: bool = False) -> None:
        if not all((self._home / name).exists() for name in ("memory.db", "journal.db")):
            return
        self.looks += 1
        with tempfile.TemporaryDirectory(prefix="daimon-memories-") as place:
            for found in (*self._home.glob("memory.db*"), *self._home.glob("journal.db*")):
                shutil.copy(found, place)
            self._compare(Path(place), is_last or self.looks % REBUILT_EVERY == 0)

    def _compare(self, place: Path, rebuilds: bool) -> None:
        worn = file.connect(place / "memory.db")
        self.faults += [f"look {self.looks}: {each}" for each in disagreements(worn)]
        if rebuilds:
            self.rebuilds += 1
            journal = apsw.Connection(str(place / "journal.db"))
            made = file.connect(place / "made.db")
            for each in (worn, made):
                _catch_up(each, journal)
            if content(worn) != content(made):
                self.faults.append(f"look {self.looks}: the file and one made from the journal alone differ")
            made.close()
            journal.close()
        worn.close()


def _catch_up(connection: apsw.Connection, journal: apsw.Connection) -> None:
    def since(cursor: Cursor) -> list[Change]:
        return archive.changes(journal, cursor or START, BATCH)

    while changes := since(file.cursor(connection)):
        file.advance(connection, changes, lambda turn: archive.known_turn(journal, turn))
