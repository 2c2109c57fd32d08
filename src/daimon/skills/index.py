"""Texts, ranked by the words that a question shares with them. Pure, and quick: all that can be worked out ahead is.

BM25 over stems, with fields that count differently. A word that no text has is taken for the nearest one that some have: one that begins
like it, else one that is a slip away; pairs and triples of letters lead to those that are worth a closer look. Words that people use for
each other count too, for less.

How rare a word is, is reckoned as if there were `OTHERS` more texts without it, and a word that one text has counts 1: so a score means the
same in a library of three as in one of five hundred, and a threshold can stand on it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from daimon.skills.wording import AKIN, terms

OTHERS = 200
"""Texts that nobody has, for the rarity of words."""
AKIN_SHARE, LIKE_SHARE, BEGINS_SHARE = 0.45, 0.88, 0.7
"""What a match counts that is not the word itself."""
LEAST_LETTERS, LONGER, LONG = 5, 6, 8
"""Shorter words are not guessed at; from then on one slip is allowed, and in long ones two."""
LOOKED_AT, MOST_LIKE = 12, 3
_K, _B = 1.2, 0.5


@dataclass(frozen=True, slots=True)
class Field:
    text: str
    weight: float


class Index:
    def __init__(self, texts: Sequence[Sequence[Field]]) -> None:
        weighed = [_weighed(fields) for fields in texts]
        mean = sum(map(_size, weighed)) / len(weighed) if weighed else 1.0
        self._having: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for n, found in enumerate(weighed):
            length = _K * (1 - _B + _B * _size(found) / mean)
            for word, often in found.items():
                self._having[word].append((n, often * (_K + 1) / (often + length)))
        self._rarity = {word: _rarity(len(at), len(texts)) / _rarity(1, len(texts)) for word, at in self._having.items()}
        self._pieces: defaultdict[str, list[str]] = defaultdict(list)
        for word in self._having:
            for piece in _pieces(word):
                self._pieces[piece].append(word)
        self._near: dict[str, tuple[tuple[str, float], ...]] = {}

    def scores(self, question: str) -> dict[int, float]:
        """By the number of a text; those that share nothing are left out."""
        found: defaultdict[int, float] = defaultdict(float)
        for word, times in Counter(terms(question)).items():
            best: dict[int, float] = {}
            for known, share in self._known(word):
                weight = share * self._rarity[known] * (1 + math.log(times))
                for n, often in self._having[known]:
                    best[n] = max(best.get(n, 0.0), weight * often)  # a word counts once in a text, however many of its kin are there
            for n, score in best.items():
                found[n] += score
        return dict(found)

    def _known(self, word: str) -> tuple[tuple[str, float], ...]:
        near = self._near.get(word)
        if near is None:
            own = [(word, 1.0)] if word in self._having else self._like(word)
            near = (*own, *((each, AKIN_SHARE) for each in AKIN.get(word, ()) if each in self._having))
            if len(self._near) < 10_000:
                self._near[word] = near
        return near

    def _like(self, word: str) -> list[tuple[str, float]]:
        """Known words that were meant, perhaps. Those that share letters are looked at more closely."""
        if len(word) < LEAST_LETTERS or word in AKIN:
            return []
        shared = Counter(known for piece in _pieces(word) for known in self._pieces.get(piece, ()) if len(known) >= LEAST_LETTERS)
        close = sorted(shared, key=lambda known: (-shared[known] / (len(known) + len(word)), known))[:LOOKED_AT]
        found = [(known, share) for known in close if (share := _share(word, known))]
        return sorted(found, key=lambda each: -each[1])[:MOST_LIKE]


def _share(word: str, known: str) -> float:
    if known.startswith(word) or word.startswith(known):
        return BEGINS_SHARE
    slips, size = _slips(word, known), min(len(word), len(known))
    return LIKE_SHARE / slips if slips <= (size >= LONGER) + (size >= LONG) else 0.0


def _slips(a: str, b: str) -> int:
    """Letters that were left out, added, mistaken or swapped with their neighbour."""
    above, last = list[int](), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [i]
        for j, y in enumerate(b, 1):
            least = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                least = min(least, above[j - 2] + 1)
            now.append(least)
        above, last = last, now
    return last[-1]


def _weighed(fields: Sequence[Field]) -> dict[str, float]:
    found: dict[str, float] = {}
    for field in fields:
        for word, times in Counter(terms(field.text)).items():
            found[word] = found.get(word, 0.0) + field.weight * times
    return found


def _rarity(having: int, texts: int) -> float:
    return math.log(1 + (texts + OTHERS - having + 0.5) / (having + 0.5))


def _size(weighed: dict[str, float]) -> float:
    return sum(weighed.values())


def _pieces(word: str) -> frozenset[str]:
    """Pairs and triples of letters, with where the word begins and ends."""
    marked = f"^{word}$"
    return frozenset(marked[n : n + size] for size in (2, 3) for n in range(len(marked) - size + 1))
