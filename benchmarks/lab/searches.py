"""Who answers a question: the memory of Daimon, the least that could (numpy and FTS5 by themselves), and sqlite-vec.

All have the same rows. The least multiplies one block of float32 with the question's vector, sorts out the nearest, and asks the full text
index of the memory file for the best matches of the bare words; it knows nothing of scopes, labels, neighbours, reasons, and shows no row.
sqlite-vec stands in for the multiplication. These are asked for the `DEEP` best; recall itself takes twice as many from each list, and more
before a model call.
"""

import time
from pathlib import Path

import apsw
import numpy as np

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.memory import Query
from daimon.context.assemble import KINDS
from daimon.memory.ranking import DEEP
from daimon.memory.store import MemoryStore
from lab import peers
from lab.chatter import DIMENSION, Question
from lab.hoard import MODEL, Prepared, Quiet

VEC = Path(__file__).with_name("vec.lock")
MANY = 200
"""What is asked for before a model call; a little more than with the settings as they come."""
_BATCH = 2_000
_WORDS = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"


class Ours:
    def __init__(self, store: MemoryStore, embedder: Prepared) -> None:
        self.store, self._embedder = store, embedder

    @classmethod
    async def open(cls, path: Path) -> "Ours":
        embedder = Prepared()
        store, _ = await MemoryStore.open(path, Quiet(), embedder)
        return cls(store, embedder)

    async def tool(self, question: Question) -> float:
        """Milliseconds, as the tool asks."""
        return await self._ask(question, Query(space=HOME_SPACE, principal=OWNER, text=question.text))

    async def pager(self, question: Question) -> float:
        """As it is asked before a model call."""
        known = frozenset(f"e{n:07}" for n in range(100))
        asked = Query(
            space=HOME_SPACE, principal=OWNER, text=question.text, limit=MANY, kinds=KINDS, without=known, turn="now",
            trusted_only=True,
        )  # fmt: skip
        return await self._ask(question, asked)

    async def _ask(self, question: Question, query: Query) -> float:
        self._embedder.vector = question.vector
        begun = time.perf_counter()
        recalled = await self.store.recall(query)
        took = (time.perf_counter() - begun) * 1000
        if not recalled.hits or MODEL not in recalled.how:
            raise RuntimeError(f"recall went wrong: {len(recalled.hits)} hits, {recalled.how}")
        return took


class Floor:
    def __init__(self, path: Path, meant: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> None:
        self._connection, self._meant = apsw.Connection(str(path)), meant

    def words(self, question: Question) -> float:
        match = " OR ".join(f'"{word}"' for word in question.text.split())
        begun = time.perf_counter()
        self._connection.execute(_WORDS, (match, DEEP)).fetchall()
        return (time.perf_counter() - begun) * 1000

    def meaning(self, question: Question) -> float:
        begun = time.perf_counter()
        alike = self._meant @ np.frombuffer(question.vector, "<f4")
        best = np.argpartition(alike, -DEEP)[-DEEP:] if len(alike) > DEEP else np.arange(len(alike))
        best[np.argsort(-alike[best])].tolist()
        return (time.perf_counter() - begun) * 1000

    def close(self) -> None:
        self._connection.close()


class Vec:
    """Raises peers.Missing where there can be none."""

    def __init__(self, path: Path, meant: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> None:
        library = peers.packages(VEC) / "sqlite_vec" / "vec0"
        self._connection = apsw.Connection(str(path))
        try:
            self._connection.enable_load_extension(True)
            self._connection.load_extension(str(library))
        except apsw.Error as broken:
            raise peers.Missing(f"it cannot be loaded: {broken}") from broken
        self._connection.pragma("journal_mode", "wal")
        self._connection.execute(f"CREATE VIRTUAL TABLE v USING vec0(vector float[{DIMENSION}] distance_metric=cosine)")
        begun = time.perf_counter()
        for start in range(0, len(meant), _BATCH):
            rows = [(n, row.astype("<f4").tobytes()) for n, row in enumerate(meant[start : start + _BATCH], start + 1)]
            with self._connection:
                self._connection.executemany("INSERT INTO v (rowid, vector) VALUES (?, ?)", rows)
        self.insert_per_s = round(len(meant) / (time.perf_counter() - begun))

    def meaning(self, question: Question) -> float:
        begun = time.perf_counter()
        found = "SELECT rowid, distance FROM v WHERE vector MATCH ? AND k = ?"
        self._connection.execute(found, (question.vector, DEEP)).fetchall()
        return (time.perf_counter() - begun) * 1000

    def close(self) -> None:
        self._connection.close()
