"""A shell that stays: what of one command the next one finds, and how commands end. In real boxes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.boxes import needs_bwrap
from tests.sandbox.terminal.shells import DEADLINE_S, Shell, shell, until

from daimon.abi.errors import ToolFailed
from daimon.sandbox.box import RunningBox
from daimon.sandbox.terminal.printing import Printing

pytestmark = needs_bwrap


@pytest.fixture
async def sh(box: RunningBox, tmp_path: Path) -> AsyncIterator[Shell]:
    async with shell(box, tmp_path) as opened_shell:
        yield opened_shell


async def test_what_a_command_sets_the_next_one_finds(sh: Shell) -> None:
    await sh.says("mkdir -p deep/er; cd deep/er; export A=1; B=two; f() { echo \"f$1\"; }; alias hi='echo hello'; declare -A m=([k]=v)")
    assert await sh.says("echo $A $B ${m[k]} $AGENT_ID $AGENT_TASK; f 3; hi; basename $PWD") == "1 two v self t1\nf3\nhello\ner"
    assert sh.session.directory.endswith("/deep/er")


async def test_a_command_s_end_is_told_as_a_shell_tells_it(sh: Shell) -> None:
    for text, code in (("false", 1), ("(exit 77)", 77), ("nothing-like-this", 127), ("kill -9 $BASHPID & wait $!", 137)):
        finish, _ = await sh.run(text)
        assert (finish.end, finish.code) == ("exited", code)


@pytest.mark.parametrize(
    "text",
    ["echo 'never closed", 'echo "never closed', "if true; then", "x=$(echo", "echo a; echo )", "for", "break", "return 3", "((", "{"],
)
async def test_what_is_unfinished_is_an_error_and_not_a_wait(sh: Shell, text: str) -> None:
    finish, printed = await sh.run(text)
    assert finish.end == "exited"
    assert printed
    assert await sh.says("echo on") == "on"


async def test_a_here_document_is_read_even_when_its_end_is_missing(sh: Shell) -> None:
    assert await sh.says("cat <<X\none\n'two\nX\necho three") == "one\n'two\nthree"
    _, printed = await sh.run("cat <<X\nlost")
    assert "lost" in printed
    assert await sh.says("echo on") == "on"


async def test_a_command_of_two_hundred_kilobytes_is_run(sh: Shell) -> None:
    assert await sh.says(f"x={'a' * 200_000}; echo ${{#x}}") == "200000"


async def test_a_zero_byte_is_refused_with_the_reason(sh: Shell) -> None:
    with pytest.raises(ToolFailed, match="zero byte"):
        await sh.session.run("echo \0", 10.0, Printing.nowhere())
    assert await sh.says("echo on") == "on"


async def test_a_command_that_takes_too_long_is_interrupted_and_the_shell_stays(sh: Shell) -> None:
    await sh.says("KEPT=yes")
    for text in ("sleep 1000", "while :; do sleep 1; done", "while :; do :; done", "cat", "python3 -c 'input()'"):
        finish, _ = await sh.run(text, 0.3)
        assert finish.end == "timeout"
        assert await sh.says("echo $KEPT") == "yes"


async def test_a_program_that_ignores_every_polite_signal_is_ended_with_all_it_started(sh: Shell) -> None:
    stubborn = "trap '' INT TERM HUP; sleep 1000 & sleep 1001 & while :; do sleep 1; done"
    await sh.says("KEPT=yes")
    finish, _ = await sh.run(f'sh -c "{stubborn}"', 0.3)
    assert finish.end == "timeout"
    assert await sh.session.jobs() == ()
    assert await sh.says("echo $KEPT") == "yes"


async def test_a_shell_that_ignores_interrupts_itself_is_ended_when_time_is_over(sh: Shell) -> None:
    finish, _ = await sh.run("trap '' INT; while :; do :; done", 2.0)
    assert finish.end == "timeout"
    assert not sh.session.is_alive


async def test_background_jobs_go_on_after_their_command_and_can_be_stopped(sh: Shell) -> None:
    await sh.says("sleep 1000 & sleep 1001 &")
    await until(lambda: sh.has_running("sleep 1000", "sleep 1001"))
    jobs = await sh.session.jobs()
    assert all(job.age_s < DEADLINE_S for job in jobs)
    first = next(job for job in jobs if job.line == "sleep 1000")
    assert await sh.session.stop(first.pid)
    assert [job.line for job in await sh.session.jobs()] == ["sleep 1001"]


async def test_what_is_no_job_of_the_shell_is_not_stopped(sh: Shell, box: RunningBox, tmp_path: Path) -> None:
    async with shell(box, tmp_path) as other:
        await other.says("sleep 1000 &")
        [theirs] = await other.session.jobs()
        await sh.session.stop(theirs.pid)
        await sh.session.stop(1)
        assert [job.pid for job in await other.session.jobs()] == [theirs.pid]


async def test_a_time_out_ends_what_the_command_hid_and_not_what_an_earlier_one_left(sh: Shell) -> None:
    await sh.says("sleep 1000 & sleep 0.03")  # births are counted in hundredths of a second
    await until(lambda: sh.has_running("sleep 1000"))
    await sh.run("(env -i setsid sleep 1001 >/dev/null 2>&1 &); setsid sleep 1002 & sleep 1003", 0.5)
    assert [job.line for job in await sh.session.jobs()] == ["sleep 1000"]


async def test_a_program_is_typed_to_while_it_runs(sh: Shell) -> None:
    running = asyncio.create_task(sh.run("python3 -q -i -c ''"))
    await until(lambda: sh.has_printed(b">>>"))
    await sh.session.type(b"print(6 * 7)\n")
    await until(lambda: sh.has_printed(b"42"))
    await sh.session.type(b"exit(3)\n")
    finish, _ = await running
    assert finish.code == 3


async def test_while_one_command_runs_another_is_refused(sh: Shell) -> None:
    running = asyncio.create_task(sh.run("echo begun; cat"))
    await until(lambda: sh.has_printed(b"begun"))
    with pytest.raises(ToolFailed, match="a command runs in this terminal"):
        await sh.session.run("true", 10.0, Printing.nowhere())
    await sh.session.type(b"\x04")
    assert (await running)[0].code == 0


# -- a busy machine


SLOW = "trap '[[ $BASH_COMMAND != *{line}* ]] || sleep {seconds}' DEBUG"
"""A line of our own takes that long, as where others have all of the processor."""
MARK, REPORT = "x02", "$PWD"


async def test_marks_that_come_late_are_in_nobody_s_output(sh: Shell) -> None:
    await sh.says(SLOW.format(line=MARK, seconds=0.8))
    await sh.session.leave()
    await sh.session.enter()
    assert await sh.says("trap - DEBUG; echo on") == "on"
    await sh.says("true")
    assert sh.session.meanwhile() == b""


async def test_the_end_of_what_took_too_long_is_not_taken_for_that_of_the_next_command(sh: Shell) -> None:
    await sh.says("mkdir -p slow; cd slow")
    await sh.run(SLOW.format(line=f"\\{REPORT}", seconds=4))
    await sh.session.leave()
    finish, printed = await sh.run("trap - DEBUG; echo on; (exit 7)")
    assert (finish.end, finish.code, printed) == ("exited", 7, "on\n")
    assert sh.session.directory == "/"


@pytest.mark.parametrize("text", ["while :; do :; done", "sleep 1000"])
async def test_time_that_is_over_before_the_shell_has_read_the_command_does_not_cost_the_shell(sh: Shell, text: str) -> None:
    await sh.says("KEPT=yes")
    for _ in range(3):
        finish, _ = await sh.run(text, 0.0)
        assert finish.end == "timeout"
        assert await sh.says("echo $KEPT") == "yes"
