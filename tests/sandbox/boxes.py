"""Boxes for tests: real ones, and programs that are run as somebody else, or where something is missing."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from daimon.abi.box import Command, Limits, Ran, Role
from daimon.sandbox.box import RunningBox, start
from daimon.sandbox.plan import Wanted, has_bwrap

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = Path(__file__).parent / "elsewhere.py"
NOBODY = 12_345
DEADLINE_S = 120.0
FILE_S = 900.0
"""For all tests of a file, one after the other."""
SMALL = Limits(memory_mb=256, processes=64, open_files=128, file_mb=8, disk_mb=24)
WORKER = Role(name="worker", write=(".",), limits=Limits(memory_mb=1024))

needs_bwrap = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else, or mount")


@asynccontextmanager
async def opened(role: Role, workspace: Path, **environment: str) -> AsyncIterator[RunningBox]:
    box = await start(Wanted(role, workspace, environment))
    try:
        yield box
    finally:
        await box.close()


async def sh(box: RunningBox, line: str, **more: Any) -> Ran:
    return await box.run(Command(argv=("/bin/sh", "-c", line), **{"timeout_s": DEADLINE_S, **more}))


async def said(box: RunningBox, line: str, **more: Any) -> str:
    """What a command says that must go well."""
    ran = await sh(box, line, **more)
    assert (ran.end, ran.code) == ("exited", 0), (line, ran)
    return ran.out.head.decode().strip()


def elsewhere(
    argv: list[str], environment: dict[str, str] | None = None, deadline_s: float = DEADLINE_S, **wanted: Any
) -> subprocess.CompletedProcess[bytes]:
    """Runs it as `elsewhere.py` says."""
    shown = [sys.base_prefix, sys.prefix, str(ROOT)]
    words = [sys.executable, "-B", str(ELSEWHERE), json.dumps({"show": shown, **wanted}), *argv]
    own = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    paths = {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        words, cwd=ROOT, env={**own, **paths, **(environment or {})}, capture_output=True, check=False, timeout=deadline_s
    )


@contextmanager
def place_of(uid: int) -> Iterator[Path]:
    """A directory that belongs to somebody, on a path that is open to all."""
    with tempfile.TemporaryDirectory(prefix="daimon-box-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        own = Path(name, "own")
        own.mkdir()
        if os.getuid() == 0:
            os.chown(own, uid, uid)
        yield own


def box_processes(holder: int) -> set[int]:
    """All below a process, itself included."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, before = {holder}, 0
    while len(found) != before:
        before = len(found)
        found |= {child for child, parent in parents.items() if parent in found}
    return found


def held() -> tuple[set[str], set[str]]:
    """Mounts and descriptors of this process. What nobody reaches any more, whoever left it, is gone first."""
    gc.collect()
    return set(Path("/proc/self/mounts").read_text().splitlines()), set(os.listdir("/proc/self/fd"))


def assert_nothing_new(before: tuple[set[str], set[str]]) -> None:
    for then, now in zip(before, held(), strict=True):
        assert now <= then


async def all_gone(pids: set[int]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while any(is_running(pid) for pid in pids):  # noqa: ASYNC110 - they are other people's children
            await asyncio.sleep(0.005)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def passes_as_nobody(tests: Path) -> None:
    """What a file of tests holds for root, it holds for an ordinary user."""
    with place_of(NOBODY) as place:
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", f"{place}/tests"]
        done = elsewhere([*words, str(tests.relative_to(ROOT))], {"HOME": str(place)}, FILE_S, uid=NOBODY)
    last = done.stdout.decode(errors="replace")
    assert done.returncode == 0, f"{last[-6000:]}{done.stderr.decode(errors='replace')[-2000:]}"
    assert " passed" in last
