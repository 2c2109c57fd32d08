"""Boxes that die: by whom ever, whoever waits for a command hears it, and nothing is left behind."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from tests.sandbox.boxes import (
    DEADLINE_S,
    ROOT,
    WORKER,
    all_gone,
    assert_nothing_new,
    box_processes,
    held,
    needs_bwrap,
    opened,
    said,
    sh,
)

from daimon.abi.box import Command, Limits, Role
from daimon.abi.errors import Lost, Misconfigured
from daimon.sandbox.box import RunningBox, started
from daimon.sandbox.cgroup import PREFIX, Groups
from daimon.sandbox.plan import Wanted, spec_of

pytestmark = needs_bwrap


async def below(pid: int, number: int) -> set[int]:
    """Processes below one, as soon as there are enough."""
    async with asyncio.timeout(DEADLINE_S):
        while len(found := box_processes(pid) - {pid}) < number:  # noqa: ASYNC110 - they are other people's children
            await asyncio.sleep(0.005)
    return found


async def in_use(box: RunningBox) -> "asyncio.Task[object]":
    """With a command that runs."""
    heard = asyncio.Event()
    command = Command(argv=("/bin/sh", "-c", "echo; exec sleep 1000"), timeout_s=DEADLINE_S)
    running = asyncio.create_task(box.run(command, (lambda _: heard.set(), lambda _: None)))
    async with asyncio.timeout(DEADLINE_S):
        await heard.wait()
    return running


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


@pytest.mark.parametrize("part", ["daimon.sandbox.holder", "daimon.sandbox.supervisor", "bwrap"])
async def test_when_a_part_of_a_box_is_killed_whoever_waits_hears_that_it_is_lost(tmp_path: Path, part: str) -> None:
    async with opened(WORKER, tmp_path) as box:
        running = await in_use(box)
        parts = await below(box._process.pid, 3) | {box._process.pid}
        victim = next(pid for pid in sorted(parts) if part in (command_of(pid).partition(" ")[0] if part == "bwrap" else command_of(pid)))
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(Lost, match="what ran in it has ended"):
            async with asyncio.timeout(DEADLINE_S):
                await running
        assert not box.is_alive
        with pytest.raises(Lost, match="the box is gone"):
            await said(box, "true")
        await all_gone(parts)


async def test_a_closed_box_leaves_nothing(tmp_path: Path) -> None:
    before = held()
    async with opened(WORKER, tmp_path) as box:
        running = asyncio.create_task(sh(box, "exec sleep 1000"))
        parts = await below(box._process.pid, 3) | {box._process.pid}
        await box.close()
        await all_gone(parts)
        with pytest.raises(Lost):
            await running
    assert_nothing_new(before)
    assert not own_groups(parts)


def own_groups(pids: set[int]) -> list[str]:
    groups = Groups.found()
    places = set(groups.parents.values()) if groups else set()
    return [name for place in places for name in os.listdir(place) if name in {f"{PREFIX}{pid}" for pid in pids}]


GATEWAY = """
import asyncio, sys
from pathlib import Path
from daimon.abi.box import Command, Role
from daimon.sandbox.box import start
from daimon.sandbox.plan import Wanted
async def main():
    box = await start(Wanted(Role(name="w", write=(".",)), Path(sys.argv[1]), {}))
    command = Command(argv=("/bin/sh", "-c", "echo; trap '' TERM INT HUP; setsid sleep 1000 & sleep 1000"), timeout_s=1000)
    await box.run(command, (lambda _: print("up", flush=True), lambda _: None))
asyncio.run(main())
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_with_the_gateway_the_box_ends(tmp_path: Path, how: signal.Signals) -> None:
    gateway = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", GATEWAY, str(tmp_path)), stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
    )
    assert gateway.stdout is not None
    async with asyncio.timeout(DEADLINE_S):
        assert await gateway.stdout.readline() == b"up\n"
        parts = await below(gateway.pid, 5)
        gateway.send_signal(how)
        await gateway.wait()
    await all_gone(parts)


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_box_that_is_given_up_while_it_starts_leaves_nothing(tmp_path: Path, number: int) -> None:
    workspace = tmp_path / uuid4().hex  # names of pytest's directories repeat from worker to worker
    workspace.mkdir()
    others = len(box_processes(os.getpid())) - 1
    starting = asyncio.create_task(in_a_box(workspace))
    await below(os.getpid(), others + number)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await all_gone(named(workspace.name))


def named(name: str) -> set[int]:
    """Processes that say this name in their command line: bwrap says the workspace's."""
    return {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and f"/{name} " in command_of(int(entry.name))}


async def in_a_box(workspace: Path) -> None:
    async with opened(WORKER, workspace):
        await asyncio.get_running_loop().create_future()


# -- a supervisor that is not ours


LIAR = """
import json, socket, sys
line = socket.socket(fileno=int(sys.argv[-2]))
line.send(b'{"hello": 1}')
order = json.loads(line.recv(65536))
line.send(%s)
if line.recv(65536):
    line.send(b'{"id": 1, "cleared": true, "left": []}')
    line.recv(65536)
"""


