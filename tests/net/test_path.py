import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.net.path import is_below, normal
from daimon.net.refusal import Malformed


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("/", "/"),
        ("/a/b", "/a/b"),
        ("/a/b/", "/a/b/"),
        ("/a/./b", "/a/b"),
        ("/a/../b", "/b"),
        ("/a/..", "/"),
        ("/../../a", "/a"),
        ("//a//b", "/a/b"),
        ("/a/%2e%2E/b", "/b"),
        ("/%61%2Db", "/a-b"),
        ("/a%20b%c3%a9", "/a%20b%C3%A9"),
        ("/a/b;v=1/c", "/a/b;v=1/c"),
    ],
)
def test_a_path_has_one_plain_form(path: str, plain: str) -> None:
    assert normal(path) == plain


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a",
        "*",
        "/a%2fb",
        "/a%5Cb",
        "/a\\b",
        "/%00",
        "/%2525",
        "/%",
        "/%a",
        "/%zz",
        "/..;/a",
        "/.;x/a",
        "/a b",
        "/é",
        "/a#b",
        "/%2e%2e;/a",
    ],
)
def test_a_path_that_servers_read_differently_is_refused(path: str) -> None:
    with pytest.raises(Malformed):
        normal(path)


def test_a_beginning_ends_where_a_segment_ends() -> None:
    assert [is_below(path, "/a") for path in ("/a", "/a/", "/a/b", "/ab", "/")] == [True, True, True, False, False]
    assert [is_below(path, "/a/") for path in ("/a", "/a/", "/a/b", "/ab")] == [False, True, True, False]
    assert is_below("/anything", "/")


@given(st.lists(st.sampled_from(["/", ".", "..", "a", "%2e", "%2E%2e", "%61", "//", ";", "%41", "b"])).map("".join))
def test_the_plain_form_is_stable_and_never_climbs(text: str) -> None:
    try:
        plain = normal(f"/{text}")
    except Malformed:
        return
    assert normal(plain) == plain
    assert not {".", ".."} & set(plain.split("/"))
    assert "//" not in plain
