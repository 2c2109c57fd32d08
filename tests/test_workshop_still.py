"""What runs on in a box while a command of it is online: it stands still, whatever it does to be started again."""

import asyncio
from pathlib import Path

import pytest
from tests.workshop_rig import Shop, workshop

from daimon.abi.box import Command, Place
from daimon.abi.label import EMPTY
from daimon.abi.terminal import Line
from daimon.sandbox.plan import has_bwrap

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
DEADLINE_S = 120
ASKS = """
import socket, time
def ask():
    while True:
        time.sleep(0.02)
        try:
            with socket.create_connection(("127.0.0.1", 3128), 1) as way:
                way.sendall(b"GET http://open.test/stolen HTTP/1.1\\r\\nHost: open.test\\r\\nConnection: close\\r\\n\\r\\n")
                way.recv(100)
        except OSError:
            pass
"""
BY_TIMER = """
import ctypes, signal, struct
signal.signal(signal.SIGCONT, lambda *_: None)
libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
event = struct.pack("Pii48x", 0, signal.SIGCONT, 0)
libc.timer_create(1, event, ctypes.byref(timer))
libc.timer_settime(timer, 0, struct.pack("llll", 0, 10_000_000, 0, 10_000_000), None)
ask()
"""
BY_DEATH = """
import os, signal
while True:
    if os.fork():
        time.sleep(0.03)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]: pass
        except ChildProcessError: pass
        continue
    memory = b"x" * 100_000_000  # it takes the kernel a while to give this back
    if os.fork():
        os._exit(0)
    del memory
    os.setpgid(0, 0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.alarm(2)
    ask()
"""


async def _in_background(shop: Shop, program: str, online: Command) -> list[str]:
    """Paths that were asked for while a command was online."""
    async with asyncio.timeout(DEADLINE_S), shop.pool.lease("a:1") as lease:
        box = lease.resource
        (shop.workspace / "job.py").write_text(ASKS + program)
        await box.terminals.run(Line(command="python3 job.py >/dev/null 2>&1 & sleep 1", timeout_s=60, label=EMPTY), lambda _: None)
        return [attempt.path for attempt in (await box.run(online)).attempts if attempt.outcome == "passed"]


@pytest.mark.parametrize("program", ["ask()", BY_TIMER, BY_DEATH], ids=["plainly", "by a timer", "by a death"])
async def test_a_background_job_gets_nothing_of_what_a_command_opens(tmp_path: Path, program: str) -> None:
    async with workshop(tmp_path) as shop:
        assert await _in_background(shop, program, Command(argv=("sleep", "1"), places=(Place("open.test"),))) == []


async def test_the_command_itself_gets_what_it_opens_while_a_job_stands_still(tmp_path: Path) -> None:
    fetch = "import urllib.request as u; u.urlopen('http://open.test/mine', timeout=60).read()"
    async with workshop(tmp_path) as shop:
        online = Command(argv=("python3", "-c", fetch), places=(Place("open.test"),))
        assert await _in_background(shop, "ask()", online) == ["/mine"]
