"""Senders who mean no good: endless and slow bodies, slow heads, and the names under which they call."""

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.gateway.hooks.posting import Service, service
from tests.gateway.live import Live, read

from daimon.abi.errors import JournalFull, JournalStopped, Misconfigured
from daimon.abi.hook import Hook
from daimon.gateway import patient
from daimon.gateway.access.front import TokenDoor
from daimon.gateway.hooks.posted import Postings
from daimon.gateway.hooks.receive import Receiver, Reply
from daimon.gateway.hooks.route import HookRoute

DEADLINE_S = 60.0
CI = Hook(name="ci", scheme="github", secret="hook-ci")


@pytest.fixture(scope="module")
def github(daimon: Live) -> Service:
    return service(daimon, CI)


def raw(daimon: Live) -> socket.socket:
    where = urlsplit(daimon.url)
    return socket.create_connection((where.hostname, where.port), DEADLINE_S)  # type: ignore[arg-type]


def rest(connection: socket.socket) -> bytes:
    """All that is said until the other end hangs up."""
    said = b""
    try:
        while piece := connection.recv(65_536):
            said += piece
    except ConnectionResetError:
        pass
    return said


# -- bodies


def test_a_length_of_50_mb_is_refused_before_a_byte_of_it_is_read(github: Service) -> None:
    with raw(github.daimon) as connection:
        connection.sendall(b"POST /hooks/ci HTTP/1.1\r\nHost: localhost\r\nContent-Length: 52428800\r\n\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 413 ")


def test_50_mb_without_a_length_are_cut_off_and_not_held(github: Service) -> None:
    piece, sent = b"10000\r\n" + b"x" * 65_536 + b"\r\n", 0
    with raw(github.daimon) as connection:
        connection.sendall(b"POST /hooks/ci HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(800):
                connection.sendall(piece)
                sent += 65_536
        except OSError:
            pass
        said = rest(connection) if sent < 50 << 20 else b""
    assert sent < 50 << 20
    assert said.startswith(b"HTTP/1.1 413 ") or said == b""  # the answer may be lost with the connection
    assert github.post({"after": "flood"}).status == 202


def test_a_body_larger_than_this_hook_takes_is_refused_on_both_ways(daimon: Live) -> None:
    small = service(daimon, replace(CI, name="small", secret="hook-small", most_bytes=100))
    assert small.post({"x": "y" * 200}).status == 413
    assert small.post({"x": "y" * 200_000}).status == 413
    assert small.post({"x": "y"}).status == 202


@pytest.mark.parametrize("length", [b"-1", b"1e3", b"9" * 400, b"5, 5"])
def test_a_length_that_is_none_lets_nothing_in(github: Service, length: bytes) -> None:
    with raw(github.daimon) as connection:
        connection.sendall(b"POST /hooks/ci HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " + length + b"\r\n\r\n{}")
        assert rest(connection)[9:12] in (b"400", b"413")


def route(body_s: float) -> HookRoute:
    postings = Postings()

    async def posted(headers: Any, body: bytes) -> int:
        return 200

    postings.register("telegram", posted)
    return HookRoute(Receiver(None, postings), body_s)  # type: ignore[arg-type]  # nothing behind it is needed for a channel


async def test_a_body_that_does_not_come_to_its_end_is_let_go() -> None:
    said: list[Any] = []
    asked = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> Any:
        if asked:
            return asked.pop()
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        said.append(message)

    scope = {"type": "http", "method": "POST", "path": "/hooks/telegram", "headers": []}
    async with asyncio.timeout(DEADLINE_S):
        await route(0.05)(scope, receive, send)
    assert said[0]["status"] == 408
    assert (b"connection", b"close") in said[0]["headers"]


async def test_a_sender_who_leaves_in_the_middle_is_not_answered() -> None:
    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        raise AssertionError(message)

    await route(10.0)({"type": "http", "method": "POST", "path": "/hooks/telegram", "headers": []}, receive, send)


# -- heads


def test_a_head_that_never_ends_is_cut_off(github: Service) -> None:
    with raw(github.daimon) as connection:
        connection.sendall(b"POST /hooks/ci HTTP/1.1\r\nHost: localhost\r\n")
        try:
            for _ in range(1_000):
                connection.sendall(b"X-More: " + b"x" * 1_000 + b"\r\n")
        except OSError:
            return
        assert rest(connection) == b""


@pytest.fixture
def hasty() -> Iterator[None]:
    """Heads have no time: a value of the class, as a service file would set it."""
    before = patient.PatientProtocol.head_s
    patient.PatientProtocol.head_s = 0.1
    yield
    patient.PatientProtocol.head_s = before


@pytest.mark.usefixtures("hasty")
def test_a_head_that_comes_byte_by_byte_is_cut_off_the_second_time_too(github: Service) -> None:
    for before in (b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with raw(github.daimon) as connection:
            if before:
                connection.sendall(before)
                assert connection.recv(4_096).startswith(b"HTTP/1.1 200")
            connection.sendall(b"POST /hoo")
            assert rest(connection) in (b"", b"ok\n")


# -- the door


def refused(host: str, path: str, token: str = "t", public: str = "https://daimon.example.org", **more: str) -> int:
    found = TokenDoor("t", public).refusal({"host": host, "authorization": f"Bearer {token}", **more}, path)
    return 0 if found is None else found[0]


@pytest.mark.parametrize("host", ["daimon.example.org", "Daimon.Example.org", "daimon.example.org:443", "127.0.0.1", "localhost"])
def test_a_hook_is_reached_under_the_public_name_without_a_token(host: str) -> None:
    assert refused(host, "/hooks/ci", token="") == 0


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/v1/status", "/v1/events", "/v1/hooks", "/healthz", "/hooks", "/hooks/", "/hooks/../v1/status", "/hooks/ci/x"),
        *("/hooks/CI", "//hooks/ci", "/hooks/ci\n"),
    ],
)
def test_under_the_public_name_there_is_nothing_else_even_with_the_token(path: str) -> None:
    assert refused("daimon.example.org", path) == 421
    assert refused("127.0.0.1", path, token="") == (0 if path == "/healthz" else 401)


