"""A message in pieces: text, question, files."""

from daimon.abi.channel import Choice, Piece
from daimon.abi.event import Asks
from daimon.abi.ids import BlobHash, StepRef, TurnId
from daimon.abi.message import File, Text
from daimon.gateway.codes import code_of
from daimon.gateway.notation import telegram
from daimon.gateway.pieces import Form, cut
from daimon.testing.contracts.channel import ASKS, message

REPORT = File(BlobHash("ab"), "report.pdf", "application/pdf", 10)


def test_text_comes_first_then_each_file_by_itself() -> None:
    pieces = cut(message("bob", Text("**Look**"), REPORT, REPORT), Form(100, telegram.render))
    assert pieces == (Piece("<b>Look</b>"), Piece(attachment=REPORT), Piece(attachment=REPORT))


def test_choices_stand_on_the_last_piece_of_the_text() -> None:
    pieces = cut(message("bob", Text("Word. " * 100), REPORT, asks=ASKS), Form(100, telegram.render, has_buttons=True))
    code = code_of(ASKS.to)
    assert pieces[-2].choices == (Choice(f"{code} 1", "allow"), Choice(f"{code} 2", "deny"))
    assert not any(piece.choices for piece in (*pieces[:-2], pieces[-1]))


def test_without_buttons_the_text_says_how_to_answer() -> None:
    (piece,) = cut(message("bob", Text("May I?"), asks=ASKS), Form(200, telegram.render))
    code = code_of(ASKS.to)
    assert piece.text == f"May I?\n\nAnswer <code>{code} 1</code> for allow, <code>{code} 2</code> for deny."


def test_a_question_that_any_words_answer_has_no_choices() -> None:
    (piece,) = cut(message("bob", Text("Where?"), asks=Asks(StepRef(TurnId("t"), 1))), Form(200, telegram.render, has_buttons=True))
    assert piece == Piece("Where?\n\nAnswer in your own words.")
