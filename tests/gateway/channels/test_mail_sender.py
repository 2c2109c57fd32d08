"""Whom a mail is from: a forged one is never taken for the real one, and a real one is."""

import pytest

from daimon.gateway.mail.authentic import sender
from daimon.gateway.mail.headers import split

ID = "mx.example.org"
FROM = "From: Alice <alice@example.org>"


def who(*lines: str, trusted: str = ID) -> str:
    headers, _ = split("\r\n".join([*lines, "", "body"]).encode("utf-8", "surrogateescape"))
    return sender(headers, trusted).id


def results(text: str, name: str = ID) -> str:
    return f"Authentication-Results: {name}; {text}"


# -- the real one


@pytest.mark.parametrize(
    "text",
    [
        "dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=example.org",
        "dkim=pass header.i=@example.org header.s=one header.b=AbC12",
        "dkim=pass (2048-bit key; unprotected) header.d=example.org; spf=fail smtp.mailfrom=bounce.example.net",
        "dkim=fail header.d=other.example; dkim=pass header.d=example.org",
        "spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=alice@example.org",
        "spf=pass smtp.mailfrom=EXAMPLE.org",
        "auth=pass smtp.auth=alice@example.org",
        'auth=pass smtp.auth="alice@example.org"',
        "spf=none smtp.mailfrom=x.example;\r\n\tdkim=pass\r\n header.d=example.org",
        "dkim=pass header.d=example.org; arc=pass (i=1 spf=pass dkim=pass)",
        "dmarc=bestguesspass header.from=example.org; dkim=pass header.d=example.org",
    ],
)
def test_the_word_of_the_receiving_server_makes_a_sender_known(text: str) -> None:
    assert who(results(text), FROM) == "alice@example.org"


def test_a_domain_speaks_for_those_below_it() -> None:
    assert who(results("dkim=pass header.d=example.org"), "From: alice@team.example.org") == "alice@team.example.org"


@pytest.mark.parametrize(
    "line",
    [
        "From: ALICE@Example.Org",
        'From: "Smith, Alice" <alice@example.org>',
        "From: =?utf-8?q?Al=C3=AFce?= <alice@example.org>",
        "FROM:<alice@example.org>",
    ],
)
def test_an_address_is_read_however_it_is_dressed(line: str) -> None:
    assert who(results("dkim=pass header.d=example.org"), line) == "alice@example.org"


def test_the_name_of_the_server_is_compared_without_case_and_version() -> None:
    assert who("Authentication-Results: MX.Example.Org 1; dkim=pass header.d=example.org", FROM) == "alice@example.org"


# -- the forged one


@pytest.mark.parametrize(
    "text",
    [
        "none",
        "dkim=none; spf=none; dmarc=none",
        "dkim=fail header.d=example.org",
        "dkim=pass header.d=evil.example",
        "dkim=pass header.d=notexample.org",
        "dkim=pass header.d=mail.example.org",
        "dkim=pass header.d=org",
        "dkim=pass",
        "dkim=pass header.d=example.org; dmarc=fail header.from=example.org",
        "dmarc=pass header.from=evil.example",
        "dmarc=pass",
        "spf=pass smtp.mailfrom=mallory@evil.example",
        "spf=pass smtp.mailfrom=example.org@evil.example",
        "spf=pass smtp.helo=example.org",
        "auth=pass smtp.auth=mallory@example.org",
        "auth=pass smtp.auth=alice",
        "x-dkim=pass header.d=example.org",
        "dkim=pass header.d=evil.example header.d=example.org",
        'spf=pass smtp.mailfrom="x; dkim=pass header.d=example.org; y"@evil.example',
        'spf=pass (domain of "x); dkim=pass header.d=example.org; (" designates) smtp.mailfrom=a@evil.example',
        'spf=pass reason="it; dkim=pass header.d=example.org" smtp.mailfrom=a@evil.example',
        "spf=pass (dkim=pass header.d=example.org) smtp.mailfrom=a@evil.example",
        "spf=pass (open smtp.mailfrom=a@evil.example; dkim=pass header.d=example.org",
        "spf=pass ) dkim=pass header.d=example.org; dkim=pass header.d=example.org",
        f"{'(' * 5000}; dkim=pass header.d=example.org",
        f"{'x' * 9000}; dkim=pass header.d=example.org",
    ],
)
def test_what_the_server_does_not_say_of_that_very_domain_proves_nothing(text: str) -> None:
    assert who(results(text), FROM) == "unverified:alice@example.org"


