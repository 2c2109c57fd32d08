"""Spellings of one name are one; names that merely look alike are not."""

import pytest

from daimon.policy.names import canonical, stands_for


@pytest.mark.parametrize(
    "names",
    [
        ("bob@x.org", "Bob <BOB@x.org>", "mailto:bob@x.org", " bob@X.org "),
        ("DE89370400440532013000", "de89 3704 0044 0532 0130 00", "DE89-3704-0044-0532-0130-00"),
        ("www.news.org", "https://www.news.org/", "news.org"),
    ],
)
def test_one_thing_under_all_its_names(names: tuple[str, ...]) -> None:
    assert len({canonical(name) for name in names}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bob@x.org", "bob@x.org.evil.com"),
        ("bob@x.org", "bob+1@x.org"),
        ("news.org/a", "news.org/b"),
        ("Bob <eve@x.org>", "bob"),
        ("7", "07"),
    ],
)
def test_names_that_look_alike_stay_apart(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_an_account_is_known_however_the_owner_spaced_it() -> None:
    assert stands_for("pay 5 to de89 3704 0044 0532 0130 00 please", "DE89370400440532013000")
    assert not stands_for("pay 5 to de89 3704 0044 0532 0130 001", "DE89370400440532013000")
    assert not stands_for("pay bob", "bob")
