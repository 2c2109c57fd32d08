"""Codes of invitations: made, shown, read back, and not found in ordinary words."""

import pytest

from daimon.gateway.pairing import ALPHABET, invitation, pairing, shown
from daimon.machine.chance import SystemRandom


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
