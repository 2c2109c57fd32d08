"""Commands are read in a process of its own: what it may do, and what becomes of a text at which it ends. Real processes, real signals."""

import json
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.machine.ordinary import UID, environment, only_root, python

from daimon import law
from daimon.machine.child import MOST_ASKED
from daimon.machine.reader import ChildReader
from daimon.policy.floor import StandingFloor
from daimon.policy.unread import UNREADABLE

DEADLINE_S = 120
DELETES = "`rm -rf /` never runs: it would delete all of /"
HOSTILE = """
import os, signal
from daimon.machine.child import serve
from daimon.policy.shell.read import read
def hostile(command, never):
    if "crash" in command:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "raise" in command:
        raise MemoryError
    if "interrupt" in command:
        os.kill(os.getppid(), signal.SIGUSR1)
        signal.pause()
    if "flood" in command:
        os.write(0, b"\\xff" * 100)
    while "hang" in command:
        pass
    return read(command, never)
serve(hostile, {longest_s})
"""
"""Reads like the real one, but for words at which it does what a parser with a fault might do."""
TELLS = """
import json, os, sys
from daimon.machine.child import serve
from daimon.policy.shell.read import read
had = {"environment": sorted(os.environ), "descriptors": [n for n in range(100) if os.path.exists(f"/proc/self/fd/{n}")]}
def tells(command, never):
    said = read(command, never)
    had["modules"] = sorted(sys.modules)
    for name, attempt in {"open": lambda: open("/etc/passwd"), "pipe": lambda: os.pipe()}.items():
        try:
            attempt()
            had[name] = ""
        except OSError as error:
            had[name] = error.strerror
    return json.dumps(had)
serve(tells)
"""
ASKS = """
from daimon import law
from daimon.machine.reader import ChildReader
reader = ChildReader(law.READS_SHELL)
print(reader.read("rm -rf /", ()))
reader.close()
"""
GATEWAY = """
import sys
from daimon import law
from daimon.machine.reader import ChildReader
reader = ChildReader(law.READS_SHELL)
reader.read("ls", ())
print(reader.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def reader() -> Iterator[ChildReader]:
    with closing(ChildReader(law.READS_SHELL, DEADLINE_S)) as it:
        yield it


@pytest.fixture
def hostile() -> Iterator[ChildReader]:
    with closing(ChildReader(HOSTILE.format(longest_s=600), DEADLINE_S)) as it:
        yield it


def pid_of(reader: ChildReader) -> int:
    assert reader.pid is not None
    return reader.pid


def has_ended(process: int) -> bool:
    """Whether the process of this descriptor ends within the deadline."""
    return bool(select.select([process], [], [], DEADLINE_S)[0])


def test_it_is_started_with_the_first_command_and_kept(reader: ChildReader) -> None:
    assert reader.pid is None
    assert reader.read("ls -l", ()) == ""
    pid = pid_of(reader)
    assert reader.read("cd / && rm -rf /", ()) == DELETES
    assert reader.read(["rm", "-rf", "/"], ()) == DELETES
    assert "floor.never" in (reader.read("terraform destroy", (("terraform", "destroy"),)) or "")
    assert reader.pid == pid


@pytest.mark.parametrize("text", ["", "\x00", "\ud800; rm -rf /", "echo é\U0001f600", "x" * 900_000, "\ud800" * 900_000])
def test_any_text_reaches_it(reader: ChildReader, text: str) -> None:
    assert reader.read(text, ()) == (DELETES if "rm" in text else "")


def test_more_than_it_takes_is_not_even_sent(reader: ChildReader) -> None:
    assert reader.read("x" * MOST_ASKED, ()) is None
    assert reader.pid is None


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_one_that_died_while_idle_is_replaced_and_the_verdict_is_right(reader: ChildReader, how: signal.Signals) -> None:
    for _ in range(3):
        assert reader.read("ls", ()) == ""
        pid = pid_of(reader)
        os.kill(pid, how)
        assert reader.read("rm -rf /", ()) == DELETES
        assert reader.pid != pid


def test_one_that_was_stopped_and_then_died_on_the_way_is_replaced_too(reader: ChildReader) -> None:
    reader.read("ls", ())
    os.kill(pid := pid_of(reader), signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        told = threads.submit(reader.read, "rm -rf /", ())
        os.kill(pid, signal.SIGKILL)
        assert told.result(DEADLINE_S) == DELETES


@pytest.mark.parametrize("fault", ["crash", "raise", "flood"])
def test_a_text_that_ends_the_reader_counts_as_too_deeply_nested(hostile: ChildReader, fault: str) -> None:
    floor = StandingFloor(hostile)
    assert floor.check("ls") == ""
    assert floor.check(f"{fault} $(rm -rf /)") == UNREADABLE
    assert floor.check_words(["sh", fault]) == UNREADABLE
    assert floor.check(f"ls {fault}") == ""
    assert floor.check("rm -rf /") == DELETES


def test_who_does_not_answer_in_time_is_killed() -> None:
    with closing(ChildReader(HOSTILE.format(longest_s=600), 0.5)) as reader:
        until = time.monotonic() + DEADLINE_S
        while reader.read("ls", ()) is None:  # a busy machine took longer
            assert time.monotonic() < until
        process = os.pidfd_open(pid_of(reader))
        assert StandingFloor(reader).check("hang $(rm -rf /)") == UNREADABLE
        assert StandingFloor(reader).check("ls hang") == ""
        assert has_ended(process)
        os.close(process)


def test_an_answer_that_comes_after_an_interruption_is_nobody_elses(hostile: ChildReader) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    assert hostile.read("ls", ()) == ""
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            hostile.read("interrupt", ())
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert hostile.pid is None
    assert hostile.read("rm -rf /", ()) == DELETES


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "no python", "import os; os.write(0, b'GET / HTTP/1.1')"])
def test_a_program_that_cannot_serve_reads_nothing_and_raises_nothing(program: str) -> None:
    with closing(ChildReader(program)) as reader:
        assert reader.read("rm -rf /", ()) is None
        assert reader.pid is None


def test_the_log_tells_how_it_ended_and_nothing_of_the_command(hostile: ChildReader, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert hostile.read("crash --token hunter2", ()) is None
    assert "SIGSEGV" in caplog.text
    assert "hunter2" not in caplog.text
    assert "crash" not in caplog.text


def test_it_inherits_nothing_and_once_it_serves_it_can_open_nothing(tmp_path: Path) -> None:
    with (tmp_path / "kept").open("w") as file, closing(ChildReader(TELLS, DEADLINE_S)) as reader:
        os.set_inheritable(file.fileno(), True)
        had = json.loads(reader.read("ls", ()) or "")
    assert set(had["environment"]) <= {"LC_CTYPE"}  # which the interpreter sets for itself
    assert had["descriptors"] == [0, 1, 2]
    assert had["open"] == had["pipe"] == "Too many open files"
    assert "tree_sitter" in had["modules"]
    assert not [name for name in had["modules"] if name.startswith(("pydantic", "asyncio", "socket"))]


def test_its_core_is_never_written_and_its_memory_is_bounded(reader: ChildReader) -> None:
    if not Path("/proc/self/limits").exists():
        pytest.skip("no /proc")
    reader.read("ls", ())
    done = subprocess.run(
        ["prlimit", "--pid", str(reader.pid), "--raw", "--noheadings", "-o", "RESOURCE,HARD"],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    if done.returncode:
        pytest.skip(f"prlimit cannot look at it: {done.stderr.strip()}")
    limits = dict(line.split() for line in done.stdout.splitlines())
    assert [limits[name] for name in ("CORE", "NOFILE", "NPROC", "FSIZE")] == ["0"] * 4
    assert int(limits["AS"]) <= 512 << 20


def test_it_ends_when_it_is_closed(reader: ChildReader) -> None:
    reader.read("ls", ())
    process = os.pidfd_open(pid_of(reader))
    reader.close()
    reader.close()
    assert has_ended(process)
    os.close(process)


def test_it_ends_with_the_gateway_however_that_ends() -> None:
    command = [sys.executable, "-c", GATEWAY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as gateway:
        assert gateway.stdout is not None
        process = os.pidfd_open(int(gateway.stdout.readline()))
        gateway.kill()
    assert has_ended(process)
    os.close(process)


@only_root
def test_it_serves_a_gateway_of_an_ordinary_user() -> None:
    done = subprocess.run(
        [python(), "-P", "-c", ASKS],
        env=environment(), user=UID, group=UID, extra_groups=[], cwd="/", capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.stdout == f"{DELETES}\n", done.stderr


def test_one_that_loops_ends_by_itself_though_nobody_kills_it(caplog: pytest.LogCaptureFixture) -> None:
    with closing(ChildReader(HOSTILE.format(longest_s=1), DEADLINE_S)) as hostile:
        assert hostile.read("hang", ()) is None
    assert "SIGALRM" in caplog.text


def test_threads_that_ask_at_once_get_their_own_answers(reader: ChildReader) -> None:
    names = [f"{word}{n}" for n in range(50) for word in ("passes", "never")]
    together = threading.Barrier(4, timeout=DEADLINE_S)

    def ask(_: int) -> list[str | None]:
        together.wait()
        return [reader.read(f"rm -rf /{name}" if "passes" in name else f"rm -rf / {name}", ()) for name in names]

    with ThreadPoolExecutor(4) as threads:
        for told in threads.map(ask, range(4), timeout=DEADLINE_S):
            assert [(name in (why or ""), bool(why)) for name, why in zip(names, told, strict=True)] == [
                ("never" in name, "never" in name) for name in names
            ]