@pytest.mark.parametrize("host", ["evil.example", "daimon.example.org.evil", "evil#daimon.example.org", "", "a@daimon.example.org"])
def test_under_another_name_there_is_no_hook(host: str) -> None:
    assert refused(host, "/hooks/ci") == 421


def test_without_a_public_address_only_this_machine_is_answered() -> None:
    assert refused("daimon.example.org", "/hooks/ci", public="") == 421
    assert refused("", "/hooks/ci", public="") == 421


def test_a_web_page_may_not_post() -> None:
    assert refused("127.0.0.1", "/hooks/ci", origin="https://evil.example") == 403


def test_a_hook_opens_nothing_else_over_a_real_socket(github: Service) -> None:
    connection = github.daimon.connect()
    connection.request("POST", "/hooks/../v1/events", b"{}", {"content-type": "application/json"})
    assert read(connection).status == 401
    connection.close()


# -- channels, and a disk that is full


async def test_a_channel_takes_what_its_service_posts_under_its_name() -> None:
    postings, seen = Postings(), list[tuple[str, bytes]]()

    async def posted(headers: Any, body: bytes) -> int:
        seen.append((headers["x-telegram-bot-api-secret-token"], body))
        return 200

    postings.register("telegram", posted)
    receiver = Receiver(None, postings)  # type: ignore[arg-type]  # nothing behind it is needed for a channel
    assert await receiver.post("telegram", {"x-telegram-bot-api-secret-token": "s"}, b"{}") == Reply(200, b"{}")
    assert seen == [("s", b"{}")]
    with pytest.raises(Misconfigured):
        postings.register("telegram", posted)


@pytest.mark.parametrize(("failure", "status"), [(JournalFull("full"), 507), (JournalStopped("gone"), 503)])
async def test_what_cannot_be_written_is_not_acknowledged(failure: Exception, status: int, tmp_path: Path) -> None:
    postings = Postings()

    async def posted(headers: Any, body: bytes) -> int:
        raise failure

    postings.register("telegram", posted)
    reply = await Receiver(None, postings).post("telegram", {}, b"{}")  # type: ignore[arg-type]
    assert (reply.status, reply.wait_s > 0) == (status, True)
