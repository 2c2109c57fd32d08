"""What a hostile or broken site can answer."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.net.rig import DEADLINE_S, VALUE, Rig, drained, key, rigged, until

from daimon.net.bounds import Bounds

GET = b"GET http://open.test/x HTTP/1.1\r\nHost: open.test\r\n\r\n"
NEXT = b"GET http://open.test/size/4 HTTP/1.1\r\nHost: open.test\r\nConnection: close\r\n\r\n"

BROKEN = {
    "nothing": b"",
    "garbage": b"\x15\x03\x01\x00\x02\x02\x16\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello",
    "a length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a folded line": b"HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\n\r\n",
    "a bare line feed": b"HTTP/1.1 200 OK\nX-A: b\n\n",
    "a NUL": b"HTTP/1.1 200 OK\r\nX-A: \0\r\n\r\n",
    "another version": b"HTTP/3.0 200 OK\r\n\r\n",
    "a long head": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 40_000 + b"\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
    "endless hints": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20,
    "no content with content": b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
    "half a head": b"HTTP/1.1 200 OK\r\nX-",
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_answer_is_a_bad_gateway_in_words(rig: Rig, name: str) -> None:
    rig.plain.answers["/x"] = BROKEN[name]
    with rig.open("open.test"):
        said = await rig.said(GET)
    assert said.startswith(b"HTTP/1.1 502 "), said
    assert b"daimon: " in said
    assert rig.egress.taken()[0].outcome == "failed"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: a\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
    ],
)
async def test_half_an_answer_does_not_look_like_a_whole_one(rig: Rig, answer: bytes) -> None:
    rig.plain.answers["/x"] = answer
    reader, writer = await rig.connected()
    with rig.open("open.test"):
        writer.write(GET)
        said = await drained(reader)
        await until(lambda: not rig.egress.connections, "it ends")
    assert not said.endswith(b"0\r\n\r\n")
    assert said.count(b"HTTP/1.1") <= 1
    assert rig.egress.taken()[0].outcome == "failed"


async def test_hints_before_an_answer_are_dropped(rig: Rig) -> None:
    rig.plain.answers["/x"] = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    )
    with rig.open("open.test"):
        assert (await rig.said(GET)).startswith(b"HTTP/1.1 200 OK\r\nContent-Length: 2")


async def test_an_answer_without_a_length_ends_with_the_connection(rig: Rig) -> None:
    rig.plain.answers["/x"] = b"HTTP/1.0 200 OK\r\nX-Old: yes\r\n\r\nall of it"
    with rig.open("open.test"):
        said = await rig.said(GET + NEXT)
    assert said == b"HTTP/1.1 200 OK\r\nX-Old: yes\r\nConnection: close\r\n\r\nall of it"


async def test_a_site_that_closes_does_not_close_the_boxs_connection(rig: Rig) -> None:
    rig.plain.answers["/x"] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    with rig.open("open.test"):
        said = await rig.said(GET + NEXT)
    assert said.endswith(b"xxxx")
    assert b"Connection: close" not in said.partition(b"ok")[0]
    assert rig.plain.connections == 2


async def test_bytes_that_nobody_asked_for_are_never_taken_for_the_next_answer(rig: Rig) -> None:
    planted = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nplanted"
    rig.plain.answers["/x"] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + planted
    with rig.open("open.test"):
        said = await rig.said(GET + NEXT)
    assert b"planted" not in said
    assert said.endswith(b"xxxx")


async def test_an_early_answer_reaches_a_box_that_is_still_sending() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno!")
        await drained(reader)
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with rigged(local={"small.test": ("127.0.0.1", server.sockets[0].getsockname()[1])}) as rig:
        with rig.open("small.test"):
            data = b"POST http://small.test/ HTTP/1.1\r\nHost: small.test\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 100_000
            said = await rig.said(data, is_ended=False)
        assert said.endswith(b"no!")
        assert rig.egress.taken()[0].outcome == "passed"
    server.close()


async def test_a_silent_site_is_given_up() -> None:
    async with rigged(Bounds(idle_s=2, answer_s=0.3)) as rig:
        with rig.open("open.test"):
            said = await rig.said(b"GET http://open.test/hang HTTP/1.1\r\nHost: open.test\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 504 ")
        assert rig.egress.taken()[0].outcome == "failed"


async def test_an_answer_may_take_longer_than_other_bytes() -> None:
    async with rigged(Bounds(idle_s=0.5, answer_s=30)) as rig:
        with rig.open("open.test"):
            waiting = asyncio.create_task(rig.said(b"GET http://open.test/hang HTTP/1.1\r\nHost: open.test\r\n\r\n", is_ended=False))
            await until(lambda: bool(rig.plain.got), "it is asked")
            done, _ = await asyncio.wait([waiting], timeout=1)
            assert not done
        assert await waiting == b""  # cut with its span
        assert rig.egress.taken()[0].reason.startswith("cut")


async def test_events_are_not_held_up(rig: Rig) -> None:
    """Each event of a stream arrives although the stream does not end."""

    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for number in range(3):
            writer.write(b"9\r\ndata: %d\n\n\r\n" % number)
            await heard[number].wait()
        writer.close()

    heard = [asyncio.Event() for _ in range(3)]
    server = await asyncio.start_server(stream, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with rigged(local={"events.test": ("127.0.0.1", port)}) as other:
        reader, writer = await other.connected()
        with other.open("events.test"):
            writer.write(b"GET http://events.test/ HTTP/1.1\r\nHost: events.test\r\n\r\n")
            for number in range(3):
                await asyncio.wait_for(reader.readuntil(b"data: %d\n\n" % number), DEADLINE_S)
                heard[number].set()
            await until(lambda: not other.egress.connections, "it ends")
    server.close()


WORDS = [b"HTTP/1.1 ", b"HTTP/1.0 ", b"200 OK", b"204", b"304", b"100 Continue", b"Connection: close", b"Transfer-Encoding: chunked"]
FRAMES = [b"Content-Length: 5", b"Content-Length: 0", b"5\r\nhello\r\n", b"0\r\n\r\n", b"hello"]
PIECES = st.sampled_from([*WORDS, *FRAMES, b"\r\n", b"\r\n\r\n", b"\n", b"\0", b" "])
ANSWERS = st.one_of(st.binary(max_size=200), st.lists(st.one_of(PIECES, st.binary(max_size=4)), max_size=25).map(b"".join))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(ANSWERS, st.sampled_from([b"", VALUE, VALUE[:20]]))
def test_an_arbitrary_answer_never_stops_the_proxy_or_shows_a_secret(answer: bytes, echo: bytes) -> None:
    async def play() -> None:
        async with rigged() as rig:
            rig.plain.answers["/x"] = answer + echo
            with rig.open("open.test", secrets=[key("open.test:80")]):
                said = await rig.said(GET + NEXT)
                assert VALUE not in said
                assert (await rig.said(NEXT)).endswith(b"xxxx")

    asyncio.run(play())
