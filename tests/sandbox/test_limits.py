"""What a box may take. The kernel keeps it by control groups where there are any, by resource limits and a watcher where there are none."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox.boxes import DEADLINE_S, SMALL, needs_bwrap, opened, said, sh

from daimon.abi.box import Limits, Role
from daimon.sandbox.box import RunningBox

pytestmark = needs_bwrap
ROLE = Role(name="small", write=(".",), limits=SMALL)
MB = 1 << 20


@pytest.fixture(scope="module")
async def small(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningBox]:
    async with opened(ROLE, tmp_path_factory.mktemp("small")) as box:
        yield box


async def python(box: RunningBox, program: str, **more: object) -> tuple[str, int, str]:
    ran = await sh(box, "exec python3 -", stdin=program.encode(), **more)
    return ran.end, ran.code, (ran.out.head + ran.err.tail + ran.err.head).decode()


async def usable(box: RunningBox) -> None:
    """Once the watcher has looked, nothing of what ran is left."""
    async with asyncio.timeout(DEADLINE_S):
        while (ran := await sh(box, "true | true")).left or ran.code:
            pass
    assert await said(box, "echo on") == "on"


async def test_work_within_the_limits_is_left_alone(small: RunningBox) -> None:
    assert await python(small, f"x = bytearray({128 * MB}); print(len(x))") == ("exited", 0, f"{128 * MB}\n")
    assert await said(small, "head -c 4000000 /dev/zero > four && wc -c < four && rm four") == "4000000"


async def test_one_process_cannot_take_more_memory(small: RunningBox) -> None:
    end, code, _ = await python(small, f"x = []\nwhile True: x.append(b'x' * {MB})")
    assert (end, code) == ("memory", 137)
    assert await said(small, "echo on") == "on"


async def test_many_processes_cannot_take_more_memory_together(small: RunningBox) -> None:
    program = f"""
import os, sys, time
for _ in range(8):
    if os.fork() == 0:
        x = b'x' * {60 * MB}
        time.sleep(1000)
try:
    while True: os.wait()
except ChildProcessError:
    sys.exit(9)
"""
    end, code, _ = await python(small, program)
    assert (end, code) == ("memory", 137)


async def test_shared_memory_counts_too(small: RunningBox) -> None:
    program = f"import mmap\nm = mmap.mmap(-1, {600 * MB})\nfor i in range(0, len(m), 4096): m[i] = 1"
    end, code, _ = await python(small, program)
    assert (end, code) == ("memory", 137)


async def test_what_processes_share_counts_once(small: RunningBox) -> None:
    program = f"""
import mmap, os, time
m = mmap.mmap(-1, {64 * MB})
def touch():
    for i in range(0, len(m), 4096): m[i] = 1
touch()
ready, go = os.pipe(), os.pipe()
for _ in range(8):
    if os.fork() == 0:
        touch()
        os.write(ready[1], b'1')
        os.read(go[0], 1)
        os._exit(0)
for _ in range(8): os.read(ready[0], 1)
time.sleep(0.2)  # several looks
os.write(go[1], b'1' * 8)
print('all')
"""
    assert await python(small, program) == ("exited", 0, "all\n")


async def test_files_in_memory_count_and_can_be_removed_again(small: RunningBox) -> None:
    ran = await sh(small, "for n in $(seq 100); do head -c 4000000 /dev/zero > /tmp/f$n || exit 5; done")
    assert ran.code == 5
    assert b"No space left" in ran.err.head
    assert await said(small, "rm /tmp/f*; head -c 4000000 /dev/zero > /tmp/again; wc -c < /tmp/again; rm /tmp/again") == "4000000"


async def test_one_file_cannot_become_too_large(small: RunningBox) -> None:
    ran = await sh(small, "head -c 20000000 /dev/zero > large")
    assert ran.code != 0
    assert await said(small, "wc -c < large; rm large") == str(SMALL.file_mb * MB)


async def test_many_small_files_cannot_fill_the_disk_and_can_be_removed(small: RunningBox) -> None:
    line = "n=0; mkdir many; while :; do n=$((n+1)); head -c 1000000 /dev/zero > many/$n || exit 5; done"
    ran = await sh(small, line)
    assert (ran.end, ran.left) == ("disk", ())
    assert await said(small, "du -sm many | cut -f1; rm -r many; echo removed") != ""
    assert await said(small, "head -c 2000000 /dev/zero > two; wc -c < two; rm two") == "2000000"


async def test_many_empty_files_cannot_fill_the_disk(small: RunningBox) -> None:
    program = "import os\nos.mkdir('empty')\nn = 0\nwhile True:\n    n += 1\n    open(f'empty/{n}', 'w').close()"
    if os.statvfs("/tmp").f_files == 0:
        pytest.skip("this file system does not count its files")
    end, _, _ = await python(small, program)
    assert end == "disk"
    assert await said(small, "rm -r empty; echo removed") == "removed"


async def test_the_box_survives_a_bomb_of_processes(small: RunningBox) -> None:
    ran = await sh(small, "b() { b & b & wait; }; b")
    assert ran.end == "processes" or b"Cannot fork" in ran.err.head
    await usable(small)


async def test_a_bomb_that_outlives_its_command_is_swept(small: RunningBox) -> None:
    await sh(small, "b() { b & b & wait; }; (setsid sh -c 'b() { b & b & wait; }; b' > /dev/null 2>&1 &); exit 0")
    await usable(small)


async def test_open_files_are_limited(small: RunningBox) -> None:
    end, code, text = await python(small, "x = []\nwhile True: x.append(open('/dev/null'))")
    assert (end, code) == ("exited", 1)
    assert "Too many open files" in text


async def test_a_process_that_only_computes_is_ended(tmp_path: Path) -> None:
    async with opened(replace(ROLE, limits=replace(SMALL, cpu_s=1)), tmp_path) as box:
        ran = await sh(box, "while :; do :; done")
    assert ran.end == "signalled"


async def test_threads_count_as_processes(small: RunningBox) -> None:
    program = """
import threading
go = threading.Event()
try:
    for n in range(1000): threading.Thread(target=go.wait, daemon=True).start()
except RuntimeError:
    print('no more')
go.set()
"""
    end, _, text = await python(small, program)
    assert end == "processes" or text == "no more\n"
    assert await said(small, "echo on") == "on"


def test_files_in_memory_leave_room_for_what_runs(tmp_path: Path) -> None:
    from daimon.sandbox.plan import Wanted, spec_of

    for limits in (Limits(), SMALL, Limits(memory_mb=64)):
        scratch = spec_of(Wanted(replace(ROLE, limits=limits), tmp_path, {})).scratch
        assert scratch["/tmp"] * 3 < limits.memory_mb * MB
