"""Short codes for questions."""

import pytest

from daimon.abi.ids import StepRef, TurnId
from daimon.gateway.codes import choice_code, code_of, parse

ASKED = StepRef(TurnId("t01jx"), 4)


def test_a_code_is_the_same_each_time_and_another_one_for_another_question() -> None:
    assert code_of(ASKED) == code_of(StepRef(TurnId("t01jx"), 4))
    assert len({code_of(StepRef(TurnId("t01jx"), n)) for n in range(200)}) > 195


@pytest.mark.parametrize("written", ["{} 2", "{}-2", " {}  2 "])
def test_a_choice_is_understood_as_people_write_it(written: str) -> None:
    for code in (code_of(ASKED), code_of(ASKED).lower()):
        assert parse(written.format(code)) == (code_of(ASKED), 2)
    assert parse(choice_code(ASKED, 2)) == (code_of(ASKED), 2)


@pytest.mark.parametrize("text", ["", "yes", "hello 2", "12345 1", "allow 1", "please 2"])
def test_other_words_are_no_choice(text: str) -> None:
    assert parse(text) is None
