"""all-MiniLM-L6-v2 in plain numpy: texts in, vectors of unit length out.

    pieces → tables of words and places → 6 × (attention, two layers between) → mean over the text → unit length

All texts of a batch stand one after the other in one matrix, a row for each piece, with no padding: what looks at one piece at a time
(nine tenths of the work) is a product of large matrices, and attention is done text by text. So a vector does not depend on what else was
in the batch, and nothing is computed that is thrown away.

It does not know where texts come from, and blocks for as long as it takes: it belongs into a process of its own.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from daimon.memory.embedding.weights import DIMENSION, Weights
from daimon.memory.embedding.wordpiece import Wordpiece

MOST_TOKENS = 256
BATCH_TOKENS = 1_024
"""Of one run through the layers, so that what is between them stays in a few megabytes."""
_LAYERS = 6
_HEADS = 12
_SCALE = np.float32((DIMENSION // _HEADS) ** -0.5)
_EPSILON = np.float32(1e-12)
_ERF = tuple(np.float32(term) for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592))

Matrix = NDArray[np.float32]


class MiniLM:
    def __init__(self, weights: Weights) -> None:
        tables = weights.tables()
        self._wordpiece = Wordpiece(weights.vocabulary())
        self._words = tables["embeddings.word_embeddings.weight"]
        self._places = tables["embeddings.position_embeddings.weight"] + tables["embeddings.token_type_embeddings.weight"][0]
        self._norm = _Norm(tables, "embeddings.LayerNorm")
        self._layers = [_Layer(tables, f"encoder.layer.{number}") for number in range(_LAYERS)]

    def embed(self, texts: Sequence[str]) -> Matrix:
        """A row for each text."""
        pieces = [self._wordpiece.tokens(text, MOST_TOKENS) for text in texts]
        rows = np.empty((len(texts), DIMENSION), np.float32)
        start = 0
        while start < len(pieces):
            end, size = start + 1, len(pieces[start])
            while end < len(pieces) and size + len(pieces[end]) <= BATCH_TOKENS:
                size += len(pieces[end])
                end += 1
            rows[start:end] = self._run(pieces[start:end])
            start = end
        return rows

    def _run(self, pieces: Sequence[Sequence[int]]) -> Matrix:
        lengths = [len(each) for each in pieces]
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        flat = np.concatenate([np.asarray(each, np.int64) for each in pieces])
        places = np.concatenate([np.arange(length) for length in lengths])
        state = self._norm(self._words[flat] + self._places[places])
        spans = [slice(first, last) for first, last in pairwise(bounds)]
        for layer in self._layers:
            state = layer(state, spans)
        means = np.stack([state[span].mean(axis=0) for span in spans])
        unit: Matrix = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit


class _Layer:
    def __init__(self, tables: dict[str, Matrix], name: str) -> None:
        attention = f"{name}.attention"
        parts = [f"{attention}.self.{part}" for part in ("query", "key", "value")]
        weights, biases = ([tables[f"{part}.{name}"] for part in parts] for name in ("weight", "bias"))
        self._mix = _Dense(np.concatenate(weights), np.concatenate(biases))
        self._out = _dense(tables, f"{attention}.output.dense")
        self._wide = _dense(tables, f"{name}.intermediate.dense")
        self._narrow = _dense(tables, f"{name}.output.dense")
        self._norm = _Norm(tables, f"{attention}.output.LayerNorm")
        self._last_norm = _Norm(tables, f"{name}.output.LayerNorm")

    def __call__(self, state: Matrix, spans: Sequence[slice]) -> Matrix:
        mixed = self._mix(state)
        seen = np.empty_like(state)
        for span in spans:
            seen[span] = _attend(mixed[span])
        state = self._norm(self._out(seen) + state)
        return self._last_norm(self._narrow(_gelu(self._wide(state))) + state)


class _Dense:
    def __init__(self, weight: Matrix, bias: Matrix) -> None:
        self._weight, self._bias = weight.T, bias

    def __call__(self, state: Matrix) -> Matrix:
        product: Matrix = state @ self._weight
        product += self._bias
        return product


def _dense(tables: dict[str, Matrix], name: str) -> _Dense:
    return _Dense(tables[f"{name}.weight"], tables[f"{name}.bias"])


class _Norm:
    def __init__(self, tables: dict[str, Matrix], name: str) -> None:
        self._weight, self._bias = tables[f"{name}.weight"], tables[f"{name}.bias"]

    def __call__(self, state: Matrix) -> Matrix:
        state -= state.mean(axis=1, keepdims=True)
        spread = np.einsum("ij,ij->i", state, state)[:, None] / np.float32(state.shape[1])
        state /= np.sqrt(spread + _EPSILON)
        state *= self._weight
        state += self._bias
        return state


def _attend(mixed: Matrix) -> Matrix:
    """Of one text: which pieces look at which, over all heads at once."""
    length = len(mixed)
    query, key, value = mixed.reshape(length, 3, _HEADS, -1).transpose(1, 2, 0, 3)
    scores: Matrix = query @ key.transpose(0, 2, 1)
    scores *= _SCALE
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    seen: Matrix = scores @ value
    return seen.transpose(1, 0, 2).reshape(length, -1)


def _gelu(wide: Matrix) -> Matrix:
    """x Φ(x), with erf after Abramowitz and Stegun 7.1.26: as exact as float32 is. In blocks that stay in the cache."""
    for block in np.array_split(wide, max(1, len(wide) // 32)):
        t = np.abs(block)
        t *= np.float32(0.3275911 / 2**0.5)
        t += np.float32(1)
        np.reciprocal(t, out=t)
        tail = t * np.float32(1.061405429)
        for term in _ERF:
            tail += term
            tail *= t
        bell: Matrix = block * block
        bell *= np.float32(-0.5)
        np.exp(bell, out=bell)
        tail *= bell
        tail *= np.float32(0.5)
        # Φ(x) is 1 - tail for x >= 0 and tail below; so x Φ(x) = max(x, 0) - |x| tail.
        np.abs(block, out=t)
        t *= tail
        np.maximum(block, np.float32(0), out=block)
        block -= t
    return wide
