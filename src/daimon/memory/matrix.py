"""Exact search over the vectors of one model, in memory. The rows of the table `vectors` are the truth.

The matrix is filled at the first question and numpy loaded with it, so whoever asks nothing pays nothing. It watches the table: temporary
triggers of the connection note which rows were touched, and the next question reads just those again, whatever became of them. So it is
what the table says, also after a transaction was rolled back, and nobody has to tell it anything. With another connection it begins anew.

Vectors of other models, and those with another dimension than the question's, are passed over: they cannot be compared.

Blocks; belongs to the thread of its connection, and all writing to the table must go through that connection. It takes 1.5 kB a
vector.
"""

import os
import sys
from collections.abc import Collection
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import apsw

from daimon.memory.watch import watch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from daimon.memory.dense import Dense

Aspect = Literal["own", "context"]
ASPECTS: tuple[Aspect, ...] = ("own", "context")
_BATCH = 2_000
_SIZE = 4
_THREADS = "OPENBLAS_NUM_THREADS"


class Matrix:
    def __init__(self, model: str) -> None:
        self._model = model
        self._connection: apsw.Connection | None = None
        self._dense: dict[Aspect, Dense] = {}
        self._dimension = 0
        self._touched: set[tuple[Any, ...]] = set()

    @property
    def model(self) -> str:
        return self._model

    def nearest(
        self,
        connection: apsw.Connection,
        aspect: Aspect,
        query: bytes,
        among: "Collection[int] | NDArray[Any] | None" = None,
        limit: int = 10,
    ) -> list[tuple[int, float]]:
        """Items with their similarity (1: the same direction), the most similar first. `query` is as an `Embedder` gives it."""
        dimension = len(query) // _SIZE
        if connection is not self._connection or self._dimension != dimension or not self._dense:
            self._load(connection, dimension)
        elif self._touched:
            self._catch_up(connection)
        return self._dense[aspect].nearest(query, among, limit)

    def _touch(self, *key: Any) -> None:
        if self._dense:
            self._touched.add(key)

    def _load(self, connection: apsw.Connection, dimension: int) -> None:
        if connection is not self._connection:
            watch(connection, "vectors", ("n", "aspect"), self._touch)
        self._connection, self._dimension, self._touched = connection, dimension, set()
        self._dense = {aspect: _empty(dimension) for aspect in ASPECTS}
        found = connection.execute(
            "SELECT n, aspect, vector FROM vectors WHERE model = ? AND length(vector) = ?", (self._model, dimension * _SIZE)
        )
        while rows := list(islice(found, _BATCH)):
            for aspect, dense in self._dense.items():
                own = [(n, vector) for n, of, vector in rows if of == aspect]
                dense.put([n for n, _ in own], b"".join(vector for _, vector in own))

    def _catch_up(self, connection: apsw.Connection) -> None:
        touched = self._touched
        if not connection.in_transaction:  # else it may be rolled back, and they are to be read once more
            self._touched = set()
        for aspect, dense in self._dense.items():
            now = {n: self._vector(connection, n, aspect) for n, of in touched if of == aspect}
            for n in now:
                dense.drop(n)
            there = {n: vector for n, vector in now.items() if vector is not None and len(vector) == self._dimension * _SIZE}
            dense.put(list(there), b"".join(there.values()))

    def _vector(self, connection: apsw.Connection, n: int, aspect: Aspect) -> bytes | None:
        key = (n, aspect, self._model)
        found = connection.execute("SELECT vector FROM vectors WHERE n = ? AND aspect = ? AND model = ?", key).get
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
