"""The TCP port: the one that was asked for, the usual one, or any."""

import asyncio
import socket

import pytest

from daimon.abi.errors import Misconfigured
from daimon.gateway.server import USUAL_PORT, bind_tcp


def test_port_zero_is_any_free_one() -> None:
    with bind_tcp("127.0.0.1", 0) as one, bind_tcp("127.0.0.1", 0) as other:
        assert one.getsockname()[1] != other.getsockname()[1]
        assert one.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with bind_tcp("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            Misconfigured, match=rf"port {port} on 127.0.0.1 cannot be used: .*; choose another with --port or gateway.port"
        ):
            bind_tcp("127.0.0.1", port)


def test_without_a_port_the_usual_one_is_used_or_else_any() -> None:
    with bind_tcp("127.0.0.1", None) as first, bind_tcp("127.0.0.1", None) as second:
        ports = [sock.getsockname()[1] for sock in (first, second)]
    assert ports[0] != ports[1]
    assert ports[1] != USUAL_PORT


async def test_small_answers_are_not_held_back_for_larger_ones() -> None:
    accepted: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.set_result(writer.get_extra_info("socket"))
        writer.close()

    async with asyncio.timeout(60), await asyncio.start_server(meet, sock=bind_tcp("127.0.0.1", 0)) as server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        assert (await accepted).getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
