"""Who may call: the owner through the socket in the home, or whoever has the token on loopback, and no web page."""

import stat
import time

import pytest
from tests.gateway.live import DEADLINE_S, Answer, Live, read

PATHS = ["/v1/status", "/v1/turns", "/v1/letters", "/v1/feed", "/v1/nothing", "/v1"]


def call(daimon: Live, path: str, *headers: tuple[str, str | bytes]) -> Answer:
    """With these headers and no others."""
    connection = daimon.connect()
    connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    try:
        return read(connection)
    finally:
        connection.close()


def authority(daimon: Live) -> tuple[str, str]:
    return "Authorization", f"Bearer {daimon.token}"


# -- the token


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_told(daimon: Live, path: str) -> None:
    answer = call(daimon, path, ("Host", "127.0.0.1"))
    assert (answer.status, answer.code) == (401, "no_token")
    assert "the token is in the file `token` of the home directory" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda token: "",
        lambda token: token,
        lambda token: "Bearer",
        lambda token: "Bearer ",
        lambda token: f"Bearer {token[:-1]}",
        lambda token: f"Bearer {token}x",
        lambda token: f"Bearer {token[:-1]}{'A' if token[-1] != 'A' else 'B'}",
        lambda token: f"Bearer {token} {token}",
        lambda token: f"Basic {token}",
        lambda token: f"Bearer {token.swapcase()}",
        lambda token: "Bearer é".encode(),
        lambda token: b"Bearer \xff\xfe",
    ],
    ids=["empty", "bare", "no token", "blank", "short", "long", "one off", "twice", "basic", "case", "utf-8", "garbage"],
)
def test_a_wrong_token_is_refused(daimon: Live, wrong: object) -> None:
    answer = call(daimon, "/v1/status", ("Host", "127.0.0.1"), ("Authorization", wrong(daimon.token)))  # type: ignore[operator]
    assert (answer.status, answer.code) == (401, "no_token")


@pytest.mark.parametrize("place", ["/v1/status?token={}", "/v1/status?access_token={}", "/v1/{}/status"])
def test_a_token_in_the_address_does_not_count(daimon: Live, place: str) -> None:
    assert call(daimon, place.format(daimon.token), ("Host", "127.0.0.1")).status == 401


def test_a_token_in_a_cookie_does_not_count(daimon: Live) -> None:
    assert (
        call(daimon, "/v1/status", ("Host", "127.0.0.1"), ("Cookie", f"token={daimon.token}; Authorization=Bearer {daimon.token}")).status
        == 401
    )


def test_a_refused_event_leaves_no_trace(daimon: Live) -> None:
    def kept() -> list[int]:
        count = daimon.get("/v1/status")["count"]
        return [count[each] for each in ("events", "turns", "dead_letters", "outgoing")]

    before = kept()
    answer = daimon.call_as("POST", "/v1/events", {"type": "message", "text": "let me in"}, {})
    assert (answer.status, answer.code) == (401, "no_token")
    assert kept() == before


def test_a_large_body_without_the_token_is_refused_at_once(daimon: Live) -> None:
    connection = daimon.connect()
    connection.putrequest("POST", "/v1/events")
    connection.putheader("Content-Length", "100000000")
    connection.endheaders()
    assert read(connection).status == 401
    connection.close()


# -- the host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:7310", "localhost", "localhost:80", "[::1]", "[::1]:7310"])
def test_the_names_of_this_machine_are_answered(daimon: Live, host: str) -> None:
    assert call(daimon, "/v1/status", ("Host", host), authority(daimon)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:7310", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example#127.0.0.1", "127.0.0.2"),
        *("127.0.0.1@evil.example", "evil.example:80:80", "0.0.0.0", "::1", "", "127.0.0.1:port", "é"),
    ],
)
def test_another_name_is_refused_even_with_the_token(daimon: Live, host: str) -> None:
    for path in ("/v1/status", "/healthz", "/readyz"):
        answer = call(daimon, path, ("Host", host.encode()), authority(daimon))
        assert (answer.status, answer.code) == (421, "wrong_host")


def test_no_name_at_all_is_refused(daimon: Live) -> None:
    assert call(daimon, "/v1/status", authority(daimon)).status in (400, 421)


# -- web pages


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000", "file://", ""])
def test_a_web_page_is_refused_even_with_the_token(daimon: Live, origin: str) -> None:
    for path in ("/v1/status", "/healthz", "/readyz"):
        answer = call(daimon, path, ("Host", "127.0.0.1"), ("Origin", origin), authority(daimon))
        assert (answer.status, answer.code) == (403, "foreign_origin")


def test_a_page_may_not_ask_whether_it_may(daimon: Live) -> None:
    answer = daimon.call("OPTIONS", "/v1/events", Origin="https://evil.example", Access_Control_Request_Method="POST")
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


# -- health, the socket


def test_health_needs_no_token(daimon: Live) -> None:
    answer = call(daimon, "/healthz", ("Host", "127.0.0.1"))
    assert (answer.status, answer.body) == (200, b"ok\n")


def test_readiness_needs_no_token(daimon: Live) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while (answer := call(daimon, "/readyz", ("Host", "127.0.0.1"))).body.startswith(b"slow: "):  # so may any disk be, for a moment
        assert time.monotonic() < deadline
    assert (answer.status, answer.body) == (200, b"ready\n")


def test_the_socket_in_the_home_needs_no_token(daimon: Live) -> None:
    assert daimon.call_socket("GET", "/v1/status").json["home"] == str(daimon.home.path)


def test_only_the_owner_reaches_the_socket_and_the_token(daimon: Live) -> None:
    modes = {name: stat.S_IMODE((daimon.home.path / name).stat().st_mode) for name in ("daimon.sock", "token", "lock")}
    assert modes == {"daimon.sock": 0o600, "token": 0o600, "lock": 0o600}
    assert stat.S_IMODE(daimon.home.path.stat().st_mode) == 0o700


def test_it_listens_on_this_machine_only(daimon: Live) -> None:
    assert daimon.url.startswith("http://127.0.0.1:")
