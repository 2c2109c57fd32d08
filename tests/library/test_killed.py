"""A process that ends at any change of the disk leaves the old state or the new one."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.library.killed import NAME, brought

from daimon.library.library import Library, open_library
from daimon.machine.clock import SystemClock
from daimon.skills.bundle import version_of

ROOT = Path(__file__).parents[2]
DEADLINE_S = 120
VERSIONS = {version_of(brought(body).bundle): body for body in ("first", "second")}


def killed(place: Path) -> int:
    """How many points there are."""
    places = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    command = [sys.executable, str(Path(__file__).with_name("killed.py")), str(place)]
    done = subprocess.run(command, env=places, cwd=place, timeout=DEADLINE_S, check=True, capture_output=True, text=True)
    return int(done.stdout)


async def state_of(home: Path) -> str:
    library = await open_library(home, SystemClock())
    if not library.all():
        left(home, ())
        return "none"
    (held,) = library.all()
    assert (held.state, library.warnings) == ("ready", ())
    assert (await library.read(NAME))[1] == VERSIONS[held.version]
    left(home, (held.version,))
    await goes_on(library)
    return VERSIONS[held.version]


def left(home: Path, versions: tuple[str, ...]) -> None:
    """Nothing lies about."""
    assert {path.name for path in home.iterdir()} <= {"index.json", *([NAME] if versions else [])}
    assert [path.name for path in (home / NAME).iterdir()] == list(versions) if versions else True


async def goes_on(library: Library) -> None:
    assert (await library.put(brought("second"), is_approved=True)).state == "ready"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """In memory where that can be: nobody pulls a plug here, and forcing hundreds of files to a disk takes long."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made:
        yield Path(made)


async def test_a_kill_at_any_change_of_the_disk_leaves_the_old_state_or_the_new_one(place: Path) -> None:
    count = killed(place)
    seen = [await state_of(place / str(n)) for n in range(1, count + 1)]
    assert [state for n, state in enumerate(seen) if n == 0 or seen[n - 1] != state] == ["first", "second", "none"]
    assert count > 20
