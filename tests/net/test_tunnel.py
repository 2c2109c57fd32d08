"""Tunnels whose TLS stays closed: only to the host that they name, only TLS."""

import asyncio
import ssl

import pytest
from tests.net.rig import CERTIFICATES, DEADLINE_S, PLACEHOLDER, Rig, drained, key, until

from daimon.abi.box import Place

CONNECT = b"CONNECT secure.test:443 HTTP/1.1\r\nHost: secure.test:443\r\n\r\n"
REQUEST = b"GET /echo HTTP/1.1\r\nHost: secure.test\r\nConnection: close\r\n\r\n"


async def test_a_tunnel_passes_untouched_and_the_site_shows_its_own_certificate(rig: Rig) -> None:
    with rig.open("secure.test", secrets=[key("api.test")]):
        said = await rig.inside(
            "secure.test", REQUEST.replace(b"\r\nConn", b"\r\nX-Key: " + PLACEHOLDER + b"\r\nConn"), trusted=CERTIFICATES.trusting()
        )
    assert said.startswith(b"HTTP/1.1 200 ")
    assert rig.secure.got[0].header("x-key") == PLACEHOLDER.decode()
    await until(lambda: not rig.egress.connections, "the connection ends")
    (attempt,) = rig.egress.taken()
    assert (attempt.method, attempt.host, attempt.port, attempt.outcome, attempt.path) == ("CONNECT", "secure.test", 443, "passed", "")
    assert attempt.sent_bytes > len(REQUEST)
    assert attempt.received_bytes > len(said)


async def test_a_tunnel_to_a_host_that_is_not_open_is_refused(rig: Rig) -> None:
    with rig.open("open.test"):
        assert (await rig.said(CONNECT)).startswith(b"HTTP/1.1 403 ")
    assert rig.secure.connections == 0


async def test_tls_that_names_another_host_is_refused(rig: Rig) -> None:
    with rig.open("secure.test"):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await rig.tunnelled("secure.test", name="evil.test", trusted=CERTIFICATES.trusting())
        await until(lambda: not rig.egress.connections, "the connection ends")
    (attempt,) = rig.egress.taken()
    assert attempt.outcome == "refused"
    assert "names another host (evil.test)" in attempt.reason
    assert rig.secure.bytes == b""


async def test_tls_that_names_another_host_is_refused_where_it_is_opened_too(rig: Rig) -> None:
    with rig.open("api.test", secrets=[key()]), pytest.raises((ssl.SSLError, ConnectionError)):
        await rig.tunnelled("api.test", name="evil.test")


async def test_tls_without_a_name_is_refused_for_a_named_host(rig: Rig) -> None:
    context = CERTIFICATES.trusting()
    context.check_hostname = False
    reader, writer = await rig.connected()
    with rig.open("secure.test"):
        writer.write(CONNECT)
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEADLINE_S)
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await asyncio.wait_for(writer.start_tls(context), DEADLINE_S)
        await until(lambda: not rig.egress.connections, "the connection ends")
    assert "names no host" in rig.egress.taken()[0].reason


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-x\r\n",
        b"GET / HTTP/1.1\r\nHost: secure.test\r\n\r\n",
        b"\x16\x03\x01\xff\xff",
        b"\x17\x03\x03\x00\x01x",
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
    ],
)
async def test_what_is_not_tls_does_not_pass_a_tunnel(rig: Rig, data: bytes) -> None:
    reader, writer = await rig.connected()
    with rig.open("secure.test"):
        writer.write(CONNECT)
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DEADLINE_S)
        writer.write(data)
        await drained(reader)
        await until(lambda: not rig.egress.connections, "the connection ends")
    assert rig.egress.taken()[0].outcome == "refused"
    assert rig.secure.bytes == b""


async def test_a_tunnel_to_an_address_needs_a_place_with_that_address(rig: Rig) -> None:
    connect = b"CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\n\r\n"
    with rig.open("*.test", "secure.test"):
        assert b"127.0.0.1 is not open" in await rig.said(connect)
    with rig.open("127.0.0.1"):
        said = await rig.said(connect)
    assert said.startswith(b"HTTP/1.1 403 ")
    assert b"loopback" in said


async def test_a_tunnel_is_cut_when_its_span_closes(rig: Rig) -> None:
    with rig.open("secure.test"):
        reader, writer = await rig.tunnelled("secure.test", trusted=CERTIFICATES.trusting())
        writer.write(b"GET /hang HTTP/1.1\r\nHost: secure.test\r\n\r\n")
        await until(lambda: bool(rig.secure.got), "the request arrives")
    (attempt,) = rig.egress.taken()
    assert attempt.outcome == "passed"
    assert attempt.reason.startswith("cut")
    assert attempt.sent_bytes > 0
    assert await drained(reader) == b""
    await until(lambda: not rig.egress.connections, "the connection ends")


async def test_a_tunnel_stays_while_another_span_allows_it(rig: Rig) -> None:
    with rig.open("*.test"):
        with rig.open("secure.test"):
            reader, writer = await rig.tunnelled("secure.test", trusted=CERTIFICATES.trusting())
        writer.write(REQUEST)
        assert (await drained(reader)).startswith(b"HTTP/1.1 200 ")


async def test_a_tunnel_does_not_outlive_its_span_under_a_place_with_rules(rig: Rig) -> None:
    with rig.open(Place("secure.test", methods=("GET",))):
        with rig.open("secure.test"):
            reader, _ = await rig.tunnelled("secure.test", trusted=CERTIFICATES.trusting())
        assert await drained(reader) == b""


async def test_an_opened_connection_and_a_kept_one_are_cut_with_their_span(rig: Rig) -> None:
    with rig.open("api.test", "open.test", secrets=[key()]):
        opened, writer = await rig.tunnelled("api.test")
        writer.write(b"GET /size/1 HTTP/1.1\r\nHost: api.test\r\n\r\n")
        await asyncio.wait_for(opened.readuntil(b"\r\n\r\nx"), DEADLINE_S)
        kept, other = await rig.connected()
        other.write(b"GET http://open.test/size/1 HTTP/1.1\r\nHost: open.test\r\n\r\n")
        await asyncio.wait_for(kept.readuntil(b"\r\n\r\nx"), DEADLINE_S)
    assert await drained(opened) == b""
    assert await drained(kept) == b""


async def test_a_tunnel_carries_much_in_both_directions(rig: Rig) -> None:
    with rig.open("secure.test"):
        reader, writer = await rig.tunnelled("secure.test", trusted=CERTIFICATES.trusting())
        body = b"z" * 3_000_000
        writer.write(b"POST /echo HTTP/1.1\r\nHost: secure.test\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        said = await drained(reader)
    assert said.endswith(body)
    assert rig.secure.got[0].body == body