@pytest.mark.parametrize(
    "says",
    [
        b"nonsense",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"7",
        b'"text"',
        b"{}",
        b'{"id": null}',
        b'{"id": 1e999}',
        b'{"id": 1}',
        b'{"id": 1, "ended": "x"}',
        b'{"id": 1, "ended": {}}',
        b'{"id": 1, "ended": 99999999999999999999999}',
        b'{"id": 1, "ended": 1e999}',
        b'{"id": 1, "ended": -5}',
        b"[" * 60_000,
        b"",
    ],
)
async def test_a_supervisor_that_speaks_nonsense_costs_the_box_and_nothing_else(tmp_path: Path, says: bytes) -> None:
    spec = spec_of(Wanted(WORKER, tmp_path, {}))
    words = (spec.supervisor[0], "-I", "-S", "-c", LIAR % repr(says))
    box = await started(replace(spec, supervisor=words), WORKER)
    try:
        with pytest.raises(Lost):
            async with asyncio.timeout(DEADLINE_S):
                await said(box, "true")
        assert not box.is_alive
    finally:
        await box.close()


@pytest.mark.parametrize("word", [b'{"id": 99}', b'{"hello": 1}'])
async def test_a_supervisor_that_talks_without_end_costs_the_box(tmp_path: Path, word: bytes) -> None:
    begin = "import socket, sys; line = socket.socket(fileno=int(sys.argv[-2]))"
    endless = f"{begin}; line.send(b'{{\"hello\": 1}}')\nwhile True: line.send({word!r})"
    spec = spec_of(Wanted(WORKER, tmp_path, {}))
    box = await started(replace(spec, supervisor=(spec.supervisor[0], "-I", "-S", "-c", endless)), WORKER)
    try:
        async with asyncio.timeout(DEADLINE_S):
            while box.is_alive:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.001)
    finally:
        await box.close()


CLEARS = """
import json, socket, sys
line = socket.socket(fileno=int(sys.argv[-2]))
line.send(b'{"hello": 1}')
while order := line.recv(65536):
    if json.loads(order)["do"] == "signal":
        line.send(b'{"id": 1, "ended": 2}')
        line.send(b'{"id": 1, "cleared": true, "ended": "x", "left": []}')
"""


async def test_how_a_command_ended_is_not_said_twice(tmp_path: Path) -> None:
    spec = spec_of(Wanted(WORKER, tmp_path, {}))
    box = await started(replace(spec, supervisor=(spec.supervisor[0], "-I", "-S", "-c", CLEARS)), WORKER)
    try:
        async with asyncio.timeout(DEADLINE_S):
            ran = await sh(box, "true", timeout_s=0.1)
        assert (ran.end, ran.code) == ("timeout", 130)
    finally:
        await box.close()


DIES_SLOWLY = """
import json, socket, sys, time
line = socket.socket(fileno=int(sys.argv[-2]))
line.send(b'{"hello": 1}')
while order := line.recv(65536):
    if json.loads(order).get("signal") == 9:
        time.sleep(2)
        line.send(b'{"id": 1, "ended": 9}')
        line.send(b'{"id": 1, "cleared": true, "left": []}')
"""


async def test_who_was_killed_may_take_a_while_to_go_without_costing_the_box(tmp_path: Path) -> None:
    spec = spec_of(Wanted(WORKER, tmp_path, {}))
    box = await started(replace(spec, supervisor=(spec.supervisor[0], "-I", "-S", "-c", DIES_SLOWLY)), WORKER)
    try:
        ran = await sh(box, "true", timeout_s=0.1)
        assert (ran.end, ran.code) == ("timeout", 128 + signal.SIGKILL)
        assert box.is_alive
    finally:
        await box.close()


async def test_commands_stand_back_behind_whoever_stops_them(tmp_path: Path) -> None:
    async with opened(WORKER, tmp_path) as box:
        running = await in_use(box)
        parts = await below(box._process.pid, 3) | {box._process.pid}
        nice = {pid: os.getpriority(os.PRIO_PROCESS, pid) for pid in parts}
        commands = {pid for pid in parts if "sleep 1000" in command_of(pid)}  # the shell, or what it became
        assert len(commands) == 1
        assert {nice[pid] for pid in commands} == {nice[box._process.pid] + 10}
        assert {nice[pid] for pid in parts - commands} == {nice[box._process.pid]}
        running.cancel()
        await asyncio.wait([running])


@pytest.mark.parametrize("left", ['"x"', '["\\ud800"]', "{}", "[[[[]]]]", "[1, null, {}]", '["' + "x" * 30_000 + '"]'])
async def test_what_a_supervisor_says_about_the_rest_is_cut_to_size(tmp_path: Path, left: str) -> None:
    answer = f'{{"id": 1, "ended": 0, "error": "\\ud800", "left": {left}}}'
    spec = spec_of(Wanted(WORKER, tmp_path, {}))
    box = await started(replace(spec, supervisor=(spec.supervisor[0], "-I", "-S", "-c", LIAR % repr(answer.encode()))), WORKER)
    try:
        async with asyncio.timeout(DEADLINE_S):
            ran = await sh(box, "true")
        assert all(isinstance(name, str) and len(name.encode()) <= 320 for name in ran.left)
    finally:
        await box.close()


async def test_a_supervisor_that_cannot_start_is_a_refusal_with_its_words(tmp_path: Path) -> None:
    spec = replace(spec_of(Wanted(WORKER, tmp_path, {})), supervisor=("/nowhere/python", "x"))
    with pytest.raises(Misconfigured, match="/nowhere/python"):
        await started(spec, WORKER)


async def test_running_out_of_memory_does_not_take_the_supervisor(tmp_path: Path) -> None:
    async with opened(Role(name="w", write=(".",), limits=Limits(memory_mb=128)), tmp_path) as box:
        for _ in range(3):
            ran = await sh(box, "exec python3 -c 'x = []\nwhile True: x.append(b\"x\" * (1 << 20))'")
            assert ran.end == "memory"
        assert await said(box, "echo on") == "on"
