"""What a hostile client can say. Nothing of it may reach a site as anything else than one request, and nothing may stop the proxy."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.net.rig import Rig, drained, rigged, until

from daimon.net.bounds import Bounds
from daimon.testing.upstream import Upstream

HEAD = b"POST http://open.test/echo HTTP/1.1\r\nHost: open.test\r\n"
SMUGGLED = b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"

HEADS = {
    "two lengths": b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "one length twice": b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "a list of lengths": b"Content-Length: 5, 5\r\n\r\nhello",
    "a length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "a negative length": b"Content-Length: -1\r\n\r\n",
    "a length with a sign": b"Content-Length: +5\r\n\r\nhello",
    "a length in hex": b"Content-Length: 0x5\r\n\r\nhello",
    "a huge length": b"Content-Length: 99999999999999999999\r\n\r\n",
    "an empty length": b"Content-Length:\r\n\r\n",
    "a length with an underscore": b"Content_Length: 5\r\n\r\nhello",
    "two codings": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a list of codings": b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a coding with a tab": b"Transfer-Encoding: chunked\x0b\r\n\r\n0\r\n\r\n",
    "a coding in quotes": b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
    "identity": b"Transfer-Encoding: identity\r\n\r\n",
    "a folded line": b"X-A: b\r\n c\r\n\r\n",
    "a folded coding": b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"Content-Length : 5\r\n\r\nhello",
    "a space before the name": b" X-A: b\r\n\r\n",
    "no name": b": b\r\n\r\n",
    "no colon": b"X-A\r\n\r\n",
    "a bare line feed": b"X-A: b\nX-C: d\r\n\r\n",
    "a bare line feed at the end": b"X-A: b\n\n",
    "a bare carriage return": b"X-A: b\rX-C: d\r\n\r\n",
    "a NUL": b"X-A: b\0c\r\n\r\n",
    "a bell": b"X-A: b\x07c\r\n\r\n",
    "another host": b"Host: open.test\r\n\r\n",
    "a connection that drops its length": b"Connection: content-length\r\nContent-Length: 5\r\n\r\nhello",
    "a connection that drops its host": b"Connection: close, Host\r\n\r\n",
}
CHUNKS = {
    "no size": b"\r\n",
    "a size with a sign": b"+5\r\nhello\r\n0\r\n\r\n",
    "a negative size": b"-5\r\nhello\r\n0\r\n\r\n",
    "a size with a prefix": b"0x5\r\nhello\r\n0\r\n\r\n",
    "a size with a space": b"5 \r\nhello\r\n0\r\n\r\n",
    "a huge size": b"fffffffff\r\nhello\r\n0\r\n\r\n",
    "a size that is too small": b"4\r\nhello\r\n0\r\n\r\n",
    "a size that is too large": b"6\r\nhello\r\n0\r\n\r\n",
    "a bare line feed": b"5\nhello\r\n0\r\n\r\n",
    "a bare line feed behind": b"5\r\nhello\n0\r\n\r\n",
    "an endless extension": b"5;" + b"a" * 5000 + b"\r\nhello\r\n0\r\n\r\n",
    "an extension with a carriage return": b"5;a\rb\r\nhello\r\n0\r\n\r\n",
    "trailers": b"5\r\nhello\r\n0\r\nX-A: b\r\n\r\n",
    "a trailer that is a length": b"0\r\nContent-Length: 5\r\n\r\n",
}
LINES = [
    b"GET / HTTP/1.1",
    b"GET https://open.test/ HTTP/1.1",
    b"GET ftp://open.test/ HTTP/1.1",
    b"GET http:///x HTTP/1.1",
    b"GET http://user@open.test/ HTTP/1.1",
    b"GET http://user:pw@open.test/ HTTP/1.1",
    b"GET http://open.test@evil.test/ HTTP/1.1",
    b"GET http://open.test#@evil.test/ HTTP/1.1",
    b"GET http://open.test\\@evil.test/ HTTP/1.1",
    b"GET http://open.test/#x HTTP/1.1",
    b"GET http://open.test./ HTTP/1.1",
    b"GET http://open%2etest/ HTTP/1.1",
    b"GET http://open.test:/ HTTP/1.1",
    b"GET http://open.test:080/ HTTP/1.1",
    b"GET http://open.test:99999/ HTTP/1.1",
    b"GET http://0x7f.1/ HTTP/1.1",
    b"GET http://017700000001/ HTTP/1.1",
    b"GET http://2130706433/ HTTP/1.1",
    b"GET http://127.1/ HTTP/1.1",
    b"GET http://127.0.0.01/ HTTP/1.1",
    b"GET http://[::1%25eth0]/ HTTP/1.1",
    b"GET  http://open.test/ HTTP/1.1",
    b"GET http://open.test/ HTTP/1.1 ",
    b"GET http://open.test/ HTTP/2.0",
    b"GET http://open.test/ HTTP/1.10",
    b"GET http://open.test/a b HTTP/1.1",
    b"GET http://open.test/\xc3\xa9 HTTP/1.1",
    b"GET http://\xd0\xbe\xd1\x80en.test/ HTTP/1.1",
    b"get http://open.test/ HTTP/1.1",
    b"G\tET http://open.test/ HTTP/1.1",
    b"GET http://open.test/",
    b"CONNECT open.test HTTP/1.1",
    b"CONNECT http://open.test:80 HTTP/1.1",
    b"CONNECT x@open.test:80 HTTP/1.1",
    b"OPTIONS * HTTP/1.1",
    b"",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]


@pytest.mark.parametrize("name", HEADS)
async def test_a_head_that_can_be_read_in_two_ways_is_refused_before_any_site_is_connected_to(rig: Rig, name: str) -> None:
    with rig.open("open.test"):
        said = await rig.said(HEAD + HEADS[name] + SMUGGLED)
    assert said.startswith(b"HTTP/1.1 400 "), said
    assert said.count(b"HTTP/1.1 ") == 1
    assert rig.plain.connections == 0
    assert rig.egress.taken()[0].outcome == "refused"


@pytest.mark.parametrize("name", CHUNKS)
async def test_a_body_that_can_be_read_in_two_ways_never_completes_a_request(rig: Rig, name: str) -> None:
    with rig.open("open.test"):
        said = await rig.said(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS[name] + SMUGGLED)
    assert said.startswith(b"HTTP/1.1 400 "), said
    assert said.count(b"HTTP/1.1 ") == 1
    assert rig.plain.got == []
    assert b"evil" not in rig.plain.bytes


@pytest.mark.parametrize("line", LINES)
async def test_an_odd_first_line_is_refused(rig: Rig, line: bytes) -> None:
    with rig.open("open.test", "*.test", "evil.test"):
        said = await rig.said(line + b"\r\nHost: open.test\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 400 "), said
    assert rig.plain.connections == 0


async def test_what_follows_a_body_is_a_request_of_its_own_and_is_checked(rig: Rig) -> None:
    with rig.open("open.test"):
        said = await rig.said(HEAD + b"Content-Length: 5\r\n\r\nhello" + SMUGGLED)
    assert b"HTTP/1.1 200 " in said
    assert b"HTTP/1.1 403 " in said
    assert bytes(rig.plain.bytes) == b"POST /echo HTTP/1.1\r\nHost: open.test\r\nContent-Length: 5\r\n\r\nhello"


async def test_bytes_before_the_tunnel_is_there_are_refused(rig: Rig) -> None:
    with rig.open("secure.test"):
        assert (await rig.said(b"CONNECT secure.test:443 HTTP/1.1\r\nHost: secure.test\r\n\r\n\x16\x03\x01")).startswith(b"HTTP/1.1 400 ")


async def test_a_head_that_is_too_long_or_too_many_is_refused(rig: Rig) -> None:
    with rig.open("open.test"):
        assert (await rig.said(HEAD + b"X: " + b"a" * 40_000, is_ended=False)).startswith(b"HTTP/1.1 431 ")
        assert (await rig.said(HEAD + b"X: " + b"a" * 40_000 + b"\r\n\r\n")).startswith(b"HTTP/1.1 431 ")
        assert (await rig.said(HEAD + b"X: a\r\n" * 101 + b"\r\n")).startswith(b"HTTP/1.1 431 ")
        assert (await rig.said(HEAD + b"X: a\r\n" * 90 + b"\r\n")).startswith(b"HTTP/1.1 200 ")


async def test_a_client_that_says_nothing_or_says_it_too_slowly_is_let_go() -> None:
    async with rigged(Bounds(head_s=0.5, idle_s=0.5)) as rig:
        with rig.open("open.test"):
            assert await rig.said(b"", is_ended=False) == b""
            assert (await rig.said(b"GET http://open.te", is_ended=False)).startswith(b"HTTP/1.1 408 ")
            reader, writer = await rig.connected()
            writer.write(HEAD + b"Content-Length: 10\r\n\r\nhell")
            assert (await drained(reader)).startswith(b"HTTP/1.1 408 ")
            reader, writer = await rig.connected()
            dripping = asyncio.create_task(_drip(writer))
            assert (await drained(reader)).startswith(b"HTTP/1.1 408 ")
            dripping.cancel()
        await until(lambda: not rig.egress.connections, "all are let go")


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET http://open.test/ HTTP/1.1\r\nX: ")
    while True:
        writer.write(b"a")
        await asyncio.sleep(0.01)


async def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(rig: Rig) -> None:
    with rig.open("open.test", "secure.test"):
        for data in (
            b"GET ht",
            HEAD + b"Content-Length: 10\r\n\r\nhell",
            b"CONNECT secure.test:443 HTTP/1.1\r\nHost: secure.test:443\r\n\r\n",
        ):
            _, writer = await rig.connected()
            writer.write(data)
            await until(lambda: rig.egress.connections == 1, "it is there")
            writer.transport.abort()
            await until(lambda: not rig.egress.connections, "all have ended")
    assert rig.plain.got == []


async def test_one_connection_too_many_is_told_so_and_others_go_on() -> None:
    async with rigged(Bounds(connections=3)) as rig:
        held = [await rig.connected() for _ in range(3)]
        await until(lambda: rig.egress.connections == 3, "three are there")
        assert (await rig.said(b"", is_ended=False)).startswith(b"HTTP/1.1 503 ")
        with rig.open("open.test"):
            held[0][1].write(b"GET http://open.test/size/1 HTTP/1.1\r\nHost: open.test\r\nConnection: close\r\n\r\n")
            assert (await drained(held[0][0])).endswith(b"x")
        assert [attempt.outcome for attempt in rig.egress.taken()] == ["failed", "passed"]


async def test_attempts_are_bounded_and_the_missing_are_counted() -> None:
    async with rigged(Bounds(attempts=3)) as rig:
        for number in range(5):
            await rig.said(f"GET http://h{number}.test/ HTTP/1.1\r\nHost: h{number}.test\r\n\r\n".encode())
        note, *rest = rig.egress.taken()
        assert note.reason == "2 attempts were dropped, the oldest of their kind"
        assert [attempt.host for attempt in rest] == ["h2.test", "h3.test", "h4.test"]
        assert rig.egress.taken() == ()


WORDS = [b"GET ", b"POST ", b"CONNECT ", b"http://open.test/", b"http://evil.test/", b"open.test:80", b" HTTP/1.1", b"Host: open.test"]
FRAMES = [b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Connection: close", b"5\r\nhello\r\n", b"0\r\n\r\n", b"hello"]
MARKS = [b"\r\n", b"\r\n\r\n", b"\n", b"\r", b"\0", b": ", b" ", b";", b"\t", b"\x16\x03\x01\x00\x05\x01"]
PIECES = st.sampled_from(WORDS + FRAMES + MARKS)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=400), st.lists(st.one_of(PIECES, st.binary(max_size=6)), max_size=40).map(b"".join)))
def test_arbitrary_bytes_never_stop_the_proxy_or_reach_a_site_that_is_closed(data: bytes) -> None:
    async def play() -> None:
        async with rigged() as rig:
            with rig.open("open.test"):
                await rig.said(data)
                assert (await rig.said(b"GET http://open.test/last HTTP/1.1\r\nHost: open.test\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            _book(rig.plain)
            assert rig.secure.connections == 0

    asyncio.run(play())


def _book(server: Upstream) -> None:
    """Every byte that arrived belongs to a request that the proxy wrote itself."""
    for got in server.got:
        assert got.header("host") == "open.test"
        assert got.target.startswith("/")
        assert len([name for name, _ in got.headers if name.lower() in ("content-length", "transfer-encoding")]) <= 1
