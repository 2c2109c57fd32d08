"""Plain HTTP through the proxy."""

import asyncio
import re

import pytest
from tests.net.rig import DEADLINE_S, LABEL, Rig, drained, rigged

from daimon.abi.box import Place
from daimon.abi.label import UNLABELLED, Author, Label, Origin
from daimon.net.bounds import Bounds


def get(path: str = "/echo", host: str = "open.test", more: str = "", version: str = "1.1") -> bytes:
    return f"GET http://{host}{path} HTTP/{version}\r\nHost: {host}\r\n{more}\r\n".encode()


async def answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Head and body of an answer with a length."""
    async with asyncio.timeout(DEADLINE_S):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
        return head, await reader.readexactly(length)


async def test_an_open_host_is_reached_and_gets_one_plain_request(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(
            get(more="Accept: */*\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nTE: trailers\r\n")
        )
    assert said.startswith(b"HTTP/1.1 200 OK\r\n")
    assert bytes(rig.plain.bytes) == b"GET /echo HTTP/1.1\r\nHost: open.test\r\nAccept: */*\r\n\r\n"


async def test_a_host_that_is_not_open_is_refused_with_advice_and_never_connected_to(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(get(host="elsewhere.test"))
    assert said.startswith(b"HTTP/1.1 403 ")
    assert b"elsewhere.test is not open" in said
    assert b"places of the box's role" in said
    assert rig.plain.connections == 0
    assert [(a.host, a.port, a.method, a.path, a.outcome) for a in rig.egress.taken()] == [
        ("elsewhere.test", 80, "GET", "/echo", "refused")
    ]


async def test_outside_of_a_span_nothing_is_open_and_the_attempt_is_told(rig: Rig) -> None:
    assert (await rig.said(get())).startswith(b"HTTP/1.1 403 ")
    (attempt,) = rig.egress.taken()
    assert attempt.outcome == "refused"
    assert attempt.reason.startswith("no host is open now")
    assert attempt.label == UNLABELLED
    assert rig.plain.connections == 0


async def test_an_attempt_that_passed_says_how_much_went_and_came_under_which_label(rig: Rig) -> None:
    with rig.open("open.test"):
        await rig.said(get("/size/5000"))
    (attempt,) = rig.egress.taken()
    assert (attempt.outcome, attempt.method, attempt.path, attempt.host, attempt.label) == (
        "passed",
        "GET",
        "/size/5000",
        "open.test",
        LABEL,
    )
    assert attempt.sent_bytes == len(rig.plain.got[0].raw)
    assert attempt.received_bytes > 5000
    assert rig.egress.taken() == ()


async def test_what_left_is_not_hidden_behind_what_was_turned_away() -> None:
    async with rigged(Bounds(attempts=5)) as rig:
        with rig.open("open.test"):
            await rig.said(get("/first"))
            for _ in range(20):
                await rig.said(get(host="elsewhere.test"))
        dropped, first, *rest = rig.egress.taken()
    assert dropped.reason.startswith("15 attempts were dropped")
    assert (first.path, first.outcome) == ("/first", "passed")
    assert [attempt.outcome for attempt in rest] == ["refused"] * 5


async def test_labels_of_overlapping_spans_are_joined(rig: Rig) -> None:
    stranger = Label.of(Origin(Author.STRANGER, "web:x.org"))
    with rig.open("open.test"), rig.open("elsewhere.test", label=stranger):
        await rig.said(get())
    assert rig.egress.taken()[0].label == LABEL.joined(stranger)


async def test_what_a_command_brought_in_is_still_there_when_it_is_over(rig: Rig) -> None:
    """One command waits until another, which read a stranger's words, has ended; then it sends them."""
    stranger = Label.of(Origin(Author.STRANGER, "mail"))
    with rig.open("open.test"):
        with rig.open(label=stranger):
            pass
        await rig.said(b"GET http://open.test/a HTTP/1.1\r\nHost: open.test\r\nConnection: close\r\n\r\n")
    assert rig.egress.taken()[0].label == LABEL.joined(stranger)


