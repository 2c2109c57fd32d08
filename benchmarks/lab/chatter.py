"""Talk without sense, in the shape of talk: many conversations, words as frequent as in a language, some strangers among the speakers.

The same seed gives the same lines. Words are few and frequent or many and rare (Zipf), the most frequent ones those that say nothing; a
line has from two to a hundred and fifty of them. Every line is about one of many themes: its vector lies near that of the theme, of unit
length, as those of sentences do. A question has three to eight words of one line, none of them silent, and a vector near that line's.
"""

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin, owned

NOON = datetime(2026, 3, 13, 12, tzinfo=UTC)
DIMENSION = 384
_WORDS, _STEEP = 30_000, 1.05
_SILENT = re.findall(
    r"\w+",
    """the to and of a in is it you that was for on are with as i his they be at one have this from or had by not but what all were we
    when your can said there an each which she do how their if will up about out many then them these so some her would him into has more
    no could my than been who its now did get may""",
)
_SYLLABLES = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
_CONVERSATIONS, _SPEAKERS = 400, 30
_STRANGERS = 20
"""One line in so many is a stranger's."""
_THEMES, _SPREAD = 500, 0.9
_SHORTEST, _LONGEST, _USUAL = 2, 150, 22
_FEWEST_ASKED, _MOST_ASKED = 3, 8
_APART = 0.5
"""How far a question's vector lies from the line's, as a share of its length."""


@dataclass(frozen=True, slots=True)
class Line:
    n: int
    text: str
    conversation: str
    speaker: str
    at: datetime
    label: Label


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    vector: bytes


def lines(count: int, seed: int = 0) -> Iterator[Line]:
    chance = random.Random(seed)
    vocabulary = _vocabulary(chance)
    weights = list(itertools.accumulate(1 / (rank + 2) ** _STEEP for rank in range(len(vocabulary))))
    people = [f"{word.title()} {other.title()}" for word, other in zip(*[iter(vocabulary[-2 * _SPEAKERS :])] * 2, strict=True)]
    for n in range(count):
        length = int(min(max(chance.lognormvariate(0, 0.8) * _USUAL, _SHORTEST), _LONGEST))
        words = chance.choices(vocabulary, cum_weights=weights, k=length)
        is_strange = chance.randrange(_STRANGERS) == 0
        label = Label.of(Origin(Author.STRANGER, f"web:{chance.choice(vocabulary)}.org")) if is_strange else owned("chat")
        speaker = chance.choice(people) if chance.random() < 0.5 else OWNER
        text = " ".join(words).capitalize() + ("?" if chance.randrange(6) == 0 else ".")
        yield Line(n, text, f"c{chance.randrange(_CONVERSATIONS)}", speaker, NOON + timedelta(minutes=n), label)


def vectors(count: int, seed: int = 0) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    chance = np.random.default_rng(seed)
    themes = _unit(chance.standard_normal((_THEMES, DIMENSION), np.float32))
    made = themes[chance.integers(_THEMES, size=count)]
    made += chance.standard_normal((count, DIMENSION), np.float32) * np.float32(_SPREAD / DIMENSION**0.5)
    return _unit(made)


def questions(
    said: list[Line], meant: "np.ndarray[tuple[int, int], np.dtype[np.float32]]", count: int, seed: int = 0
) -> Iterator[Question]:
    chance, noise = random.Random(seed), np.random.default_rng(seed)
    silent = frozenset(_SILENT)
    while count:
        line = chance.choice(said)
        words = list(dict.fromkeys(word for word in line.text.lower().strip(".?").split() if word not in silent))
        if len(words) >= _FEWEST_ASKED:
            asked = sorted(chance.sample(range(len(words)), min(len(words), chance.randint(_FEWEST_ASKED, _MOST_ASKED))))
            vector = meant[line.n] + noise.standard_normal(DIMENSION, np.float32) * np.float32(_APART / DIMENSION**0.5)
            yield Question(" ".join(words[i] for i in asked), _unit(vector[None]).astype("<f4").tobytes())
            count -= 1


def _vocabulary(chance: random.Random) -> list[str]:
    """The more frequent the shorter, as words are."""
    made = dict.fromkeys(_SILENT)
    while len(made) < _WORDS:
        syllables = 2 + (len(made) > 1_000) + (len(made) > 10_000)
        made["".join(chance.choices(_SYLLABLES, k=syllables)) + chance.choice(("", "", "n", "s", "r"))] = None
    return list(made)


def _unit(rows: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
