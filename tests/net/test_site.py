import pytest

from daimon.abi.errors import Misconfigured
from daimon.net.refusal import Malformed
from daimon.net.site import Site, parse, pattern, pattern_with_port


@pytest.mark.parametrize(
    ("text", "site"),
    [
        ("example.org", Site("example.org", 80)),
        ("EXAMPLE.org:8080", Site("example.org", 8080)),
        ("xn--bcher-kva.example", Site("xn--bcher-kva.example", 80)),
        ("a_b.example", Site("a_b.example", 80)),
        ("192.0.2.1:1", Site("192.0.2.1", 1)),
        ("[2001:DB8:0::1]:443", Site("2001:db8::1", 443)),
        ("[::ffff:1.2.3.4]", parse("[::ffff:102:304]", 80)),
    ],
)
def test_a_site_has_one_spelling(text: str, site: Site) -> None:
    assert parse(text, 80) == site
    assert parse(str(site), 0) == site


NO_NAMES = ["", ".", "a..b", "a.", ".a", "-a.org", "a-.org", "a b", "a@b", "a%2eb", "a/b", "a\\b", "é.org", "a\0b", "a\n", "*.org"]
NO_PORTS = ["a:b", "a:0", "a:00080", "a:65536", "a:"]
NO_V4 = ["0x7f.1", "0x7f000001", "017700000001", "2130706433", "127.1", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "a.1", "a.0x1"]
NO_V6 = ["::1", "[::1", "[::1%lo]", "[fe80::1%25lo]", "[1.2.3.4]", "[v1.x]", "[]"]


@pytest.mark.parametrize("text", [*NO_NAMES, *NO_PORTS, *NO_V4, *NO_V6, "a" * 64 + ".org", "a." * 130 + "org"])
def test_what_could_be_spelled_otherwise_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse(text, 80)


def test_a_pattern_covers_what_it_says_and_no_more() -> None:
    wild = pattern("*.Example.org")
    assert [
        wild.covers(host) for host in ("a.example.org", "a.b.example.org", "example.org", "badexample.org", "example.org.evil.test")
    ] == [True, True, False, False, False]
    assert pattern("example.org").covers("example.org")
    assert not pattern("example.org").covers("a.example.org")
    assert pattern("2001:db8::1").covers("2001:db8::1")
    assert pattern_with_port("*.example.org:8443") == (pattern("*.example.org"), 8443)
    assert pattern_with_port("example.org") == (pattern("example.org"), None)


@pytest.mark.parametrize("text", ["*", "*.", "*.1.2.3.4", "a.*.org", "http://a.org", "a.org/", "bücher.example", "", "0x7f.1"])
def test_a_pattern_that_means_nothing_is_told_to_the_owner(text: str) -> None:
    with pytest.raises(Misconfigured):
        pattern(text)