def test_a_from_alone_proves_nothing() -> None:
    assert who(FROM) == "unverified:alice@example.org"


def test_nobody_is_believed_where_the_owner_named_no_server() -> None:
    assert who(results("dkim=pass header.d=example.org"), FROM, trusted="") == "unverified:alice@example.org"
    assert who("Authentication-Results: ; dkim=pass header.d=example.org", FROM, trusted="") == "unverified:alice@example.org"


@pytest.mark.parametrize(
    "name", ["evil.example", "mx.example.org.evil.example", "xmx.example.org", "mx.example.or", "evil (mx.example.org)"]
)
def test_another_servers_word_is_not_believed(name: str) -> None:
    assert who(results("dkim=pass header.d=example.org", name), FROM) == "unverified:alice@example.org"


@pytest.mark.parametrize(
    "value", ["; dkim=pass header.d=example.org", '""; dkim=pass header.d=example.org', "(mx.example.org); dkim=pass header.d=example.org"]
)
def test_a_word_of_nobody_is_not_believed(value: str) -> None:
    assert who(f"Authentication-Results: {value}", FROM) == "unverified:alice@example.org"


def test_of_several_with_the_trusted_name_only_the_topmost_counts() -> None:
    forged = results("dmarc=pass header.from=example.org")
    assert who(results("dmarc=fail header.from=example.org"), forged, FROM) == "unverified:alice@example.org"
    assert who(results("none"), forged, FROM) == "unverified:alice@example.org"


def test_a_topmost_one_that_cannot_be_read_does_not_give_way_to_a_forged_one() -> None:
    broken = results('spf=pass (said "x) smtp.mailfrom=evil.example')
    for above in (broken, f"Authentication-Results: ({ID}; {ID}; none", results("x" * 9000)):
        assert who(above, results("dmarc=pass header.from=example.org"), FROM) == "unverified:alice@example.org"


def test_words_of_others_above_do_not_hide_the_servers_own() -> None:
    assert who(results("dkim=fail", "relay.example.net"), results("dkim=pass header.d=example.org"), FROM) == "alice@example.org"


@pytest.mark.parametrize(
    "lines",
    [
        ("From: alice@example.org", "From: mallory@evil.example"),
        ("From: mallory@evil.example", "From: alice@example.org"),
        ("From: alice@example.org", "from: alice@example.org"),
        ("From: alice@example.org, mallory@evil.example",),
        ("From: alice@example.org <mallory@evil.example>",),
        ("From: <alice@example.org> <mallory@evil.example>",),
        ("From: mallory@evil.example (alice@example.org)",),
        ('From: "alice@example.org\\" <alice@example.org>" <mallory@evil.example',),
        ("From: alice@example.org\0@evil.example",),
        ("From: alice\0 <alice@example.org>",),
        ("From: =?utf-8?q?alice=40example=2Eorg?=",),
        ("From: =?utf-8?q?alice?=@example.org",),
        ("From: a:alice@example.org;",),
        ("From: аlice@example.org",),
        ("From: @evil.example:alice@example.org",),
        ("From: alice@[192.0.2.1]",),
        ("From:",),
        (),
        (f"From: {'a' * 300}@example.org",),
        (f"From: {' ' * 100_000}x",),
    ],
)
def test_a_from_that_is_not_one_plain_address_is_nobodys(lines: tuple[str, ...]) -> None:
    vouched = results("dmarc=pass header.from=example.org; dkim=pass header.d=example.org; spf=pass smtp.mailfrom=example.org")
    assert who(vouched, *lines).startswith("unverified:")


def test_a_name_that_looks_like_an_address_is_a_name() -> None:
    line = 'From: "alice@example.org" <mallory@evil.example>'
    assert who(results("dkim=pass header.d=evil.example"), line) == "mallory@evil.example"
    assert who(results("dkim=pass header.d=example.org"), line) == "unverified:mallory@evil.example"


def test_an_unverified_sender_cannot_be_spelled_like_a_verified_one() -> None:
    for claimed in ("From: unverified:alice@example.org", "From: \u202ealice@example.org", "From: alice@example.org\t\t"):
        assert who(claimed).startswith("unverified:")


def test_a_header_in_the_body_is_text() -> None:
    headers, body = split(b"From: mallory@evil.example\r\n\r\nFrom: alice@example.org\r\n")
    assert sender(headers, ID).id == "unverified:mallory@evil.example"
    assert body.startswith(b"From: alice")
