"""Short codes: made, shown, read back, and not found in ordinary words."""

import pytest

from daimon.abi.ids import StepRef, TurnId
from daimon.gateway.codes import ALPHABET, choice_code, code_of, invitation, pairing, parse, shown
from daimon.machine.chance import SystemRandom


def test_a_question_s_code_is_the_same_every_time_and_comes_back_with_its_number() -> None:
    ref = StepRef(TurnId("t1"), 4)
    assert code_of(ref) == code_of(StepRef(TurnId("t1"), 4)) != code_of(StepRef(TurnId("t1"), 5))
    assert parse(choice_code(ref, 2)) == (code_of(ref), 2)
    assert parse(f"  {code_of(ref).lower()}   12 ") == (code_of(ref), 12)


@pytest.mark.parametrize("text", ["", "yes", "hello there 2", "K7Q2", "K7Q2 two", "K7Q2 123", "K7O2 1"])
def test_other_words_are_no_choice(text: str) -> None:
    assert parse(text) is None


def test_a_pairing_code_is_read_in_each_way_in_which_it_is_sent() -> None:
    for _ in range(200):
        code = invitation(SystemRandom())
        assert len(code) == 8
        assert set(code) <= set(ALPHABET)
        for text in (code, shown(code), f"/pair {shown(code)}", f"/start {code}", f" {code.lower()}\n", shown(code).replace("-", " ")):
            assert pairing(text) == code


@pytest.mark.parametrize("text", ["standard", "best-case", "/start", "/pair", "my code is ABCD-2345", "ABCD-23456", "hello"])
def test_ordinary_words_are_no_pairing_code(text: str) -> None:
    assert pairing(text) == ""
