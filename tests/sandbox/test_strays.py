"""What a command left behind on the sly goes with it when its time is over; and when it ends by itself. Files without a
name count.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from daimon.abi.box import Command, Limits, Ran, Role
from daimon.sandbox.box import RunningBox, start
from daimon.sandbox.plan import Wanted, has_bwrap

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
WRITER = Role(name="writer", write=(".",), limits=Limits(memory_mb=256, file_mb=64, disk_mb=64))
STRAY = "(env -i setsid sleep 1000 >/dev/null 2>&1 </dev/null &)"
NAMELESS = """
import os, time
kept = []
for _ in range({files}):
    kept.append(os.open("x", os.O_CREAT | os.O_RDWR))
    os.unlink("x")
    os.posix_fallocate(kept[-1], 0, 8 << 20)
time.sleep({then_s})
"""


@asynccontextmanager
async def opened(workspace: Path) -> AsyncIterator[RunningBox]:
    box = await start(Wanted(WRITER, workspace, {}))
    try:
        yield box
    finally:
        await box.close()


async def sh(box: RunningBox, line: str, timeout_s: float = 60.0) -> Ran:
    return await box.run(Command(argv=("/bin/sh", "-c", line), timeout_s=timeout_s))


async def test_a_daemon_that_took_its_mark_off_does_not_outlive_its_command_s_time(tmp_path: Path) -> None:
    async with opened(tmp_path) as box:
        ran = await sh(box, f"{STRAY}; sleep 1000", 0.5)
        assert (ran.end, ran.left) == ("timeout", ())


async def test_a_daemon_that_took_its_mark_off_ends_with_its_command(tmp_path: Path) -> None:
    async with opened(tmp_path) as box:
        assert len((await sh(box, STRAY)).left) == 1
        assert (await sh(box, "true")).left == ()


async def test_files_without_a_name_count_towards_the_disk(tmp_path: Path) -> None:
    async with opened(tmp_path) as box:
        ran = await box.run(Command(argv=("python3", "-c", NAMELESS.format(files=40, then_s=1000)), timeout_s=60.0))
        assert ran.end == "disk"


async def test_one_file_without_a_name_is_fine(tmp_path: Path) -> None:
    async with opened(tmp_path) as box:
        ran = await box.run(Command(argv=("python3", "-c", NAMELESS.format(files=2, then_s=0.2)), timeout_s=60.0))
        assert (ran.end, ran.code) == ("exited", 0)
