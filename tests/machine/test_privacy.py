"""The memory of a process that closed it, seen by another process of the same user. The kernel answers."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.machine.ordinary import DEADLINE_S, UID, directory_of, environment, only_root, python

HOLD = """
import sys
from daimon.machine.privacy import close_memory
if sys.argv[1] == "closed":
    close_memory()
print("ready", flush=True)
sys.stdin.read()
"""
LOOK = """
import sys
try:
    open(f"/proc/{sys.argv[1]}/mem", "rb").close()
except PermissionError:
    print("refused")
else:
    print("open")
"""
CRASH = """
import os, resource
from daimon.machine.privacy import close_memory
close_memory()
print(resource.getrlimit(resource.RLIMIT_CORE), flush=True)
os.abort()
"""
INHERIT = """
import subprocess, sys
from daimon.machine.privacy import close_memory
close_memory()
subprocess.run([sys.executable, "-c", "print(open('/proc/self/limits').read())"], check=True)
"""
CONNECT = """
import sys
from pathlib import Path
from daimon.gateway import unix
from daimon.machine.privacy import close_memory
close_memory()
place = Path(sys.argv[1])
place.mkdir()
with unix.bind(place / "s"), unix.connect(place / "s", 5):
    print("connected")
"""


@contextmanager
def holding(how: str, interpreter: str) -> Iterator[int]:
    """A process of the ordinary user that holds something in memory; yields its id."""
    with subprocess.Popen(
        [interpreter, "-P", "-c", HOLD, how],
        env=environment(), user=UID, group=UID, extra_groups=[], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            process.kill()


def seen_by_a_neighbour(pid: int, interpreter: str) -> str:
    command = [interpreter, "-c", LOOK, str(pid)]
    done = subprocess.run(command, user=UID, group=UID, extra_groups=[], cwd="/", capture_output=True, timeout=DEADLINE_S, check=True)
    return done.stdout.decode().strip()


@only_root
def test_a_process_of_the_same_user_cannot_read_closed_memory() -> None:
    interpreter = python()
    with holding("open", interpreter) as pid:
        if seen_by_a_neighbour(pid, interpreter) != "open":
            pytest.skip("this kernel closes every process to its neighbours (Yama), so there is nothing to see")
    with holding("closed", interpreter) as pid:
        assert seen_by_a_neighbour(pid, interpreter) == "refused"


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="no /proc")
def test_a_crash_leaves_no_core_and_the_limit_cannot_be_raised(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", CRASH], env=environment(), cwd=tmp_path, capture_output=True, timeout=DEADLINE_S, check=False
    )
    assert done.stdout == b"(0, 0)\n"
    assert done.returncode == -6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="no /proc")
def test_what_is_started_from_there_runs_and_inherits_the_limit() -> None:
    done = subprocess.run([sys.executable, "-P", "-c", INHERIT], env=environment(), capture_output=True, timeout=DEADLINE_S, check=True)
    limit = next(line for line in done.stdout.decode().splitlines() if line.startswith("Max core file size"))
    assert limit.split()[4:6] == ["0", "0"]


@only_root
def test_a_process_with_closed_memory_still_reaches_its_own_descriptors() -> None:
    """Long socket paths go through /proc/self/fd, which belongs to root while a process is not dumpable."""
    with directory_of(UID) as place:
        done = subprocess.run(
            [python(), "-P", "-c", CONNECT, str(place / ("d" * 120))],
            env=environment(), user=UID, group=UID, extra_groups=[], cwd="/", capture_output=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
    assert done.stdout == b"connected\n", done.stderr.decode()
