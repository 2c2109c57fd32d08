"""The proxy as it stands in production: its socket listens in another network, which has no other way out."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys

import pytest
from tests.net.rig import LABEL, Names

from daimon.abi.box import Place
from daimon.machine.clock import SystemClock
from daimon.net.egress import Egress
from daimon.testing.upstream import Upstream

# Brings lo up, listens, hands the socket out, waits for a word, and then talks as any program in a box would.
INSIDE = """
import fcntl, socket, struct, sys
channel = socket.socket(fileno=int(sys.argv[1]))
with socket.socket() as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x41))
with socket.create_server(("127.0.0.1", 3128)) as listener:
    socket.send_fds(channel, [b"x"], [listener.fileno()])
channel.recv(1)
def said(port, data):
    try:
        with socket.create_connection(("127.0.0.1", port), 10) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            return s.makefile("rb").readline().decode().strip()
    except OSError as error:
        return type(error).__name__
for host in ("open.test", "evil.test"):
    print(said(3128, f"GET http://{host}/echo HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode()))
print(said(int(sys.argv[2]), b"GET / HTTP/1.1\\r\\n\\r\\n"))
"""

# A world of its own with a global address in it: the first address of the name leads nowhere, the second to a server.
WORLD = """
import asyncio, fcntl, socket, struct, sys
from daimon.abi.box import Place
from daimon.machine.clock import SystemClock
from daimon.net.egress import Egress
from tests.net.rig import LABEL, Names
with socket.socket() as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x41))
    fcntl.ioctl(s, 0x8916, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("93.184.215.14")))
    fcntl.ioctl(s, 0x891C, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("255.255.255.255")))
async def answer(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
async def main():
    server = await asyncio.start_server(answer, "93.184.215.14", 80)
    names = Names({"two.test": ["93.184.215.99", "93.184.215.14"], "bad.test": ["93.184.215.14", "127.0.0.1"]})
    listener = socket.create_server(("127.0.0.1", 0))
    egress = Egress(resolver=names, local={}, clock=SystemClock())
    serving = asyncio.create_task(egress.serve(listener))
    with egress.open([Place("two.test"), Place("bad.test"), Place("93.184.215.14")], (), LABEL):
        for host in ("two.test", "bad.test", "93.184.215.14"):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(f"GET http://{host}/ HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n".encode())
            print((await reader.read()).split(b"\\r\\n")[0].decode())
            writer.close()
    print(names.asked)
    serving.cancel()
asyncio.run(asyncio.wait_for(main(), 60))
"""


def unshared() -> list[str]:
    """What runs a program in a network of its own, here and for this user."""
    for options in (["--net"], ["--map-root-user", "--net"]):
        command = [shutil.which("unshare") or "unshare", *options]
        try:
            if subprocess.run([*command, "true"], capture_output=True, timeout=60, check=False).returncode == 0:
                return command
        except OSError:
            break
    pytest.skip("no network namespace can be made here")


async def test_a_program_in_another_network_reaches_open_hosts_through_the_proxy_and_nothing_else() -> None:
    command = unshared()
    ours, theirs = socket.socketpair()
    async with Upstream() as server:
        inside = [*command, sys.executable, "-c", INSIDE, str(theirs.fileno()), str(server.port)]
        process = await asyncio.create_subprocess_exec(*inside, pass_fds=[theirs.fileno()], stdout=asyncio.subprocess.PIPE)
        theirs.close()
        _, (number,), _, _ = await asyncio.wait_for(asyncio.to_thread(socket.recv_fds, ours, 1, 1), 60)
        egress = Egress(resolver=Names(), local={"open.test": ("127.0.0.1", server.port)}, clock=SystemClock())
        serving = asyncio.create_task(egress.serve(socket.socket(fileno=number)))
        with egress.open([Place("open.test")], (), LABEL):
            ours.send(b"x")
            out, _ = await asyncio.wait_for(process.communicate(), 60)
        serving.cancel()
        await asyncio.wait([serving])
        ours.close()
        assert out.decode().splitlines() == ["HTTP/1.1 200 OK", "HTTP/1.1 403 Forbidden", "ConnectionRefusedError"]
        assert [got.header("host") for got in server.got] == ["open.test"]
    assert [(attempt.host, attempt.outcome) for attempt in egress.taken()] == [("open.test", "passed"), ("evil.test", "refused")]


async def test_a_name_with_global_addresses_is_reached_at_one_of_these_and_looked_up_once() -> None:
    inside = [*unshared(), sys.executable, "-c", WORLD]
    pipe = asyncio.subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = await asyncio.create_subprocess_exec(*inside, stdout=pipe, stderr=pipe, env=environment)
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert out.decode().splitlines() == ["HTTP/1.1 200 OK", "HTTP/1.1 403 Forbidden", "HTTP/1.1 200 OK", "['two.test', 'bad.test']"], err
