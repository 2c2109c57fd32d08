"""Boxes as agents get them: whose role, which directories, and what is known afterwards of what they reached."""

import asyncio
import logging
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from daimon.abi.box import Command, Place, Role
from daimon.abi.errors import Lost, Misconfigured
from daimon.abi.ids import SELF, AgentId
from daimon.abi.secret import Injection
from daimon.machine.clock import SystemClock
from daimon.sandbox.plan import has_bwrap
from daimon.workshop import Sandboxes, Workshop

in_a_box = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
VALUE, PLACEHOLDER = b"real-value-0123456789", b"stand-in-012345678901"


class OneSecret:
    """A vault with one secret, for a server on loopback; it remembers who used it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.uses: list[tuple[str, str, str]] = []

    def reveal(self, name: str, by: str, host: str) -> str:
        raise AssertionError("nobody asks for a value")

    def injections(self, names: tuple[str, ...], agent: AgentId) -> tuple[Injection, ...]:
        return tuple(Injection(name, PLACEHOLDER, VALUE, (f"api.test:{self.port}",)) for name in names)

    def used(self, name: str, by: str, host: str) -> None:
        self.uses.append((name, by, host))


def workshop(home: Path, workspace: Path, port: int = 1, **agents: str) -> tuple[Workshop, OneSecret]:
    secrets = OneSecret(port)
    local = {"api.test": ("127.0.0.1", port)}
    of_agents = {AgentId(name): role for name, role in agents.items()}
    sandboxes = Sandboxes(home / "roles", workspace, 59_001, local, of_agents, "worker", can_be_made=True)
    return Workshop(sandboxes, secrets, SystemClock()), secrets


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, asyncio.Queue[bytes]]]:
    """A server that says what it was sent, and answers nothing."""
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.put_nowait(await reader.readuntil(b"\r\n\r\n"))
        with suppress(ConnectionResetError):
            await reader.read()
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0, family=socket.AF_INET)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


@in_a_box
async def test_what_a_command_reached_is_known_even_if_its_box_died_with_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "work").mkdir()
    async with listening() as (port, heard):
        made, secrets = workshop(tmp_path / "home", tmp_path / "work", port)
        place = Place("api.test", (port,))
        role = Role(name="caller", write=(".",), places=(place,), secrets={"KEY": "key"})
        box = await made.open(role, tmp_path / "work", SELF)
        head = f"GET http://api.test:{port}/ HTTP/1.1\\r\\nHost: api.test:{port}\\r\\nX: "
        send = f"s.send(b'{head}' + os.environ['KEY'].encode() + b'\\r\\n\\r\\n')"
        program = f"import os, socket; s = socket.create_connection(('127.0.0.1', 3128)); {send}; s.recv(1)"
        running = asyncio.create_task(box.run(Command(argv=("python3", "-c", program), places=(place,))))
        assert VALUE in await asyncio.wait_for(heard.get(), 60)
        with caplog.at_level(logging.WARNING):
            box.box._die("it died")
            with pytest.raises(Lost):
                await running
        await box.close()
        made.close()
    assert secrets.uses == [("key", f"agent:{SELF}", "api.test")]
    assert f"GET api.test:{port}" in caplog.text


@in_a_box
@pytest.mark.parametrize("where", ["home", ".", "home/policy", "home/workspace/../roles"])
async def test_no_box_works_where_daimons_own_files_are(tmp_path: Path, where: str) -> None:
    for name in ("policy", "roles", "workspace"):
        (tmp_path / "home" / name).mkdir(parents=True)
    made, _ = workshop(tmp_path / "home", tmp_path / where)
    with pytest.raises(Misconfigured, match="Daimon's own files"):
        await made.make(f"{SELF}:talk")
    made.close()


@in_a_box
async def test_no_role_reads_daimons_own_files(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as outside:  # a box has a /tmp of its own, and sees nothing of this one
        made, _ = workshop(Path(outside, "home"), tmp_path)
        with pytest.raises(Misconfigured, match="Daimon's own files"):
            await made.open(Role(name="curious", read=(outside,)), tmp_path, SELF)
        made.close()


@in_a_box
async def test_the_workspace_in_the_home_is_for_boxes(tmp_path: Path) -> None:
    made, _ = workshop(tmp_path / "home", tmp_path / "home" / "workspace")
    box = await made.make(f"{SELF}:talk")
    assert (await box.run(Command(argv=("sh", "-c", "echo x > here")))).code == 0
    await box.close()
    made.close()


def test_a_name_with_a_colon_does_not_borrow_another_agents_role(tmp_path: Path) -> None:
    made, _ = workshop(tmp_path, tmp_path, **{"ana": "worker", "ana:lyst": "analyst"})
    agent = made.sandboxes.agent_of("ana:lyst:telegram:17")
    assert made.sandboxes.role_of(agent).name == "analyst"
    assert made.sandboxes.role_of(made.sandboxes.agent_of("ana:telegram:17")).name == "worker"
    assert made.sandboxes.agent_of("other:telegram:17") == AgentId("other")
