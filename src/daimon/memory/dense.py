"""Rows of float32 in one block, by the numbers of items, searched exactly. The only file outside of the child process that needs numpy.

    _rows      the vectors, the first `_size` of them used; doubled when it is full
    _numbers   whose vector each row is
    _row_of    by the number of an item: its row, or -1. Numbers of items are dense, so this is an array.

A row that goes is overwritten by the last one, so there is never a gap. Filter first: where few are asked about, only their rows are
multiplied; where many are, all are, because picking rows out costs more than multiplying them.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW = 8
"""A share of one in so many rows is picked out; more are searched with all the others."""
_FIRST = 256


class Dense:
    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._size = 0
        self._rows = np.empty((_FIRST, dimension), np.float32)
        self._numbers = np.empty(_FIRST, np.int64)
        self._row_of = np.full(_FIRST, -1, np.int32)

    def __len__(self) -> int:
        return self._size

    def put(self, numbers: Sequence[int], vectors: bytes) -> None:
        """Vectors one after the other, each number once. One that is there is replaced."""
        if not numbers:
            return
        for n in numbers:
            self.drop(n)
        start, self._size = self._size, self._size + len(numbers)
        self._rows, self._numbers = _grown(self._rows, self._size), _grown(self._numbers, self._size)
        self._row_of = _grown(self._row_of, max(numbers) + 1, -1)
        self._rows[start : self._size] = np.frombuffer(vectors, "<f4").reshape(len(numbers), self.dimension)
        self._numbers[start : self._size] = numbers
        self._row_of[self._numbers[start : self._size]] = np.arange(start, self._size)

    def drop(self, n: int) -> None:
        if n >= len(self._row_of) or (row := int(self._row_of[n])) < 0:
            return
        last = self._size = self._size - 1
        self._rows[row], self._numbers[row] = self._rows[last], self._numbers[last]
        self._row_of[self._numbers[last]] = row
        self._row_of[n] = -1

    def nearest(self, query: bytes, among: "Collection[int] | NDArray[Any] | None", limit: int) -> list[tuple[int, float]]:
        """The most similar first; among equals the newer."""
        rows = None if among is None else self._rows_of(among)
        if limit <= 0 or not (self._size if rows is None else len(rows)):
            return []
        wanted = np.frombuffer(query, "<f4")
        if rows is None:
            alike, numbers = self._rows[: self._size] @ wanted, self._numbers[: self._size]
        elif len(rows) * _FEW > self._size:
            alike, numbers = (self._rows[: self._size] @ wanted)[rows], self._numbers[rows]
        else:
            alike, numbers = self._rows[rows] @ wanted, self._numbers[rows]
        best = np.argpartition(alike, -limit)[-limit:] if limit < len(alike) else np.arange(len(alike))
        best = best[np.lexsort((-numbers[best], -alike[best]))]
        return list(zip(numbers[best].tolist(), alike[best].tolist(), strict=True))

    def _rows_of(self, among: "Collection[int] | NDArray[Any]") -> "NDArray[np.int32]":
        numbers = among if isinstance(among, np.ndarray) else np.fromiter(among, np.int64, len(among))
        is_asked = np.zeros(len(self._row_of), bool)
        is_asked[numbers[(numbers >= 0) & (numbers < len(is_asked))]] = True
        rows = self._row_of[is_asked]
        return rows[rows >= 0]


def _grown(array: "NDArray[Any]", size: int, empty: int = 0) -> "NDArray[Any]":
    if size <= len(array):
        return array
    room = max(size, 2 * len(array))
    grown = np.full((room, *array.shape[1:]), empty, array.dtype) if array.ndim == 1 else np.empty((room, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
