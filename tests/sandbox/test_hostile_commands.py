"""What a command could do to whatever watches it, from a real box."""

import os
import subprocess
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from daimon.abi.box import Command, Limits, Ran, Role
from daimon.abi.errors import Lost
from daimon.sandbox.box import RunningBox, start
from daimon.sandbox.pins import MOST_NUMBERS, Pins
from daimon.sandbox.plan import Wanted, has_bwrap

SMALL = Limits(memory_mb=256, processes=64, file_mb=64, disk_mb=24)
WRITER = Role(name="writer", write=(".",), limits=SMALL)
in_a_box = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


@asynccontextmanager
async def opened(workspace: Path, role: Role = WRITER) -> AsyncIterator[RunningBox]:
    box = await start(Wanted(role, workspace, {}))
    try:
        yield box
    finally:
        await box.close()


async def sh(box: RunningBox, line: str) -> Ran:
    return await box.run(Command(argv=("/bin/sh", "-c", line), timeout_s=60.0))


async def python(box: RunningBox, program: str) -> Ran:
    return await box.run(Command(argv=("python3", "-c", program), timeout_s=60.0))


def sockets(pid: int) -> set[str]:
    found = {os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")}
    return {name for name in found if name.startswith("socket:")}


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@in_a_box
async def test_the_box_does_not_hold_the_line_between_its_holder_and_the_gateway(tmp_path: Path) -> None:
    async with opened(tmp_path) as box:
        holder = box._process.pid
        [bwrap] = children(holder)
        [supervisor] = children(bwrap)
        assert sockets(holder)
        assert not sockets(holder) & sockets(supervisor)
        assert len(sockets(supervisor)) == 2
        assert not sockets(bwrap)


@in_a_box
@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT", "USR1", "XCPU", "ALRM"])
async def test_no_signal_from_inside_ends_the_supervisor(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path) as box:
        await sh(box, f"kill -{name} 1")
        assert (await sh(box, "echo here")).out.head == b"here\n"


@in_a_box
async def test_no_command_takes_the_supervisors_limits_away_and_its_own_it_may_lower(tmp_path: Path) -> None:
    async with opened(tmp_path) as box:
        ran = await python(box, "import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3))")
        assert b"PermissionError" in ran.err.head
        own = "import os, resource; resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (64, 64)); print('ok')"
        assert (await python(box, own)).out.head == b"ok\n"


@in_a_box
async def test_nobody_waits_to_open_a_file_because_of_a_box_and_locks_work(tmp_path: Path) -> None:
    lease = "import fcntl, os; open('f', 'w').close(); fcntl.fcntl(os.open('f', os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)"
    lock = "import fcntl; fcntl.lockf(open('f', 'w'), fcntl.LOCK_EX); print('ok')"
    async with opened(tmp_path) as box:
        assert b"PermissionError" in (await python(box, lease)).err.head
        assert (await python(box, lock)).out.head == b"ok\n"


# -- what would run by itself --------------------------------------------------------------------------------------------


@in_a_box
async def test_what_was_left_by_a_command_that_took_the_box_with_it_is_set_aside(tmp_path: Path) -> None:
    async with opened(tmp_path) as box:
        [bwrap] = children(box._process.pid)
        running = sh(box, f"echo evil > .bashrc; mkfifo go; cat go; echo {bwrap}")
        killer = threading.Thread(target=_end_when, args=(tmp_path / "go", bwrap))
        killer.start()
        with pytest.raises(Lost):
            await running
        killer.join()
    assert not (tmp_path / ".bashrc").exists()


def _end_when(path: Path, pid: int) -> None:
    while not path.exists():
        os.sched_yield()
    os.kill(pid, 9)


@in_a_box
async def test_nothing_runs_on_after_its_command_to_write_behind_the_sweep(tmp_path: Path) -> None:
    async with opened(tmp_path) as box:
        line = (
            "(setsid sh -c 'echo > began; while [ ! -e go ]; do sleep 0.01; done; echo evil > .zshrc' &); while [ ! -e began ]; do :; done"
        )
        assert (await sh(box, line)).left != ()
        (tmp_path / "go").touch()
        await sh(box, "sleep 0.1")
        assert not (tmp_path / ".zshrc").exists()


def test_a_link_on_the_way_leads_the_sweep_nowhere(tmp_path: Path) -> None:
    """Another's directory, whose files have the names of pins; a link to it comes and goes while the sweep looks."""
    victim, workspace = tmp_path / "victim", tmp_path / "workspace"
    (victim / "hooks").mkdir(parents=True)
    (victim / "config").write_text("precious")
    workspace.mkdir()
    pins = Pins(str(workspace))
    program = (
        "import os, sys\n"
        "while True:\n"
        " for act in (lambda: os.symlink(sys.argv[1], '.git'), lambda: os.unlink('.git')):\n"
        "  try: act()\n"
        "  except OSError: pass\n"
    )
    with subprocess.Popen(["python3", "-c", program, str(victim)], cwd=workspace) as toggling:
        for _ in range(3_000):
            pins.sweep()
        toggling.kill()
    assert sorted(path.name for path in victim.iterdir()) == ["config", "hooks"]


def test_whoever_takes_all_names_does_not_keep_his_file(tmp_path: Path) -> None:
    pins = Pins(str(tmp_path))
    for n in range(1, MOST_NUMBERS):
        (tmp_path / f"bashrc.set-aside-{n}").touch()
    (tmp_path / ".bashrc").write_text("evil")
    [told] = pins.sweep()
    assert not (tmp_path / ".bashrc").exists()
    assert (tmp_path / told.partition(" → ")[2]).read_text() == "evil"


@pytest.mark.skipif(os.getuid() == 0, reason="to root no directory is closed; tests/sandbox/test_as_user.py runs this for another user")
@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_a_closed_workspace_is_opened_to_be_swept(tmp_path: Path, mode: int) -> None:
    pins = Pins(str(tmp_path))
    (tmp_path / ".bashrc").write_text("evil")
    tmp_path.chmod(mode)
    assert pins.sweep() == (".bashrc → bashrc.set-aside-1",)


@pytest.mark.parametrize("line", ["[core] fsmonitor = ./evil #]", '[core] sshCommand = "./evil ]"', '[include "]"]\n\tpath = x'])
def test_a_setting_behind_the_name_of_its_section_is_seen(tmp_path: Path, line: str) -> None:
    pins = Pins(str(tmp_path))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert pins.sweep() == ()
    with (tmp_path / ".git" / "config").open("a") as file:
        file.write(f"{line}\n")
    assert pins.sweep() == (".git → git.set-aside-1",)


# -- what is gone from the disk ------------------------------------------------------------------------------------------

PIECE = "f = open(f'f{i}', 'wb'); f.write(b'x' * (8 << 20)); f.flush(); os.fsync(f.fileno()); time.sleep(0.05)"
WITHOUT_A_NAME = f"import os, time\nkept = []\nfor i in range(8):\n {PIECE}; os.unlink(f'f{{i}}'); kept.append(f)\ntime.sleep(60)"
TOO_DEEP = f"import os, time\nfor _ in range(30): os.mkdir('d' * 200); os.chdir('d' * 200)\nfor i in range(8):\n {PIECE}\ntime.sleep(60)"
BEHIND_A_CLOSED_DOOR = f"import os, time\nos.mkdir('d'); os.chdir('d'); os.chmod('.', 0o300)\nfor i in range(8):\n {PIECE}\ntime.sleep(60)"


@in_a_box
@pytest.mark.parametrize("program", [WITHOUT_A_NAME, TOO_DEEP, BEHIND_A_CLOSED_DOOR])
async def test_what_is_written_is_counted_wherever_it_is_hidden(tmp_path: Path, program: str) -> None:
    async with opened(tmp_path) as box:
        assert (await python(box, program)).end == "disk"
        assert (await sh(box, "echo here")).out.head == b"here\n"
    clear(tmp_path)


def clear(directory: Path) -> None:
    """Also what is deeper than pytest clears up."""
    subprocess.run(["rm", "-rf", *directory.iterdir()], check=True)


def written(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir() if path.is_file())
