"""What commands in a box can do, and what comes back from them. All share one box, as the commands of a session do."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest
from tests.sandbox.boxes import DEADLINE_S, assert_nothing_new, held, needs_bwrap, said, sh

from daimon.abi.box import Command, Ran
from daimon.sandbox.box import RunningBox

pytestmark = needs_bwrap


def has(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not on this machine: {', '.join(missing)}")


def pids(ran: Ran) -> list[str]:
    return [name.split()[0] for name in ran.left]


# -- tools


@has("git")
async def test_git_keeps_a_repository(box: RunningBox, workspace: Path) -> None:
    line = "git init -q repo && cd repo && echo hello > a && git add a && git commit -qm first && git log --format=%an:%s"
    assert await said(box, line) == "agent:first"
    assert (workspace / "repo" / "a").read_text() == "hello\n"


async def test_python_makes_an_environment_without_a_network(box: RunningBox) -> None:
    line = "python3 -m venv --without-pip env && env/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'"
    assert await said(box, line) == "True"


async def test_python_tests_a_program(box: RunningBox) -> None:
    test = "import unittest\nclass T(unittest.TestCase):\n    def test_sum(self): self.assertEqual(1 + 1, 2)\n"
    ran = await sh(box, "cat > test_sum.py && python3 -m unittest -q test_sum", stdin=test.encode())
    assert ran.code == 0
    assert b"OK" in ran.err.head


async def test_python_uses_several_processes(box: RunningBox) -> None:
    line = "python3 -c 'import multiprocessing as m; print(sum(m.get_context(\"fork\").Pool(3).map(abs, range(-9, 1))))'"
    assert await said(box, line) == "45"


@has("node")
async def test_node_runs_web_assembly(box: RunningBox) -> None:
    assert await said(box, "node -e 'new WebAssembly.Memory({initial: 10}); console.log([1, 2].map(x => x * 2).join())'") == "2,4"


@has("gcc", "make")
async def test_a_compiler_builds_what_then_runs(box: RunningBox) -> None:
    line = r"""mkdir -p c && cd c && printf '#include <stdio.h>\nint main(void){puts("built");return 0;}\n' > a.c &&
    printf 'a: a.c\n\tgcc -o a a.c\n' > Makefile && make -s && ./a"""
    assert await said(box, line) == "built"


@has("sqlite3")
async def test_a_data_base_is_written_and_read(box: RunningBox) -> None:
    assert await said(box, "sqlite3 d.db 'create table t(x); insert into t values(7);' && sqlite3 d.db 'select x from t'") == "7"


@has("tar")
async def test_an_archive_is_packed_and_unpacked(box: RunningBox) -> None:
    line = "mkdir -p tree/deep && echo x > tree/deep/f && tar cf t.tar tree && rm -r tree && tar xf t.tar && cat tree/deep/f"
    assert await said(box, line) == "x"


async def test_pipes_links_and_modes_work(box: RunningBox) -> None:
    line = "seq 1000 | sort -rn | head -2 | paste -sd, && ln -sf a l && mkfifo -m 600 p && chmod 750 p && stat -c %a p && rm p"
    assert await said(box, line) == "1000,999\n750"


# -- streams


async def test_output_in_every_script_comes_back(box: RunningBox) -> None:
    assert await said(box, "echo 'grüße 你好 🦊'") == "grüße 你好 🦊"


async def test_bytes_pass_unchanged_through_stdin_and_stdout(box: RunningBox) -> None:
    data = bytes(range(256)) * 16
    ran = await box.run(Command(argv=("cat",), stdin=data))
    assert ran.out.head + ran.out.tail == data


async def test_a_large_stdin_arrives_whole(box: RunningBox) -> None:
    data = os.urandom(1 << 20) * 32
    ran = await box.run(Command(argv=("wc", "-c"), stdin=data))
    assert ran.out.head.strip() == str(len(data)).encode()


async def test_the_two_streams_are_kept_apart(box: RunningBox) -> None:
    ran = await sh(box, "echo one; echo two >&2")
    assert (ran.out.head, ran.err.head) == (b"one\n", b"two\n")


@pytest.mark.parametrize("size", [9_999, 10_000, 10_001])
async def test_output_is_cut_only_above_what_may_be_kept(box: RunningBox, size: int) -> None:
    ran = await sh(box, f"head -c {size} /dev/zero", max_output_bytes=10_000)
    assert ran.out.cut_bytes == max(0, size - 10_000)
    assert len(ran.out.head + ran.out.tail) == min(size, 10_000)


async def test_of_a_gigabyte_the_beginning_and_the_end_are_kept(box: RunningBox) -> None:
    size = 1 << 30
    ran = await sh(box, f"echo begins; head -c {size} /dev/zero; echo ends", max_output_bytes=1000)
    assert ran.out.head.startswith(b"begins\n")
    assert ran.out.tail.endswith(b"ends\n")
    assert len(ran.out.head) + len(ran.out.tail) + ran.out.cut_bytes == size + len(b"begins\nends\n")


async def test_what_is_written_is_heard_while_the_command_runs(box: RunningBox) -> None:
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    command = Command(argv=("/bin/sh", "-c", "echo now; exec sleep 1000"), timeout_s=DEADLINE_S)
    running = asyncio.create_task(box.run(command, (lambda data: heard.done() or heard.set_result(data), lambda _: None)))
    async with asyncio.timeout(DEADLINE_S):
        assert await heard == b"now\n"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_command_whose_listener_has_gone_ends_as_in_any_pipe(box: RunningBox) -> None:
    def gone(_: bytes) -> None:
        raise BrokenPipeError

    async with asyncio.timeout(DEADLINE_S):
        ran = await box.run(Command(argv=("yes",), timeout_s=DEADLINE_S), (gone, gone))
    assert ran.code == 128 + signal.SIGPIPE


# -- ends


@pytest.mark.parametrize(("line", "code"), [("true", 0), ("exit 1", 1), ("exit 77", 77), ("exit 255", 255)])
async def test_exit_codes_are_the_commands_own(box: RunningBox, line: str, code: int) -> None:
    ran = await sh(box, line)
    assert (ran.end, ran.code) == ("exited", code)


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL])
async def test_a_command_that_a_signal_ended_says_so(box: RunningBox, which: signal.Signals) -> None:
    ran = await sh(box, f"kill -{which.name[3:]} $$")
    assert (ran.end, ran.code) == ("signalled", 128 + which)


async def test_a_program_that_is_not_there_is_not_found(box: RunningBox) -> None:
    ran = await box.run(Command(argv=("no-such-program",)))
    assert ran.code == 127
    assert b"no-such-program: No such file" in ran.err.head


async def test_a_file_that_is_no_program_is_not_started(box: RunningBox, workspace: Path) -> None:
    (workspace / "text").write_text("not a program")
    ran = await box.run(Command(argv=("./text",)))
    assert ran.code == 126
    assert b"Permission denied" in ran.err.head


@pytest.mark.parametrize("argv", [("a\0b",), ("",), (), ("\ud800",), ("x" * 5000,), ("echo", "y" * 3_000_000)])
async def test_words_that_no_program_can_get_do_not_harm_the_box(box: RunningBox, argv: tuple[str, ...]) -> None:
    ran = await box.run(Command(argv=argv))
    assert ran.code in (126, 127)
    assert await said(box, "echo fine") == "fine"


@pytest.mark.parametrize("directory", ["no/such/place", "../../nowhere", "/etc/shadow"])
async def test_a_directory_that_cannot_be_entered_is_said(box: RunningBox, directory: str) -> None:
    ran = await box.run(Command(argv=("pwd",), directory=directory))
    assert ran.code == 126
    assert directory.removeprefix("../../").encode() in ran.err.head


async def test_a_command_runs_in_the_directory_that_it_names(box: RunningBox, workspace: Path) -> None:
    (workspace / "below").mkdir()
    assert await said(box, "pwd", directory="below") == f"{box.directory}/below"


async def test_what_is_left_in_the_background_is_named_and_ends_with_its_command(box: RunningBox) -> None:
    ran = await sh(box, "sleep 1000 > /dev/null 2>&1 & echo $!")
    [pid] = pids(ran)
    assert ran.out.head.decode().strip() == pid
    assert await said(box, f"kill -0 {pid} 2>/dev/null || echo gone") == "gone"


async def test_a_job_works_in_the_background_while_its_command_runs(box: RunningBox) -> None:
    line = "mkfifo way; (echo from the job > way) & cat way; wait; rm way"
    assert await said(box, line) == "from the job"


async def test_what_is_left_with_an_open_stream_is_not_waited_for(box: RunningBox) -> None:
    async with asyncio.timeout(DEADLINE_S):
        ran = await sh(box, "echo said; sleep 1000 &", timeout_s=DEADLINE_S * 2)
    assert ran.out.head == b"said\n"


async def test_commands_overlap(box: RunningBox) -> None:
    async with asyncio.timeout(DEADLINE_S):
        first, second = await asyncio.gather(
            sh(box, "mkfifo meet; echo from-first > meet; cat meet"),
            sh(box, "until [ -p meet ]; do :; done; read line < meet; echo $line > seen; echo from-second > meet"),
        )
    assert (first.code, second.code) == (0, 0)
    assert first.out.head == b"from-second\n"
    assert await said(box, "cat seen; rm meet") == "from-first"


async def test_home_and_temporary_files_stay_between_commands(box: RunningBox) -> None:
    await said(box, "echo kept | tee $HOME/kept > /tmp/kept")
    assert await said(box, "cat ~/kept /tmp/kept") == "kept\nkept"


# -- being stopped


async def overdue(box: RunningBox, line: str) -> Ran:
    """One whose time was over when it was at work: with ever more time, until that was enough."""
    for timeout_s in (0.5, 5.0, 50.0):
        ran = await sh(box, line, timeout_s=timeout_s)
        if ran.out.head.startswith(b"at work\n"):
            return ran
    raise AssertionError(f"{line} did not begin")


async def test_a_command_that_takes_too_long_is_interrupted(box: RunningBox) -> None:
    ran = await overdue(box, "trap 'echo interrupted; exit 3' INT; sleep 1000 & echo at work; wait")
    assert (ran.end, ran.code, ran.out.head) == ("timeout", 3, b"at work\ninterrupted\n")


async def test_one_that_does_not_care_is_killed(box: RunningBox) -> None:
    ran = await overdue(box, "trap '' INT TERM; echo at work; while :; do sleep 1000; done")
    assert (ran.end, ran.code) == ("timeout", 128 + signal.SIGKILL)


async def test_with_a_command_its_background_is_stopped_too(box: RunningBox) -> None:
    line = "(setsid sleep 1000 > /dev/null 2>&1 &); (trap '' INT TERM; sleep 1000) & sleep 1000"
    ran = await sh(box, line, timeout_s=0.3)
    assert ran.end == "timeout"
    assert ran.left == ()


async def test_what_another_command_started_is_left_alone(box: RunningBox, workspace: Path) -> None:
    line = "(while [ ! -e end ]; do sleep 0.02; done; echo whole > done) & echo > began; wait; cat done"
    other = asyncio.create_task(said(box, line))
    async with asyncio.timeout(DEADLINE_S):
        while not (workspace / "began").exists():  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.005)
        assert (await sh(box, "sleep 1000 &")).left != ()
        assert (await sh(box, "sleep 1000", timeout_s=0.1)).end == "timeout"
        (workspace / "end").touch()
        assert await other == "whole"


async def test_a_cancelled_command_is_stopped_and_the_box_stays(box: RunningBox, workspace: Path) -> None:
    running = asyncio.create_task(sh(box, "echo $$ > pid; exec sleep 1000"))
    async with asyncio.timeout(DEADLINE_S):
        while not (workspace / "pid").exists() or not (workspace / "pid").read_text().endswith("\n"):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.005)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await said(box, "kill -0 $(cat pid) 2>/dev/null || echo gone") == "gone"


# -- what it costs to stay


async def test_fifty_commands_leave_no_descriptor_and_no_dead_process(box: RunningBox) -> None:
    await said(box, "true")
    before = held()
    for _ in range(50):
        await said(box, "true | true")
    assert_nothing_new(before)
    ran = await sh(box, "cat /proc/[0-9]*/stat | grep -c ' Z '")
    assert (ran.out.head, ran.left) == (b"0\n", ())
