"""A question's meaning, where somebody makes vectors: what `recall` compares items by.

Where nobody does, or it fails, things are found by their words, and the answer says so. A question is embedded without the names of
speakers, because half of a dialogue has them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Protocol, TypeVar

import apsw

from daimon.abi.errors import ToolFailed
from daimon.abi.memory import Embedder, Query, Recalled
from daimon.memory.matrix import Matrix
from daimon.memory.recall import meant, recall

T = TypeVar("T")
WORDS_ONLY = "words only: nobody makes vectors here"
NEWEST = "date: nothing was asked for"
NOTHING_YET = "words only: nothing has a vector yet"
PATIENCE_S = 1.5
"""For the vector of a question: somebody waits for the answer."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """Implements `recall.Meaning`."""

    matrix: Matrix
    connection: apsw.Connection
    vector: bytes

    def nearest(self, among: Collection[int] | None, limit: int) -> list[tuple[int, float]]:
        return self.matrix.nearest(self.connection, "own", self.vector, among, limit)


class Run(Protocol):
    def __call__(self, work: Callable[[apsw.Connection], T], /) -> Awaitable[T]:
        """In the thread that the file belongs to."""
        ...


class Recall:
    def __init__(self, embedder: Embedder | None, run: Run) -> None:
        self._embedder, self._run = embedder, run
        self._matrix = Matrix(embedder.model if embedder else "")

    async def __call__(self, query: Query) -> Recalled:
        vector, how = await self._vector(query)
        found = await self._run(lambda connection: recall(connection, query, Nearest(self._matrix, connection, vector) if vector else None))
        return Recalled(found, how)

    async def _vector(self, query: Query) -> tuple[bytes, str]:
        """Of the question, if there is one; and what things are found by."""
        embedder = self._embedder
        if embedder is None:
            return b"", WORDS_ONLY
        text, has_vectors = await self._run(lambda connection: (meant(connection, query), _has_vectors(connection, embedder.model)))
        if not has_vectors or not text.strip():
            return b"", NOTHING_YET if text.strip() else NEWEST
        try:
            async with asyncio.timeout(PATIENCE_S):
                (vector,) = await embedder.embed((text,), "query")
        except TimeoutError:
            return b"", f"words only: {embedder.model} took longer than {PATIENCE_S:g} s"
        except ToolFailed as failed:
            return b"", f"words only: {failed}"
        return vector, f"words and meaning ({embedder.model})"


def _has_vectors(connection: apsw.Connection, model: str) -> bool:
    """Of one that is comparable: else nobody need be woken to make one of the question."""
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM vectors WHERE model = ? LIMIT 1)", (model,)).get)
