"""What was begun before a device was over, and strangers who take their time."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.gateway.live import DEADLINE_S, Live
from tests.room.rig import Gateway
from tests.room.visitor import Visitor, link, signed_in, visitor

from daimon.gateway import door, patient

LINK = json.dumps({"name": "back again"}).encode()
EVENT = json.dumps({"type": "message", "text": "back again", "conversation": "over"}).encode()


@pytest.fixture
def live(daimon: Gateway) -> Live:
    return daimon.live


@contextmanager
def sending(caller: Visitor, path: str, body: bytes) -> Iterator[socket.socket]:
    """A request that is whole but for its last byte; the gateway waits for it by then."""
    where = caller.host.rpartition(":")
    head = "".join(f"{name}: {value}\r\n" for name, value in {**caller.headers("POST"), "Expect": "100-continue"}.items())
    with socket.create_connection((where[0], int(where[2])), DEADLINE_S) as line:
        line.sendall(f"POST {path} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode())
        assert line.recv(1_000).startswith(b"HTTP/1.1 100")  # said when the body is asked for: it was let in
        line.sendall(body[:-1])
        yield line


def status(line: socket.socket) -> bytes:
    return line.recv(4_096)[9:12]


@pytest.mark.parametrize(("path", "body"), [("/v1/links", LINK), ("/v1/events", EVENT)])
def test_a_request_that_waits_for_its_last_byte_is_not_done_for_a_device_that_is_over(live: Live, path: str, body: bytes) -> None:
    device = signed_in(live)
    id_ = device.call("GET", "/v1/me").json["id"]
    with sending(device, path, body) as line:
        assert live.call("DELETE", f"/v1/devices/{id_}").status == 200
        line.sendall(body[-1:])
        assert status(line) not in (b"200", b"202")


def test_a_request_that_waits_is_not_done_with_rights_that_were_taken(live: Live) -> None:
    device = signed_in(live)
    id_ = device.call("GET", "/v1/me").json["id"]
    with sending(device, "/v1/links", LINK) as line:
        assert live.call("POST", f"/v1/devices/{id_}/rights", {"rights": ["read"]}).status == 200
        line.sendall(LINK[-1:])
        assert status(line) != b"200"


@pytest.mark.parametrize(("path", "body", "done"), [("/v1/links", LINK, b"200"), ("/v1/events", EVENT, b"202")])
def test_a_request_that_comes_in_parts_is_done_for_a_device_that_is_in(live: Live, path: str, body: bytes, done: bytes) -> None:
    with sending(signed_in(live), path, body) as line:
        line.sendall(body[-1:])
        assert status(line) == done


@pytest.mark.parametrize("path", ["/v1/leave", "/v1/devices/{me}"])
def test_a_device_that_ends_itself_hears_that_it_did(live: Live, path: str) -> None:
    device = signed_in(live)
    id_ = device.call("GET", "/v1/me").json["id"]
    answer = device.call("DELETE" if "{me}" in path else "POST", path.replace("{me}", id_))
    assert answer.status == 200
    assert id_ in answer.body.decode()


def test_a_backup_that_is_being_fetched_ends_with_the_device(daimon: Gateway, live: Live) -> None:
    shelf = Path(live.get("/v1/settings/backups")["directory"])
    shelf.mkdir(parents=True, exist_ok=True)
    name = "daimon-20260101T000000Z.tar.gz"
    (shelf / name).write_bytes(bytes(64 * 1024 * 1024))
    device = signed_in(live)
    id_ = device.call("GET", "/v1/me").json["id"]
    connection = live.connect()
    try:
        connection.request("GET", f"/v1/settings/backups/{name}/file", headers=device.headers("GET"))
        answer = connection.getresponse()
        assert (answer.status, answer.read(1_000)) == (200, bytes(1_000))
        assert live.call("DELETE", f"/v1/devices/{id_}").status == 200
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            answer.read()
    finally:
        connection.close()
        (shelf / name).unlink()


# -- strangers


@contextmanager
def haste() -> Iterator[None]:
    """Nobody has much time: values of the modules, as they would be set for a busy machine. Whoever is to come in has done so before."""
    before = patient.PatientProtocol.head_s, door.STRANGERS_S
    patient.PatientProtocol.head_s = door.STRANGERS_S = 1.0
    try:
        yield
    finally:
        patient.PatientProtocol.head_s, door.STRANGERS_S = before


def rest(line: socket.socket) -> bytes:
    """Until the other end closes. Raises TimeoutError."""
    got = b""
    while piece := line.recv(4_096):
        got += piece
    return got


def test_empty_lines_hold_no_connection_open(live: Live) -> None:
    with haste(), socket.create_connection(("127.0.0.1", live.connect().port), DEADLINE_S) as line:
        line.sendall(b"\r\n")
        assert rest(line) == b""


def test_who_is_not_in_cannot_hold_a_connection_open_with_a_body_that_never_ends(live: Live) -> None:
    body = json.dumps({"secret": "x" * 100}).encode()
    with haste(), sending(visitor(live), "/v1/enter", body) as line:
        assert status(line) == b"400"
        line.sendall(b" ")
        line.recv(4_096)
        assert rest(line) == b""


def test_who_is_in_may_take_longer_for_a_body_than_a_stranger(live: Live) -> None:
    device = signed_in(live)
    with haste(), sending(device, "/v1/events", EVENT) as line:
        line.settimeout(2 * door.STRANGERS_S)
        with pytest.raises(TimeoutError):
            line.recv(1)
        line.settimeout(DEADLINE_S)
        line.sendall(EVENT[-1:])
        assert status(line) == b"202"


def test_signing_in_with_a_body_in_two_parts_works(live: Live) -> None:
    body = json.dumps({"secret": link(live)}).encode()
    with sending(visitor(live), "/v1/enter", body) as line:
        line.sendall(body[-1:])
        assert status(line) == b"200"


# -- names and hosts


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Anna\u202eenohp", "Annaenohp"),
        ("my\u200bphone", "myphone"),
        ("phone\r\nCODE-CODE  the owner's own", "phone CODE-CODE the owner's own"),
        ("\x1b[2Jx", "[2Jx"),
        ("\u2066\u200f", "a browser"),
        ("هاتف آنا", "هاتف آنا"),
        ("Zoë’s 📱", "Zoë’s 📱"),
    ],
)
def test_the_name_of_a_device_that_asks_changes_nothing_around_it(live: Live, name: str, shown: str) -> None:
    assert visitor(live).call("POST", "/v1/devices/requests", {"name": name}).status == 201
    (found,) = live.get("/v1/devices/requests")
    assert live.call("DELETE", f"/v1/devices/requests/{found['code']}").status == 200
    assert found["name"] == shown


@pytest.mark.parametrize("host", ["localhost:99999", "127.0.0.1:65536", "localhost:0", "[::1]:70000"])
def test_a_port_that_there_is_not_is_no_place(live: Live, host: str) -> None:
    answer = visitor(live).call("GET", "/v1/status", Host=host)
    assert (answer.status, answer.code) == (421, "wrong_host")


@pytest.mark.parametrize("twice", ["Host: evil.example", "Authorization: Bearer wrong", "Origin: http://evil.example"])
def test_who_says_twice_who_they_are_is_looked_at_in_full(live: Live, twice: str) -> None:
    where = live.url.removeprefix("http://")
    head = f"POST /v1/events HTTP/1.1\r\n{twice}\r\nHost: {where}\r\nAuthorization: Bearer {live.token}\r\n"
    with socket.create_connection(("127.0.0.1", live.connect().port), DEADLINE_S) as line:
        line.sendall(f"{head}Content-Length: {len(EVENT)}\r\n\r\n".encode() + EVENT)
        assert status(line) in (b"401", b"403", b"421")
