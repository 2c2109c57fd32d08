import pytest

from daimon.abi.errors import BadInput
from daimon.vault import scope


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("api.github.com", "api.github.com"),
        (" API.GitHub.com. ", "api.github.com"),
        ("*.example.org", "*.example.org"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("localhost:1", "localhost:1"),
        ("[::1]:8000", "[::1]:8000"),
        ("my_host", "my_host"),
    ],
)
def test_a_host_is_kept_in_one_form(given: str, kept: str) -> None:
    assert scope.host_pattern(given) == kept


@pytest.mark.parametrize(
    "bad",
    ["", "*", "*.", "*.org", "*.127.0.0.1", "https://api.github.com", "a/b", "a b", "me@host", "host:0", "host:99999", "host:x", "a..b", "-a", "ä.de", "[x]", "a*b.org"],  # noqa: E501
)  # fmt: skip
def test_what_is_no_host_or_too_wide_is_refused(bad: str) -> None:
    with pytest.raises(BadInput):
        scope.host_pattern(bad)


@pytest.mark.parametrize(
    ("pattern", "host", "is_held"),
    [
        ("api.github.com", "api.github.com", True),
        ("api.github.com", "API.GITHUB.COM.", True),
        ("api.github.com", "api.github.com:8443", False),
        ("api.github.com", "evil-api.github.com", False),
        ("api.github.com", "api.github.com.evil.org", False),
        ("*.example.org", "a.example.org", True),
        ("*.example.org", "b.a.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "evilexample.org", False),
        ("*.example.org", "a.example.org:8443", False),
        ("127.0.0.1:8000", "127.0.0.1:8000", True),
        ("127.0.0.1:8000", "127.0.0.1", False),
        ("[::1]:8000", "[::1]:8000", True),
        ("api.github.com", "", False),
    ],
)
def test_a_secret_goes_to_its_hosts_and_nowhere_else(pattern: str, host: str, is_held: bool) -> None:
    assert scope.holds((pattern,), host) is is_held


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.github.com/x", "api.github.com"),
        ("https://api.github.com:443", "api.github.com"),
        ("http://api.github.com:443", "api.github.com:443"),
        ("http://me:word@127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("", ""),
    ],
)
def test_an_address_names_its_host_with_an_unusual_port(url: str, host: str) -> None:
    assert scope.host_of(url) == host


def test_a_star_is_for_every_agent_and_nothing_is_for_none() -> None:
    assert scope.admits(("*",), "anybody")
    assert scope.admits(("a", "b"), "b")
    assert not scope.admits((), "a")
    with pytest.raises(BadInput):
        scope.agent("a b")
