"""Which of what was found comes first. Pure: lists of scores and a few facts about each item go in, scores with their reasons come out.

A score is a sum of parts, each between 0 and about 1 before its weight:

    words      of the full text index, as a share of the best match
    meaning    of the vectors, from the `DEEP`th most similar (0) to the most similar (1)
    neighbour  how well the messages around it match: what is asked about is often said two lines below
    speaker    the question names who said it, or whom it is about
    question   taken off: a message that asks seldom answers
    length     of a message, up to a point: "Thanks!" matches well and says nothing. What was kept on purpose has the most there is,
               and as much again
    recent, used  so little that it only decides between equals

The weights are fitted on dialogues and checked on dialogues that they were not fitted on (docs/decisions/0040). Without vectors the same
sum does without that part. Scores of different questions cannot be compared.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from daimon.abi.memory import Reason

DEEP = 100
"""So many of a list count in full; the meaning of what stands below it counts nothing."""

BEST = 30
"""So many of the best make what is around them better."""

MEANING, NEIGHBOUR, SPEAKER, QUESTION, LENGTH = 0.68, 0.76, 0.7, 0.19, 0.7
KEPT = 0.76
"""What was kept on purpose, as if all around it matched: else what was said about keeping it would come first."""
RECENT, USED = 0.01, 0.01
_LONG, _WORD = 160, 5
"""Letters of a message beyond which it says no more by being longer; of a word."""
_OFTEN = 5

Scores = Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    n: int
    at: int
    is_message: bool
    is_question: bool
    is_named: bool
    """The question names who said it, or what it is about."""
    letters: int
    uses: int


@dataclass(frozen=True, slots=True)
class Ranked:
    n: int
    score: float
    why: tuple[Reason, ...]


def words(found: list[tuple[int, float]]) -> dict[int, float]:
    """The best first, all above 0."""
    return {n: score / found[0][1] for n, score in found}


def meaning(found: list[tuple[int, float]]) -> dict[int, float]:
    """The best first."""
    if not found:
        return {}
    highest, lowest = found[0][1], found[min(DEEP, len(found)) - 1][1]
    reach = highest - lowest
    return {n: max(0.0, (score - lowest) / reach) if reach > 0 else 1.0 for n, score in found}


def both(words: Scores, meaning: Scores) -> dict[int, float]:
    return {n: words.get(n, 0.0) + MEANING * meaning.get(n, 0.0) for n in {**words, **meaning}}


def best(scores: Scores) -> list[int]:
    """The numbers of the `BEST`."""
    return sorted(scores, key=lambda n: (-scores[n], -n))[:BEST]


def neighbours(scores: Scores, around: Mapping[int, Iterable[int]]) -> dict[int, float]:
    """What each gets from the best ones around it; squared, so that one good match says more than several poor ones.

    One alone gives half: its neighbours, which match nothing, must not come before it.
    """
    given: dict[int, float] = {}
    for n, near in around.items():
        for other in near:
            given[other] = given.get(other, 0.0) + scores[n] ** 2
    most = max([*given.values(), 2 * max(scores.values(), default=0.0) ** 2])
    return {n: share / most for n, share in given.items()} if most > 0 else {}


def rank(candidates: Iterable[Candidate], words: Scores, meaning: Scores, near: Scores, limit: int) -> list[Ranked]:
    """The best first."""
    there = sorted(candidates, key=lambda one: (one.at, one.n))
    scores = {}
    for place, one in enumerate(there, 1):
        found = words.get(one.n, 0.0) + MEANING * meaning.get(one.n, 0.0) + NEIGHBOUR * near.get(one.n, 0.0)
        scores[one.n] = found + _prior(one) + RECENT * place / len(there)
    best = sorted(there, key=lambda one: (-scores[one.n], -one.n))[:limit]
    places: tuple[tuple[Literal["words", "meaning"], dict[int, int]], ...] = (("words", _places(words)), ("meaning", _places(meaning)))
    return [
        Ranked(
            one.n,
            scores[one.n],
            (*(Reason(by, place[one.n]) for by, place in places if one.n in place), *_reasons(one, near.get(one.n, 0.0))),
        )
        for one in best
    ]


def _prior(one: Candidate) -> float:
    used = USED * min(one.uses, _OFTEN) / _OFTEN
    named = SPEAKER if one.is_named else 0.0
    if not one.is_message:
        return LENGTH + KEPT + named + used
    length = math.log1p(min(one.letters, _LONG) / _WORD) / math.log1p(_LONG / _WORD)
    return LENGTH * length + named + used - (QUESTION if one.is_question else 0.0)


def _reasons(one: Candidate, near: float) -> Iterable[Reason]:
    if one.is_named:
        yield Reason("speaker", 0)
    if near > 0:
        yield Reason("neighbour", 0, f"{near:.2f} of the best")
    if one.uses:
        yield Reason("used", 0, f"{one.uses} times")


def _places(scores: Scores) -> dict[int, int]:
    """From 1, as the scores were found: the best first."""
    return {n: place for place, n in enumerate(scores, 1)}
