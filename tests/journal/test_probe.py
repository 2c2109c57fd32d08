"""Whether the journal can be written is asked of a real file, on a disk that is really full."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.journal.world import PROCESS_S, opened

from daimon.abi.errors import JournalFailed

DEADLINE_S = 60.0
UNSHARED = ("unshare", "--map-root-user", "--mount")
ON_A_FULL_DISK = """
import asyncio, json, os, subprocess, sys
from pathlib import Path
from tests.journal.world import event, opened
from daimon.abi.errors import JournalFull
from daimon.abi.event import Said
from daimon.abi.message import Text

async def is_full(journal):
    try:
        await journal.probe()
    except JournalFull:
        return True
    return False

async def main(home):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(home)], check=True)
    async with opened(home / "journal.db") as journal:
        seen = [await is_full(journal)]
        with open(home / "ballast", "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                pass
        for n in range(2_000):
            try:
                await journal.accept(event(f"k{n}", Said((Text(os.urandom(2_000).hex()),))))
            except JournalFull:
                break
        commits = journal.commits
        seen += [await is_full(journal), journal.commits == commits]
        (home / "ballast").unlink()
        seen += [await is_full(journal), await is_full(journal), journal.stopped.done()]
    print(json.dumps(seen))

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_a_living_journal_answers_without_a_write_and_a_closed_one_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal, asyncio.timeout(DEADLINE_S):
        await journal.probe()
        assert journal.commits == 0
    with pytest.raises(JournalFailed):
        await journal.probe()


def test_a_full_disk_is_noticed_and_so_is_that_there_is_room_again(tmp_path: Path) -> None:
    tried = [*UNSHARED, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("needs a mount namespace of its own")
    done = subprocess.run(
        [*UNSHARED, sys.executable, "-c", ON_A_FULL_DISK, str(tmp_path)],
        capture_output=True, text=True, timeout=PROCESS_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [False, True, True, False, False, False]
