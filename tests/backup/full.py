"""Makes and restores backups on disks that are too small: full.py PLACE. In a mount namespace of its own."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.backup.furnished import furnish

from daimon.abi.errors import NoSpace
from daimon.backup import making, restore
from daimon.backup.inventory import SCRATCH
from daimon.machine.home import Home
from daimon.testing.clock import ManualClock

CLOCK = ManualClock()


def main(top: Path) -> None:
    home = asyncio.run(furnish(top / "home")).home
    good = making.make(home, top / "good.tar.gz", CLOCK).path
    disk = mounted(top / "disk", "120m")
    too_small = mounted(top / "small", "8m")
    with pytest.raises(NoSpace, match=r"has .* MB free"):
        making.make(home, too_small / "b.tar.gz", CLOCK)
    assert list(too_small.iterdir()) == []
    with pytest.raises(NoSpace, match=r"has .* MB free"):
        restore.restore(good, Home(too_small / "there"), CLOCK)
    assert list(too_small.iterdir()) == []
    the_disk_becomes_full(home, disk)
    making.make(home, disk / "b.tar.gz", CLOCK)


def the_disk_becomes_full(home: Home, disk: Path) -> None:
    """After the estimate: somebody else takes the room meanwhile."""

    def take(event: str, arguments: tuple[object, ...]) -> None:
        if armed[0] and event == "open" and str(arguments[0]).endswith(".part"):
            armed[0] = False
            with (disk / "ballast").open("wb") as file:
                free = os.statvfs(disk)
                file.write(bytes(free.f_bavail * free.f_frsize - (1 << 20)))

    armed = [True]
    sys.addaudithook(take)
    with pytest.raises(NoSpace, match="became full"):
        making.make(home, disk / "b.tar.gz", CLOCK)
    assert [path.name for path in disk.iterdir()] == ["ballast"]
    assert not (home.path / SCRATCH).exists()
    (disk / "ballast").unlink()


def mounted(path: Path, size: str) -> Path:
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(path)], check=True)
    return path


if __name__ == "__main__":
    main(Path(sys.argv[1]))
