"""Which of what was found comes first."""

from typing import Any

import pytest

from daimon.memory import ranking
from daimon.memory.ranking import Candidate


def candidate(n: int, **more: Any) -> Candidate:
    facts = {"at": n, "is_message": True, "is_question": False, "is_named": False, "letters": 100, "uses": 0}
    return Candidate(n=n, **{**facts, **more})


def order(*candidates: Candidate, words: dict[int, float] | None = None, near: dict[int, float] | None = None) -> list[int]:
    return [one.n for one in ranking.rank(candidates, words or {}, {}, near or {}, 10)]


def test_shares_of_the_best_are_between_nothing_and_one() -> None:
    assert ranking.words([(3, 8.0), (1, 2.0)]) == {3: 1.0, 1: 0.25}
    assert ranking.words([]) == ranking.meaning([]) == {}
    assert ranking.meaning([(3, 0.9), (1, 0.5), (2, 0.1)]) == {3: 1.0, 1: 0.5, 2: 0.0}
    assert ranking.meaning([(3, 0.9)]) == {3: 1.0}


def test_what_stands_below_the_hundredth_has_no_meaning_to_count() -> None:
    shares = ranking.meaning([(n, 1 - n / 1000) for n in range(200)])
    assert shares[0] == 1.0
    assert shares[99] == shares[150] == 0.0


def test_a_good_match_makes_what_is_around_it_better_and_not_itself() -> None:
    assert ranking.neighbours({5: 1.0, 9: 0.5}, {5: [4, 6], 9: [6]}) == {4: 0.5, 6: 0.625}
    assert ranking.neighbours({5: 1.0, 7: 1.0, 9: 1.0}, {5: [6], 7: [6], 9: [6, 10]}) == {6: 1.0, 10: pytest.approx(1 / 3)}
    assert ranking.neighbours({}, {}) == {}


def test_a_long_neighbour_that_matches_nothing_comes_after_the_short_match_that_brought_it() -> None:
    scores = {1: 1.0}
    assert order(candidate(1, letters=12), candidate(2, letters=5_000), words=scores, near=ranking.neighbours(scores, {1: [2]})) == [1, 2]


def test_who_is_named_comes_before_who_is_not() -> None:
    assert order(candidate(1, is_named=True), candidate(2)) == [1, 2]


def test_a_question_comes_after_a_statement_and_thanks_after_a_sentence() -> None:
    assert order(candidate(2, is_question=True), candidate(1)) == [1, 2]
    assert order(candidate(2, letters=6), candidate(1)) == [1, 2]


def test_a_short_note_is_not_less_for_being_short() -> None:
    assert order(candidate(1, is_message=False, letters=12), candidate(2)) == [1, 2]


def test_of_equals_the_newer_comes_first_and_of_a_better_match_age_takes_nothing() -> None:
    assert order(candidate(1), candidate(2)) == [2, 1]
    assert order(candidate(1), candidate(2), words={1: 0.5, 2: 0.4}) == [1, 2]


def test_each_reason_is_said() -> None:
    (one,) = ranking.rank([candidate(1, is_named=True, uses=2)], {1: 1.0}, {1: 1.0}, {1: 0.5}, 10)
    assert [(reason.by, reason.rank) for reason in one.why] == [
        ("words", 1), ("meaning", 1), ("speaker", 0), ("neighbour", 0), ("used", 0),
    ]  # fmt: skip
