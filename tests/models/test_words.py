"""Spelling: what is mended, what stays, and that a slot is cut from what was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.models.english import ENGLISH
from daimon.models.words import cut, distance, joined, mend, spell


@pytest.mark.parametrize(
    ("typo", "word"),
    [
        ("remeber", "remember"),
        ("rember", "remember"),
        ("waht", "what"),
        ("forgt", "forget"),
        ("cancle", "cancel"),
        ("remidner", "reminder"),
    ],
)
def test_a_slip_is_mended(typo, word):
    assert mend(typo, ENGLISH.vocabulary) == word


@pytest.mark.parametrize("word", ["reminds", "deleted", "cancelling", "nope", "not", "hat", "notes"])
def test_a_real_word_is_not_mended(word):
    assert mend(word, ENGLISH.vocabulary) == word


def test_a_word_as_near_to_two_words_stays():
    assert mend("stare", {"store", "stars"}) == "stare"


def test_contractions_are_opened_and_a_closing_colon_is_a_word():
    assert joined(spell("What’s this: x", {"what's": "what is"})) == "what is this : x "


def test_what_is_cut_keeps_its_letters_and_loses_closing_punctuation():
    text = "note: Hunter2!x#, ok."
    assert cut(text, 6, 13) == "Hunter2!x#"


@pytest.mark.parametrize(
    ("a", "b", "steps"), [("form", "from", 1), ("cat", "cart", 1), ("cat", "cut", 1), ("kitten", "sitting", 3), ("a", "abcdef", 4)]
)
def test_distance_counts_slips_up_to_its_limit(a, b, steps):
    assert distance(a, b, 3) == steps


@given(st.text())
def test_every_word_lies_where_it_says(text):
    for word in spell(text, ENGLISH.aliases, ENGLISH.vocabulary, ENGLISH.keep):
        assert 0 <= word.start < word.end <= len(text)
