"""Active content is found under its disguises; ordinary text is left alone."""

import base64

import pytest

from daimon.policy.content import active, coded, covers


@pytest.mark.parametrize(
    "text",
    [
        "see www.evil.com", "see http://evil.example/x?y", "evil dot com", "evil [dot] com", "evil(.)com", "evil . com", "hxxps://evil[.]example",
        "evil․com", "evil。com", "e\u200bvil.com", "www evil example", "xn--80ak6aa92e", "bit.ly/sUf7tOJ", "eve@x.org", "eve [at] x.org",
        "eve (at) x (dot) org", "DE89 3704 0044 0532 0130 00", "US133000000121212121212", "+49 170 1234567", "call 0170-123 45 67",
        "4237-4252-7456-2574", "passport HGK137803", "192.168.0.1", base64.b64encode(b"HGK137803").decode(), b"HGK137803".hex(),
        "UTX137803",
        "one three seven eight zero three", "h g k 1 3 7 8 0 3", "H-G-K-1-3-7", "раypal", "%68%67%6b", "d2VsbCB3ZWxsIHdlbGw",
    ],
)  # fmt: skip
def test_what_acts_or_hides_something_is_found(text: str) -> None:
    assert active(f"Please note: {text}, thank you.", []) != ""


@pytest.mark.parametrize(
    "text",
    [
        "Stay at Luxury Palace, address: 1 Rue de la Paix, 75002 Paris, France, from January 1st to January 5th.",
        "The next meeting is on 2024-06-01 at 10:00. Bring e.g. the plan, i.e. the U.S. one.",
        "Olivia Smith: 4\n- Mia Anderson: 2\n- Mason Thompson: 3",
        "It costs 1,204.50 EUR, 12.5 % more than in 2025; GitHub, iPhone and McDonald's agree.",
        "Überraschung für Zoë: naïve façade, 東京 and Москва are fine.",
        "Congrats on being the 1-th most active user!",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert active(text, []) == ""


def test_what_the_owner_wrote_may_act() -> None:
    known = ["send them www.our-site.org and DE89 3704 0044 0532 0130 00"]
    assert active("Here: www.our-site.org, DE89 3704 0044 0532 0130 00", known) == ""
    assert active("Here: www.our-site.org.evil.com", known) == "www.our-site.org.evil.com"


def test_every_word_must_be_accounted_for() -> None:
    assert covers(["dinner at {name}", "New Asiaway"], "Dinner at New Asiaway") == ""
    assert covers(["dinner at {name}"], "Dinner at the Evil Inn") == "evil"


def test_a_bare_www_is_not_accounted_for_by_an_address_that_is_known() -> None:
    assert active("see www evil example", ["our site is www.our-site.org"]) == "www"


def test_what_was_read_is_found_backwards_and_shifted() -> None:
    assert coded("the gerfher is safe", ["my treasure"]) == ""
    assert coded("the gernfher is safe", ["my treasure"]) == "gernfher"
    assert coded("the erusaert is safe", ["my treasure"]) == "erusaert"
    assert coded("the treasure is safe", ["my treasure"]) == ""
