"""From a question to what is looked for."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.memory import query


def test_words_that_say_nothing_are_left_out() -> None:
    assert query.words("What did you say about the blue car, please?") == ["blue", "car"]


def test_a_word_is_looked_for_once_and_an_ordinal_is_its_number() -> None:
    assert query.words("Tea, tea and TEA on the 8th") == ["TEA", "8"]


def test_names_of_speakers_are_left_out_while_anything_else_is_left() -> None:
    assert query.words("What is Anna's hobby?", {"Anna Meyer"}) == ["hobby"]
    assert query.words("Anna?", {"Anna Meyer"}) == ["Anna"]


def test_somebody_is_named_by_any_part_of_their_name_but_not_by_an_ordinary_word() -> None:
    speakers = ("Anna Meyer", "Bob", "Will")
    assert query.named("what did anna’s friend bring?", speakers) == {"Anna Meyer"}
    assert query.named("Will it rain on Bobby?", speakers) == frozenset()


def test_a_question_loses_its_names_but_never_everything() -> None:
    assert query.unnamed("Where does Anna's sister live?", {"Anna Meyer"}) == "Where does sister live?"
    assert query.unnamed("Anna?", {"Anna Meyer"}) == "Anna?"


@given(st.text(max_size=200))
def test_no_question_breaks_the_index_or_steers_it(text: str) -> None:
    rows = apsw.Connection(":memory:")
    rows.execute("CREATE VIRTUAL TABLE words USING fts5 (own, before)")
    if words := query.words(text):
        rows.execute("SELECT * FROM words WHERE words MATCH ?", (query.any_of(words),)).fetchall()


@pytest.mark.parametrize("text", ["own : secret", "a NEAR(b, 2)", '" OR "', "tea*", "(tea", "{own before}: x", "- ^tea"])
def test_the_language_of_the_index_is_only_words(text: str) -> None:
    rows = apsw.Connection(":memory:")
    rows.execute("CREATE VIRTUAL TABLE words USING fts5 (own, before); INSERT INTO words VALUES ('nothing of it', 'else')")
    words = query.words(text)
    assert not words or rows.execute("SELECT * FROM words WHERE words MATCH ?", (query.any_of(words),)).fetchall() == []
