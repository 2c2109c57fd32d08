"""What programs do to their terminal, out of malice or by accident: the gateway never hangs, and the next command has a shell."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.boxes import SMALL, needs_bwrap, opened
from tests.sandbox.terminal.shells import DEADLINE_S, Shell, shell, until

from daimon.abi.box import Command, Role
from daimon.abi.errors import ToolFailed
from daimon.sandbox.box import RunningBox
from daimon.sandbox.terminal.session import Session
from daimon.sandbox.terminal.state import State

pytestmark = needs_bwrap
FAKE = "for fd in $(ls /proc/$PPID/fd 2>/dev/null) 3 4 5 6 7 8 9; do printf 'end 0 /\\0token end 0 /evil\\0' >&$fd; done 2>/dev/null"


@pytest.fixture
async def sh(box: RunningBox, tmp_path: Path) -> AsyncIterator[Shell]:
    async with shell(box, tmp_path) as opened_shell:
        yield opened_shell


@pytest.mark.parametrize("text", ["exit 3", "exec true", "set -e; false; echo never", "kill -9 $$", "exec 0</dev/null; kill -HUP $$"])
async def test_a_shell_that_ends_is_an_answer(sh: Shell, text: str) -> None:
    finish, printed = await sh.run(text)
    assert finish.end == "shell ended"
    assert finish.why
    assert "never" not in printed
    assert not sh.session.is_alive


async def test_a_program_in_the_place_of_the_shell_ends_when_its_time_is_over(sh: Shell) -> None:
    finish, _ = await sh.run("exec sleep 1000", 2.0)
    assert finish.end == "timeout"
    assert not sh.session.is_alive


async def test_a_shell_that_stops_itself_ends_when_its_time_is_over(sh: Shell) -> None:
    finish, _ = await sh.run("kill -STOP $$; echo on", 0.3)
    assert finish.end == "timeout"


@pytest.mark.parametrize(
    "text",
    [
        "exec 8>&- 9>&-; true",
        "stty raw -echo; printf done",
        "stty -isig -icanon; printf '\\x13\\x1b[?1049h\\x1b]0;title'",
        "printf '\\x0e\\x1bc\\x00\\xff\\xfe\\x01\\x02'",
        "head -c 300000 /dev/urandom",
        FAKE,
        "PS1='$(sleep 1000)'; PROMPT_COMMAND=false; true",
        "set -x; set -v; true",
        "set -u; set -o noclobber; IFS=x; true",
        "alias builtin=false eval=false; true",
        "trap 'echo debug' DEBUG; trap 'echo err' ERR; trap 'echo int' INT",
        "cat /proc/self/fd/0 < /dev/null; ulimit -n 20",
        "printf() { :; }; eval() { command false; }; cd() { :; }; true",
    ],
)
async def test_a_terminal_that_was_left_in_disorder_serves_the_next_command(sh: Shell, text: str) -> None:
    await sh.run(text, 2.0)
    finish, printed = await sh.run("\\builtin echo on")
    assert finish.end == "exited"
    assert "on" in printed
    assert not sh.session.directory.startswith("/evil")


async def test_a_flow_that_was_stopped_flows_again(sh: Shell) -> None:
    running = asyncio.create_task(sh.run("echo begun; sleep 1000", 3.0))
    await until(lambda: sh.has_printed(b"begun"))
    await sh.session.type(b"\x13")
    assert (await running)[0].end == "timeout"
    assert await sh.says("echo on") == "on"


async def test_a_flood_is_kept_at_both_ends_and_counted(sh: Shell) -> None:
    finish, printed = await sh.run("echo first; yes | head -c 100000000; echo last", 600.0)
    assert finish.code == 0
    assert printed.startswith("first\n")
    assert printed.endswith("last\n")
    assert "100,000,011 bytes in all" in printed
    assert sh.kept.read("o1", -5, 5).data == b"last\n"
    assert sh.kept.read("o1", 0, 5).missing > 30_000_000


async def test_a_flood_in_the_background_does_not_hold_up_the_next_command(sh: Shell) -> None:
    await sh.says("yes &")
    finish, _ = await sh.run("true")
    assert (finish.end, finish.code) == ("exited", 0)


async def test_typing_to_somebody_who_does_not_read_is_an_error_and_not_a_wait(sh: Shell) -> None:
    running = asyncio.create_task(sh.run("stty raw; echo begun; sleep 1000", DEADLINE_S))
    await until(lambda: sh.has_printed(b"begun"))
    with pytest.raises(ToolFailed, match="does not read"):
        await sh.session.type(b"\xff\x00garbage" * 100_000)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await sh.says("echo on") == "on"


async def test_a_fork_bomb_in_the_background_ends_with_the_box_s_limits_and_a_new_shell_begins(tmp_path: Path) -> None:
    role = Role(name="small", write=(".",), limits=SMALL)
    async with opened(role, tmp_path) as box:
        async with shell(box, tmp_path) as sh:
            finish, _ = await sh.run("bomb() { bomb | bomb & }; bomb; sleep 1000", 20.0)
            assert finish.end in ("processes", "timeout", "shell ended", "exited")

        async def is_quiet() -> bool:
            return (await box.run(Command(argv=("true",)))).end == "exited"

        await until(is_quiet)
        async with shell(box, tmp_path) as sh:
            assert await sh.says("echo on") == "on"


async def test_without_bash_the_reason_is_said(tmp_path: Path) -> None:
    role = Role(name="narrow", write=(".",), commands=("sh", "true"))
    async with opened(role, tmp_path) as box:
        with pytest.raises(ToolFailed, match="terminals need bash"):
            await Session.begin(box, {}, State())


async def test_commands_beside_a_terminal_still_end_what_they_leave(sh: Shell, box: RunningBox) -> None:
    await sh.says("sleep 1000 & (env -i setsid sleep 1001 >/dev/null 2>&1 &)")
    await until(lambda: sh.has_running("sleep 1000", "sleep 1001"))
    ran = await box.run(Command(argv=("/bin/sh", "-c", "sleep 1002 >/dev/null 2>&1 & (env -i setsid sleep 1003 >/dev/null 2>&1 &)")))
    assert len(ran.left) == 2
    assert sorted(job.line for job in await sh.session.jobs()) == ["sleep 1000", "sleep 1001"]
    assert box.is_alive


async def test_a_thief_of_commands_costs_the_shell_and_nobody_waits(sh: Shell) -> None:
    await sh.run("cat /proc/$$/fd/0 >/dev/null & sleep 0.1", 2.0)
    for _ in range(3):
        if sh.session.is_alive:
            await sh.run("true", 1.0)


async def test_reports_without_end_do_not_hold_up_the_gateway(sh: Shell) -> None:
    finish, _ = await sh.run("cat /dev/zero > /proc/$$/fd/9 & tr '\\0' x < /dev/zero > /proc/$$/fd/9 & sleep 0.3", 5.0)
    assert finish.end in ("exited", "timeout")
    finish, _ = await sh.run("kill %1 %2; true", 5.0)
    assert finish.end in ("exited", "timeout", "shell ended")
