"""Whole words and phrases, dates and numbers: plain matching that cannot be talked into anything."""

import pytest

from daimon.policy.words import dates, numbers, quotes, says


@pytest.mark.parametrize("value", ["bob@x.org", "BOB@x.org", "the minutes", "DE99"])
def test_a_whole_phrase_stands_in_the_words(value: str) -> None:
    assert says("Send the minutes to bob@x.org, from DE99.", value)


@pytest.mark.parametrize("value", ["ob@x.org", "bob@x.or", "x.org", "minute", "DE9", "", "org", "bob@x.org.evil.com"])
def test_a_part_of_a_word_does_not(value: str) -> None:
    assert not says("Send the minutes to bob@x.org, from DE99.", value)


def test_a_very_short_value_counts_only_in_quotes() -> None:
    assert not says("delete 3 files", "3")
    assert says("delete file '3'", "3")
    assert quotes("say “hello”", "Hello")


def test_dates_are_found_however_they_are_written() -> None:
    said = "from January 11th to 15th of Feb., then 2026-03-04, the 5th April and May 6"
    assert dates(said) == {(1, 11), (2, 15), (3, 4), (4, 5), (5, 6)}


def test_numbers_are_found_and_parts_of_codes_are_not() -> None:
    assert numbers("pay 1,204.50 and 12% and 5.29, not HGK137803 or 1st") >= {1204.5, 12.0, 5.29}
    assert 137803.0 not in numbers("HGK137803")