async def test_a_redirect_to_a_forbidden_host_ends_in_a_refusal(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(get("/redirect?to=http://elsewhere.test/echo") + get(host="elsewhere.test"))
    assert b"HTTP/1.1 302 " in said
    assert b"Location: http://elsewhere.test/echo" in said
    assert b"HTTP/1.1 403 " in said
    assert [got.target for got in rig.plain.got] == ["/redirect?to=http://elsewhere.test/echo"]


async def test_requests_one_after_the_other_use_one_connection_on_both_sides(rig: Rig) -> None:
    reader, writer = await rig.connected()
    with rig.open("open.test"):
        for number in range(3):
            writer.write(get(f"/size/{number}"))
            head, body = await answer(reader)
            assert head.startswith(b"HTTP/1.1 200 ")
            assert len(body) == number
    assert rig.plain.connections == 1


async def test_requests_that_come_all_at_once_are_answered_in_order(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(get("/size/1") + get("/chunked") + get("/empty") + get("/size/2"))
    assert re.findall(rb"HTTP/1.1 (\d+)", said) == [b"200", b"200", b"204", b"200"]
    assert [got.target for got in rig.plain.got] == ["/size/1", "/chunked", "/empty", "/size/2"]


async def test_a_kept_connection_of_the_site_that_ended_is_replaced(rig: Rig) -> None:
    rig.plain.answers["/bye"] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"  # and ends without saying so
    reader, writer = await rig.connected()
    with rig.open("open.test"):
        for _ in range(3):
            writer.write(get("/bye"))
            assert (await answer(reader))[1] == b"ok"
    assert rig.plain.connections == 3


async def test_chunks_are_written_anew_without_extensions(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(get("/chunked"))
    assert said.endswith(b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")


async def test_an_old_client_gets_chunks_as_a_plain_body_that_ends_with_the_connection(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(b"GET http://open.test/chunked HTTP/1.0\r\n\r\n", is_ended=False)
    assert said.endswith(b"Connection: close\r\n\r\nhello world")
    assert b"chunked" not in said


@pytest.mark.parametrize(
    "body", [b"Content-Length: 11\r\n\r\nhello world", b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n"]
)
async def test_a_body_arrives_whole(rig: Rig, body: bytes) -> None:
    with rig.open("open.test"):
        said = await rig.said(b"POST http://open.test/echo HTTP/1.1\r\nHost: open.test\r\n" + body)
    assert said.startswith(b"HTTP/1.1 200 ")
    assert rig.plain.got[0].body == b"hello world"


async def test_a_client_that_waits_for_a_word_before_its_body_gets_it(rig: Rig) -> None:
    reader, writer = await rig.connected()
    with rig.open("open.test"):
        writer.write(b"POST http://open.test/echo HTTP/1.1\r\nHost: open.test\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEADLINE_S) == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"ok")
        assert (await answer(reader))[0].startswith(b"HTTP/1.1 200 ")
    assert rig.plain.got[0].body == b"ok"


async def test_a_client_that_waits_for_a_word_is_refused_before_its_body(rig: Rig) -> None:
    with rig.open("open.test"):
        head = b"POST http://elsewhere.test/ HTTP/1.1\r\nHost: elsewhere.test\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
        assert (await rig.said(head, is_ended=False)).startswith(b"HTTP/1.1 403 ")


async def test_an_answer_to_head_has_no_body_and_the_connection_goes_on(rig: Rig) -> None:
    head = b"HEAD http://open.test/size/700 HTTP/1.1\r\nHost: open.test\r\n\r\n"
    with rig.open("open.test"):
        said = await rig.said(head + get("/unchanged") + get("/size/3"))
    assert b"Content-Length: 700\r\n\r\nHTTP/1.1 304 " in said
    assert said.endswith(b"\r\n\r\nxxx")


async def test_a_large_body_is_streamed_and_not_kept(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(get("/size/20000000"))
    assert len(said) > 20_000_000
    assert rig.egress.taken()[0].received_bytes > 20_000_000


async def test_an_upgrade_is_refused_in_clear_words(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(get(more="Connection: Upgrade\r\nUpgrade: websocket\r\n"))
    assert said.startswith(b"HTTP/1.1 501 ")
    assert b"websockets" in said
    assert rig.plain.connections == 0


async def test_another_host_header_than_the_address_is_refused(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(b"GET http://open.test/ HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 421 ")
    assert rig.plain.connections == 0


async def test_ports_methods_and_paths_of_a_place_are_held_to(rig: Rig) -> None:
    place = Place("open.test", ports=(80, 8080), methods=("GET",), paths=("/pub/",))
    with rig.open(place):
        assert (await rig.said(get("/pub/a"))).startswith(b"HTTP/1.1 200 ")
        assert (await rig.said(get("/pub/../pub/./b"))).startswith(b"HTTP/1.1 200 ")
        for path in (
            "/",
            "/public",
            "/pub/../secret",
            "/pub/%2e%2e/secret",
            "/pub/..%2fsecret",
            "/pub/%2E./secret",
            "/pub/..;/secret",
            "/pub\\..\\x",
        ):
            assert (await rig.said(get(path))).startswith(b"HTTP/1.1 403 "), path
        post = b"POST http://open.test/pub/ HTTP/1.1\r\nHost: open.test\r\nContent-Length: 0\r\n\r\n"
        assert b"POST is not allowed" in await rig.said(post)
        assert b"not its port 81" in await rig.said(b"GET http://open.test:81/pub/ HTTP/1.1\r\nHost: open.test:81\r\n\r\n")
    assert [got.target for got in rig.plain.got] == ["/pub/a", "/pub/b"]


async def test_a_wildcard_covers_names_below_and_not_the_name_itself(rig: Rig) -> None:
    with rig.open("*.test"):
        assert (await rig.said(get())).startswith(b"HTTP/1.1 200 ")
    with rig.open("*.open.test"):
        assert (await rig.said(get())).startswith(b"HTTP/1.1 403 ")


async def test_the_client_can_close_its_side_and_still_get_the_answer(rig: Rig) -> None:
    reader, writer = await rig.connected()
    with rig.open("open.test"):
        writer.write(get("/size/10"))
        writer.write_eof()
        assert (await drained(reader)).endswith(b"x" * 10)
