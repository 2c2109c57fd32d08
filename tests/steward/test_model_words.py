import pytest

from daimon.abi.errors import BadInput
from daimon.steward.model_words import address, price


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("localhost:8000", "must look like"),
        ("ftp://x/v1", "must look like"),
        ("http://", "must look like"),
        ("http://a b/v1", "must look like"),
        ("http://[::", "must look like"),
        ("http://a:99999/v1", "must look like"),
        ("http://me:pass@host/v1", "leave it out"),
        ("http://host/v1/chat/completions", "use http://host/v1$"),
    ],
)
def test_an_address_that_would_not_do_is_refused_with_the_remedy(given: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as told:
        address(given)
    assert "pass@" not in str(told.value)


@pytest.mark.parametrize("zero", ["0", "0.0", ".0", "$0.00"])
def test_a_price_of_zero_is_refused_with_the_remedy(zero: str) -> None:
    with pytest.raises(BadInput, match="say --free"):
        price("3", zero)


@pytest.mark.parametrize("bad", ["much", "-1", "1e", "nan", "inf", ""])
def test_what_is_no_price_is_refused(bad: str) -> None:
    with pytest.raises(BadInput, match="say"):
        price("3", bad)


def test_a_free_cache_is_no_free_model() -> None:
    assert price("$3", "15", "0", "3.75").cache_read == 0
