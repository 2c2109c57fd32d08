"""Names, addresses and sites that cannot be reached."""

import asyncio
import socket
from collections.abc import Sequence

import pytest
from tests.net.rig import Names, Rig, drained, rigged, until

from daimon.abi.errors import Misconfigured
from daimon.net.bounds import Bounds
from daimon.net.dial import Dialler
from daimon.net.refusal import Refusal
from daimon.net.resolve import SystemResolver
from daimon.net.rest import Rest
from daimon.testing.clock import ManualClock


def get(host: str) -> bytes:
    return f"GET http://{host}/echo HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "0.0.0.0"]
)
async def test_a_name_that_leads_into_the_house_is_refused(address: str) -> None:
    async with rigged(names=Names({"rebind.test": [address]})) as rig:
        with rig.open("rebind.test"):
            said = await rig.said(get("rebind.test"))
            tunnel = await rig.said(b"CONNECT rebind.test:443 HTTP/1.1\r\nHost: rebind.test:443\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 403 ")
        assert tunnel.startswith(b"HTTP/1.1 403 ")
        assert b"Only the owner can map a name to it (network.local)" in said
        assert [attempt.outcome for attempt in rig.egress.taken()] == ["refused", "refused"]


async def test_one_bad_address_among_good_ones_is_enough() -> None:
    async with rigged(names=Names({"mixed.test": ["93.184.215.14", "127.0.0.1"]})) as rig:
        with rig.open("mixed.test"):
            assert b"mixed.test stands for 127.0.0.1" in await rig.said(get("mixed.test"))


async def test_a_name_is_looked_up_once_for_a_connection(rig: Rig) -> None:
    class Changing(Names):
        async def resolve(self, host: str) -> Sequence[str]:
            self.asked.append(host)
            return ["127.0.0.1"] if len(self.asked) > 1 else ["192.0.2.1"]

    names = Changing()
    async with rigged(names=names) as other:
        with other.open("rebind.test"):
            await other.said(get("rebind.test"))
        assert names.asked == ["rebind.test"]


async def test_a_name_that_the_owner_mapped_is_not_looked_up_and_may_be_private(rig: Rig) -> None:
    with rig.open("open.test"):
        assert (await rig.said(get("open.test"))).startswith(b"HTTP/1.1 200 ")
    assert rig.names.asked == []


async def test_a_name_in_capitals_is_the_same_name(rig: Rig) -> None:
    with rig.open("open.test"):
        assert (await rig.said(get("OPEN.Test"))).startswith(b"HTTP/1.1 200 ")
    assert rig.plain.got[0].header("host") == "open.test"


async def test_a_literal_address_can_be_opened_and_mapped_by_the_owner(rig: Rig) -> None:
    async with rigged(local={"127.0.0.1": ("127.0.0.1", rig.plain.port)}) as other:
        with other.open("127.0.0.1"):
            assert (await other.said(get("127.0.0.1"))).startswith(b"HTTP/1.1 200 ")


async def test_a_name_that_nobody_knows_is_a_bad_gateway(rig: Rig) -> None:
    with rig.open("missing.test"):
        said = await rig.said(get("missing.test"))
    assert said.startswith(b"HTTP/1.1 502 ")
    assert b"cannot be looked up" in said


async def test_a_lookup_that_takes_too_long_is_given_up() -> None:
    class Slow(Names):
        async def resolve(self, host: str) -> Sequence[str]:
            await asyncio.get_running_loop().create_future()
            return []

    async with rigged(Bounds(resolve_s=0.05), Slow()) as rig:
        with rig.open("slow.test"):
            assert (await rig.said(get("slow.test"))).startswith(b"HTTP/1.1 504 ")


async def test_a_host_that_fails_again_and_again_rests_for_a_while() -> None:
    clock, taken = ManualClock(), socket.socket()
    taken.bind(("127.0.0.1", 0))  # by somebody who does not listen
    async with rigged(Bounds(failures=2, rest_s=10), clock=clock, local={"dead.test": taken.getsockname()}) as rig:
        with taken, rig.open("dead.test", "open.test"):
            said = [await rig.said(get("dead.test")) for _ in range(3)]
            assert [b"cannot be reached" in text for text in said] == [True, True, False]
            assert b"failed 2 times in a row; it is tried again in 10 s" in said[2]
            assert (await rig.said(get("open.test"))).startswith(b"HTTP/1.1 200 ")
            await clock.advance(11)
            assert b"cannot be reached" in await rig.said(get("dead.test"))


def test_a_host_that_answers_again_has_a_clean_record() -> None:
    rest = Rest(ManualClock(), Bounds(failures=2))
    rest.failed("a.test")
    rest.succeeded("a.test")
    rest.failed("a.test")
    rest.check("a.test")
    rest.failed("a.test")
    with pytest.raises(Refusal):
        rest.check("a.test")


async def test_the_systems_resolver_knows_this_machine_and_bounds_its_threads() -> None:
    resolver = SystemResolver()
    found = await asyncio.wait_for(asyncio.gather(*(resolver.resolve("localhost") for _ in range(20))), 60)
    assert all(set(addresses) <= {"127.0.0.1", "::1"} and addresses for addresses in found)
    resolver.close()


async def test_a_site_on_ipv6_is_reached(rig: Rig) -> None:
    try:
        server = await asyncio.start_server(rig.plain._connected, "::1", 0)
    except OSError as error:
        pytest.skip(f"no IPv6 on loopback: {error}")
    async with rigged(local={"six.test": ("::1", server.sockets[0].getsockname()[1])}) as other:
        with other.open("six.test"):
            assert (await other.said(get("six.test"))).startswith(b"HTTP/1.1 200 ")
    server.close()


def test_a_name_is_mapped_to_an_address_and_nothing_else() -> None:
    with pytest.raises(Misconfigured, match=r"nas.lan must be mapped to an address"):
        Dialler(Names(), {"nas.lan": ("router.lan", 80)}, ManualClock(), Bounds(), None)


async def test_when_the_way_out_is_closed_all_connections_end(rig: Rig) -> None:
    with rig.open("open.test"):
        reader, writer = await rig.connected()
        writer.write(get("open.test").replace(b"/echo", b"/hang"))
        await until(lambda: bool(rig.plain.got), "it arrives")
        async with rigged() as other:
            idle, _ = await other.connected()
            await until(lambda: other.egress.connections == 1, "it is there")
        assert await drained(idle) == b""
    assert await drained(reader) == b""
