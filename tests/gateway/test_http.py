"""HTTP as it comes over the wire: in pieces, one after another, or not quite right. Every request is judged by itself."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.gateway.live import DEADLINE_S, MOST_BYTES, Live
from tests.journal.world import database


class Wire:
    """A connection that sends bytes as they are and reads whole answers."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._file = sock.makefile("rb")

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.sock.sendall(piece)

    def answer(self) -> tuple[int, Any]:
        status = int(self._file.readline().split()[1])
        length = 0
        while line := self._file.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        body = self._file.read(length)
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body

    def is_over(self) -> bool:
        try:
            return self._file.read(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self._file.close()


@contextmanager
def wire(daimon: Live) -> Iterator[Wire]:
    where = urlsplit(daimon.url)
    with socket.create_connection((where.hostname, where.port or 0), DEADLINE_S) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened = Wire(sock)
        yield opened
        opened.close()


def said(text: str, conversation: str, **more: Any) -> bytes:
    return json.dumps({"type": "message", "text": text, "conversation": conversation, **more}).encode()


def request(
    daimon: Live, body: bytes, *headers: bytes, start: bytes = b"POST /v1/events HTTP/1.1", authority: bytes | None = None
) -> bytes:
    token = f"Authorization: Bearer {daimon.token}".encode() if authority is None else authority
    lines = [start, b"Host: 127.0.0.1", *([token] if token else []), b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def events(daimon: Live, conversation: str) -> int:
    with database(daimon.home.journal) as file:
        count: int = file.execute("SELECT COUNT(*) FROM events WHERE conversation = ?", (conversation,)).get
    return count


# -- in pieces


def test_a_request_may_come_in_one_piece_or_byte_by_byte(daimon: Live) -> None:
    whole = request(daimon, said("hello", "pieces"))
    for pieces in ([whole], [whole[:1], whole[1:]], [whole[:-1], whole[-1:]], [bytes([byte]) for byte in whole]):
        with wire(daimon) as line:
            line.send(*pieces)
            status, answer = line.answer()
            assert (status, answer["conversation"]) == (202, "pieces")


def test_a_connection_may_be_used_again_and_again(daimon: Live) -> None:
    with wire(daimon) as line:
        seqs = []
        for n in range(5):
            line.send(request(daimon, said(f"{n}", "again")))
            seqs.append(line.answer()[1]["seq"])
        assert seqs == [0, 1, 2, 3, 4]
        line.send(request(daimon, b"", start=b"GET /v1/turns?conversation=again HTTP/1.1"))
        assert line.answer()[0] == 200
        line.send(request(daimon, said("5", "again")))
        assert line.answer()[1]["seq"] == 5


@pytest.mark.parametrize("number", [2, 10, 300])
def test_requests_sent_all_at_once_are_answered_one_after_the_other_in_order(daimon: Live, number: int) -> None:
    with wire(daimon) as line:
        line.send(b"".join(request(daimon, said(f"{n}", f"pipe-{number}")) for n in range(number)))
        answers = [line.answer() for _ in range(number)]
    assert [status for status, _ in answers] == [202] * number
    assert [answer["seq"] for _, answer in answers] == list(range(number))


def test_what_comes_while_an_answer_is_on_its_way_waits_its_turn(daimon: Live) -> None:
    with wire(daimon) as line:
        for n in range(50):
            line.send(request(daimon, said(f"{n}", "waiting")))
        line.send(request(daimon, b"", start=b"GET /healthz HTTP/1.1"))
        answers = [line.answer() for _ in range(51)]
    assert [answer["seq"] for _, answer in answers[:50]] == list(range(50))
    assert answers[50] == (200, b"ok\n")


@pytest.mark.parametrize("extra", [b"", b"5\r\nhello\r\n"], ids=["one chunk", "junk after the event"])
def test_a_body_may_come_in_chunks(daimon: Live, extra: bytes) -> None:
    body = said("hello", "chunks")
    head = request(daimon, b"", b"Transfer-Encoding: chunked").replace(b"Content-Length: 0\r\n", b"")
    with wire(daimon) as line:
        line.send(head, b"%x\r\n" % len(body), body[:5], body[5:] + b"\r\n", extra, b"0\r\n\r\n")
        assert line.answer()[0] == (400 if extra else 202)


def test_whoever_asks_first_is_told_to_go_on(daimon: Live) -> None:
    body = said("hello", "expect")
    whole = request(daimon, body, b"Expect: 100-continue")
    with wire(daimon) as line:
        line.send(whole[: -len(body)])
        assert line.answer()[0] == 100
        line.send(body)
        assert line.answer()[0] == 202


def test_a_connection_ends_when_that_was_asked_for(daimon: Live) -> None:
    with wire(daimon) as line:
        line.send(request(daimon, said("hello", "close"), b"Connection: close"))
        assert line.answer()[0] == 202
        assert line.is_over()


def test_an_old_client_is_answered(daimon: Live) -> None:
    with wire(daimon) as line:
        line.send(request(daimon, said("hello", "old"), start=b"POST /v1/events HTTP/1.0"))
        assert line.answer()[0] == 202
        assert line.is_over()


@pytest.mark.parametrize(
    "start", [b"POST /v1/events?x=1 HTTP/1.1", b"POST /v1/%65vents HTTP/1.1", b"POST http://127.0.0.1/v1/events HTTP/1.1"]
)
def test_another_way_to_write_the_address_is_the_same_address(daimon: Live, start: bytes) -> None:
    with wire(daimon) as line:
        line.send(request(daimon, said("hello", "address"), start=start))
        assert line.answer()[0] == 202


def test_a_length_that_only_looks_like_a_number_is_refused(daimon: Live) -> None:
    whole = request(daimon, b"{}").replace(b"Content-Length: 2\r\n", b"Content-Length: \xb2\r\n")
    assert b"\xb2" in whole
    with wire(daimon) as line:
        line.send(whole)
        assert line.sock.recv(12) == b"HTTP/1.1 400"


def test_names_of_headers_may_be_written_in_any_case_and_values_have_space_around(daimon: Live) -> None:
    whole = request(daimon, said("hello", "case"), b"IDEMPOTENCY-KEY: \t the-key \t")
    whole = whole.replace(b"Host:", b"hOST:").replace(b"Authorization:", b"AUTHORIZATION:").replace(b"Content-Length:", b"content-LENGTH:")
    with wire(daimon) as line:
        for is_new in (True, False):
            line.send(whole)
            status, answer = line.answer()
            assert (status, answer["new"]) == (202, is_new)


@pytest.mark.parametrize("size", [60_000, 64 * 1024, 70_000, MOST_BYTES - 200])
def test_large_and_small_bodies_are_the_same(daimon: Live, size: int) -> None:
    with wire(daimon) as line:
        line.send(request(daimon, said("x" * size, "sizes")))
        assert line.answer()[0] == 202
        line.send(request(daimon, said("x", "sizes")))
        assert line.answer()[0] == 202


def test_whoever_sends_more_while_the_disk_is_slow_is_made_to_wait(daimon: Live) -> None:
    more, sent = request(daimon, said("x" * 500_000, "slow")), 0
    with wire(daimon) as line, database(daimon.home.journal) as other:
        other.set_busy_timeout(60_000)
        other.execute("BEGIN IMMEDIATE")  # whoever wants to write waits for this
        line.send(request(daimon, said("hello", "slow")))
        assert daimon.call("GET", "/healthz").status == 200  # by now the event has been read, and waits for the disk
        line.sock.settimeout(0.2)
        with suppress(TimeoutError):
            while sent < 64_000_000:
                line.send(more)
                sent += len(more)
        other.execute("ROLLBACK")
        line.sock.settimeout(DEADLINE_S)
        assert line.answer()[0] == 202
    assert sent < 64_000_000


# -- the door, at every request


@pytest.mark.parametrize(
    ("authority", "more", "status", "code"),
    [
        (b"", b"", 401, "no_token"),
        (b"Authorization: Bearer wrong", b"", 401, "no_token"),
        (None, b"Origin: https://evil.example", 403, "foreign_origin"),
        (None, b"Host: evil.example", 421, "wrong_host"),
    ],
    ids=["no token", "wrong token", "a web page", "another host"],
)
@pytest.mark.parametrize("is_whole", [True, False], ids=["in one piece", "in pieces"])
def test_an_event_is_not_taken_from_whoever_may_not_come_in(
    daimon: Live, authority: bytes | None, more: bytes, status: int, code: str, is_whole: bool
) -> None:
    before = events(daimon, "door")
    bad = request(daimon, said("let me in", "door"), *([more] if more else []), authority=authority)
    for good in (0, 1):
        with wire(daimon) as line:
            for _ in range(good):  # having been let in once is worth nothing
                line.send(request(daimon, said("hello", "door")))
                assert line.answer()[0] == 202
            line.send(*([bad] if is_whole else [bad[:30], bad[30:-5], bad[-5:]]))
            told, answer = line.answer()
            assert (told, answer["error"]["code"]) == (status, code)
    assert events(daimon, "door") == before + 1


def test_a_request_behind_a_good_one_is_judged_by_itself(daimon: Live) -> None:
    with wire(daimon) as line:
        line.send(request(daimon, said("one", "behind")) + request(daimon, said("two", "behind"), authority=b""))
        assert [line.answer()[0] for _ in range(2)] == [202, 401]
    assert events(daimon, "behind") == 1


# -- not quite right


SMUGGLED = {
    "two lengths": b"Content-Length: 0",
    "a length and chunks": b"Transfer-Encoding: chunked",
    "a folded header": b"X-A: b\r\n folded: c",
    "a header without a colon": b"nonsense",
    "a space before the colon": b"Idempotency-Key : k",
    "a bare line feed": b"X-A: b\nTransfer-Encoding: chunked",
    "NUL in a header": b"X-A: \x00",
    "an unknown coding": b"Transfer-Encoding: gzip",
}


@pytest.mark.parametrize("header", SMUGGLED.values(), ids=SMUGGLED)
def test_a_request_that_could_be_read_in_two_ways_is_at_most_one_event(daimon: Live, header: bytes) -> None:
    inner = request(daimon, said("smuggled", "smuggled"))
    with wire(daimon) as line:
        line.send(request(daimon, inner, header))
        status, _ = line.answer()
    assert status in (202, 400, 501)
    assert events(daimon, "smuggled") == 0
    assert daimon.call("GET", "/healthz").status == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50,
        b"hello\r\n\r\n",
        b"POST /v1/events\r\n\r\n",
        b"POST /v1/events HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
        b"POST /v1/events HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/events HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST /v1/events HTTP/1.1\r\nContent-Length: five\r\n\r\nhello",
    ],
    ids=["zeros", "tls", "words", "no version", "no such version", "a huge header", "a negative length", "an absurd length", "no number"],
)
def test_what_is_no_http_is_refused_and_does_no_harm(daimon: Live, sent: bytes) -> None:
    said_back = b""
    with wire(daimon) as line, suppress(OSError):  # whoever is cut off in the middle of a sentence may hear of it at any word
        line.send(sent)
        line.sock.shutdown(socket.SHUT_WR)
        said_back = line.sock.recv(65_536)
    assert said_back == b"" or b" 4" in said_back.split(b"\r\n")[0]
    assert daimon.call("GET", "/healthz").status == 200


@pytest.mark.parametrize("cut", [10, 60, -20, -1])
def test_a_request_that_was_cut_off_is_no_event(daimon: Live, cut: int) -> None:
    with wire(daimon) as line:
        line.send(request(daimon, said("hello", "cut"))[:cut])
    assert daimon.call("GET", "/healthz").status == 200
    assert events(daimon, "cut") == 0
