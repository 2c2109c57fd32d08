"""What a site gets is exactly one request, whatever it was cut into; what the box gets is exactly its answer."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.net.rig import PLACEHOLDER, VALUE, Rig, drained, key, rigged, until

from daimon.abi.box import Place

NAMES = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12).map(lambda name: f"x-{name}")
VALUES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=40)
BODIES = st.binary(max_size=3000)
SIZES = st.integers(1, 700)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(NAMES, VALUES), max_size=8), BODIES, SIZES, st.booleans())
def test_a_request_arrives_byte_for_byte(headers: list[tuple[str, str]], body: bytes, size: int, is_chunked: bool) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    framing, sent = ("Transfer-Encoding: chunked", chunks) if is_chunked else (f"Content-Length: {len(body)}", body)
    said = f"POST http://open.test/p?q HTTP/1.1\r\nHost: open.test\r\n{lines}{framing}\r\nConnection: close\r\n\r\n".encode() + sent

    async def play() -> None:
        async with rigged() as rig:
            with rig.open("open.test"):
                reader, writer = await rig.connected()
                for at in range(0, len(said), size):
                    writer.write(said[at : at + size])
                    await writer.drain()
                answer = await drained(reader)
            (got,) = rig.plain.got
            head = f"POST /p?q HTTP/1.1\r\nHost: open.test\r\n{lines}{framing}\r\n\r\n"
            assert got.raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" == head.encode()
            assert got.body == body
            assert bytes(rig.plain.bytes) == got.raw
            assert answer.partition(b"\r\n\r\n")[2] == got.raw

    asyncio.run(play())


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from([PLACEHOLDER, PLACEHOLDER[:9], VALUE[:9], b"dm", b"x", b"\r\n0\r\n\r\n"]), max_size=30).map(b"".join), SIZES
)
def test_a_secret_is_put_into_a_body_and_nothing_else_changes(body: bytes, size: int) -> None:
    async def play() -> None:
        async with rigged() as rig:
            with rig.open("open.test", secrets=[key("open.test:80")]):
                reader, writer = await rig.connected()
                writer.write(b"POST http://open.test/echo HTTP/1.1\r\nHost: open.test\r\nContent-Length: %d\r\n" % len(body))
                writer.write(b"Connection: close\r\n\r\n")
                for at in range(0, len(body), size):
                    writer.write(body[at : at + size])
                    await writer.drain()
                answer = await drained(reader)
            assert rig.plain.got[0].body == body.replace(PLACEHOLDER, VALUE)
            assert answer.endswith(body)

    asyncio.run(play())


async def test_a_site_that_stops_reading_does_not_turn_a_body_into_requests() -> None:
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()  # with bytes unread, which resets it

    server = await asyncio.start_server(rude, "127.0.0.1", 0)
    smuggled = b"GET http://rude.test/ HTTP/1.1\r\nHost: rude.test\r\n\r\n" * 20_000
    async with rigged(local={"rude.test": ("127.0.0.1", server.sockets[0].getsockname()[1])}) as other:
        with other.open("rude.test"):
            await other.said(b"POST http://rude.test/ HTTP/1.1\r\nHost: rude.test\r\nContent-Length: %d\r\n\r\n" % len(smuggled) + smuggled)
            await until(lambda: not other.egress.connections, "it ends")
        assert [attempt.method for attempt in other.egress.taken()] == ["POST"]
    server.close()


async def test_a_request_with_a_query_goes_on_when_another_span_closes(rig: Rig) -> None:
    with rig.open(Place("open.test", paths=("/hang",))):
        with rig.open("open.test"):
            _, writer = await rig.connected()
            writer.write(b"GET http://open.test/hang?a=b HTTP/1.1\r\nHost: open.test\r\n\r\n")
            await until(lambda: bool(rig.plain.got), "it arrives")
        assert rig.egress.taken() == ()
        assert rig.egress.connections == 1
    assert rig.egress.taken()[0].reason.startswith("cut")
