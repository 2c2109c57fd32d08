"""Exact search over the vectors of one model, in memory. The rows of the table `vectors` are the truth.

The matrix is filled at the first question and numpy loaded with it, so whoever asks nothing pays nothing. It watches the table: temporary
triggers of the connection note which rows were touched, and the next question reads just those again, whatever became of them. So it is
what the table says, also after a transaction was rolled back, and nobody has to tell it anything.

Vectors of other models, and those with another dimension than the question's, are passed over: they cannot be compared.

Blocks; belongs to the thread of its connection, and all writing to the table must go through that connection. `unload` gives the
memory back (1.5 kB a vector) until the next question.
"""

import os
import sys
from collections.abc import Collection
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import apsw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from daimon.memory.dense import Dense

Aspect = Literal["own", "context"]
ASPECTS: tuple[Aspect, ...] = ("own", "context")
_BATCH = 2_000
_SIZE = 4
_THREADS = "OPENBLAS_NUM_THREADS"
_WATCH = "".join(
    f"""CREATE TEMP TRIGGER IF NOT EXISTS vectors_{event.lower()} AFTER {event} ON main.vectors
        BEGIN SELECT vector_touched({row}.n, {row}.aspect); END;"""
    for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD"))
)


class Matrix:
    def __init__(self, connection: apsw.Connection, model: str) -> None:
        self._connection = connection
        self._model = model
        self._dense: dict[Aspect, Dense] = {}
        self._dimension = 0
        self._touched: set[tuple[Any, ...]] = set()
        connection.create_scalar_function("vector_touched", self._touch, 2)
        connection.execute(_WATCH)

    @property
    def model(self) -> str:
        return self._model

    @property
    def is_loaded(self) -> bool:
        return bool(self._dense)

    def has_vectors(self) -> bool:
        return self._connection.execute("SELECT 1 FROM vectors WHERE model = ? LIMIT 1", (self._model,)).get is not None

    def nearest(
        self, aspect: Aspect, query: bytes, among: "Collection[int] | NDArray[Any] | None" = None, limit: int = 10
    ) -> list[tuple[int, float]]:
        """Items with their similarity (1: the same direction), the most similar first. `query` is as an `Embedder` gives it."""
        if self._dimension != len(query) // _SIZE or not self._dense:
            self._load(len(query) // _SIZE)
        elif self._touched:
            self._catch_up()
        return self._dense[aspect].nearest(query, among, limit)

    def unload(self) -> None:
        self._dense, self._touched = {}, set()

    def change_model(self, model: str) -> None:
        self._model = model
        self.unload()

    def _touch(self, *key: Any) -> None:
        if self._dense:
            self._touched.add(key)

    def _load(self, dimension: int) -> None:
        self._dimension, self._touched = dimension, set()
        self._dense = {aspect: _empty(dimension) for aspect in ASPECTS}
        found = self._connection.execute(
            "SELECT n, aspect, vector FROM vectors WHERE model = ? AND length(vector) = ?", (self._model, dimension * _SIZE)
        )
        while rows := list(islice(found, _BATCH)):
            for aspect, dense in self._dense.items():
                own = [(n, vector) for n, of, vector in rows if of == aspect]
                dense.put([n for n, _ in own], b"".join(vector for _, vector in own))

    def _catch_up(self) -> None:
        touched, self._touched = self._touched, set()
        for aspect, dense in self._dense.items():
            now = {n: self._vector(n, aspect) for n, of in touched if of == aspect}
            for n in now:
                dense.drop(n)
            there = {n: vector for n, vector in now.items() if vector is not None and len(vector) == self._dimension * _SIZE}
            dense.put(list(there), b"".join(there.values()))

    def _vector(self, n: int, aspect: Aspect) -> bytes | None:
        found = self._connection.execute(
            "SELECT vector FROM vectors WHERE n = ? AND aspect = ? AND model = ?", (n, aspect, self._model)
        ).get
        return found if isinstance(found, bytes) else None


def _empty(dimension: int) -> "Dense":
    """Loads numpy, with one thread: several would wait for each other in busy loops, in a process that has other things to do."""
    is_set = _THREADS in os.environ or "numpy" in sys.modules
    if not is_set:
        os.environ[_THREADS] = "1"
    try:
        from daimon.memory.dense import Dense
    finally:
        if not is_set:
            del os.environ[_THREADS]
    return Dense(dimension)
