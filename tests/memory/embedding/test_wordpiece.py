"""Text becomes pieces of a vocabulary, whatever the text."""

from hypothesis import given
from hypothesis import strategies as st
from tests.memory.embedding.models import needs_model

from daimon.memory.embedding.weights import Weights
from daimon.memory.embedding.wordpiece import LONGEST_WORD, Wordpiece

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "cup", "##s", "##cup", "!", "cafe", "日", "本", "i", "[", "]", "sep"]
SMALL = Wordpiece(PIECES)


def pieces(text: str, most: int = 256) -> list[str]:
    return [PIECES[number] for number in SMALL.tokens(text, most)[1:-1]]


def test_the_longest_piece_that_fits_is_taken_first() -> None:
    assert pieces("TEACUPS tea!cups") == ["tea", "##cup", "##s", "tea", "!", "cup", "##s"]


def test_accents_case_controls_and_spaces_do_not_matter() -> None:
    assert pieces("  Café\x00 CAFE\u0301\tc\u200bafe ") == ["cafe", "cafe", "cafe"]
    assert pieces("İ\ufffd\ud800") == ["i"]


def test_signs_of_chinese_stand_alone() -> None:
    assert pieces("日本tea") == ["日", "本", "tea"]


def test_what_has_no_pieces_is_one_unknown_word() -> None:
    assert pieces("teapot 🙂") == ["[UNK]", "[UNK]"]
    assert pieces("s" * (LONGEST_WORD + 1)) == ["[UNK]"]


def test_nobody_can_write_a_special_token() -> None:
    assert pieces("[SEP]") == ["[", "sep", "]"]


def test_a_text_is_cut_to_the_most_that_is_taken() -> None:
    tokens = SMALL.tokens("tea " * 1_000, 8)
    assert len(tokens) == 8
    assert [PIECES[number] for number in (tokens[0], tokens[-1])] == ["[CLS]", "[SEP]"]


@given(st.text(), st.integers(2, 40))
def test_every_text_has_pieces_between_its_marks(text: str, most: int) -> None:
    tokens = SMALL.tokens(text, most)
    assert 2 <= len(tokens) <= most
    assert (tokens[0], tokens[-1]) == (2, 3)


@needs_model
def test_the_vocabulary_of_the_model_gives_the_numbers_that_it_was_trained_with() -> None:
    weights = Weights.find()
    assert weights
    real = Wordpiece(weights.vocabulary())
    assert real.tokens("Hello, world! Straße ΣΑΣ", 256) == [101, 7592, 1010, 2088, 999, 2358, 27807, 1173, 14608, 29733, 102]
