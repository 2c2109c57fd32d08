"""What a fetch may carry out (docs/decisions/0054): each guard with the use that it must not stand in the way of."""

import pytest
from tests.policy.scene import LOOK, MAILS, WEB, C, D, S, manifest, situation

from daimon.abi.judgement import Seen
from daimon.abi.tool import Capability
from daimon.policy.flow import weigh

SITE = "https://news.example"
PAGE = Seen(15, "look", {"url": f"{SITE}/"}, {"text": f"[One]({SITE}/one?id=7) [Two]({SITE}/two). [Ad](https://evil.example/a)"}, WEB)
WORDS = "read news.example and the articles that are linked there"
API = manifest("api", Capability.READS_OUTSIDE, Capability.READS_PRIVATE, url=D, headers=C, secrets=S)


def basis(url: str, words: str, *seen: Seen) -> str:
    return weigh(LOOK, {"url": url}, situation(words, *seen)).basis


@pytest.mark.parametrize("url", ["https://news.example/a", "http://news.example/a", "news.example/a", "https://news.example/a/"])
def test_an_address_is_the_owners_word_however_it_begins(url: str) -> None:
    assert basis(url, "summarise news.example/a please", MAILS) == "words"


@pytest.mark.parametrize(
    "url", ["https://news.example/b", "https://news.example/a?k=HGK137803", "https://news.example/A", "https://x.news.example/a"]
)
def test_an_address_that_goes_further_than_the_owners_word_is_asked(url: str) -> None:
    assert basis(url, "summarise news.example/a please", MAILS) == "none"


@pytest.mark.parametrize("url", [f"{SITE}/one?id=7", f"{SITE}/two"])
def test_a_link_of_a_page_that_the_owner_named_is_followed_on_its_own_host(url: str) -> None:
    assert basis(url, WORDS, PAGE) == "words"


@pytest.mark.parametrize(
    "url",
    [f"{SITE}/one?id=8", f"{SITE}/one", f"{SITE}/tw", f"{SITE}/two/x", "https://evil.example/a", f"{SITE}/TWO", "http://news.example/two"],
)
def test_what_the_page_does_not_hold_letter_for_letter_or_for_another_host_is_asked(url: str) -> None:
    assert basis(url, WORDS, PAGE) == "none"


def test_a_link_is_not_followed_once_something_private_was_read() -> None:
    assert basis(f"{SITE}/two", WORDS, PAGE, MAILS) == "none"


def test_a_link_of_a_page_that_only_a_stranger_named_is_asked() -> None:
    elsewhere = Seen(16, "look", {"url": "https://evil.example/"}, "see https://evil.example/k/a", WEB)
    assert basis("https://evil.example/k/a", WORDS, PAGE, elsewhere) == "none"


def test_so_many_links_are_followed_in_a_turn() -> None:
    page = Seen(15, "look", {"url": f"{SITE}/"}, " ".join(f"{SITE}/{n}" for n in range(30)), WEB)
    followed = [Seen(20 + n, "look", {"url": f"{SITE}/{n}"}, "text", WEB) for n in range(10)]
    assert basis(f"{SITE}/20", WORDS, page, *followed[:9]) == "words"
    assert basis(f"{SITE}/20", WORDS, page, *followed) == "none"


def test_a_secret_or_a_header_that_the_owner_did_not_name_does_not_go_along() -> None:
    scene = situation("ask api.example/me with the secret 'github'", PAGE)
    named = {"url": "https://api.example/me", "secrets": ["github"]}
    assert weigh(API, named, scene).basis == "words"
    assert weigh(API, {**named, "secrets": ["bank-key"]}, scene).basis == "none"
    assert weigh(API, {**named, "headers": ["X: HGK137803"]}, scene).basis == "none"
