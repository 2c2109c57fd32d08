"""Kills a backup, or a restore, at many moments: killed.py backup|restore PLACE. After each, what must hold is looked at.

A hook of the interpreter counts what is done to files, and ends the process before the n-th of them, as a power cut would.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from tests.backup.furnished import furnish

from daimon.abi.errors import DaimonError
from daimon.backup import making, restore
from daimon.backup.inventory import SCRATCH
from daimon.machine.home import Home
from daimon.testing.clock import ManualClock

EVENTS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown"})
POINTS = 8
CLOCK = ManualClock()


def main(what: str, place: Path) -> None:
    home = asyncio.run(furnish(place / "home")).home
    file = place / "good.tar.gz"
    making.make(home, file, CLOCK)
    home.config.write_text("# newer\n")
    {"backup": killed_backups, "restore": killed_restores}[what](place, home, file)


def killed_backups(place: Path, home: Home, good: Path) -> None:
    before = restore.examine(good)
    to = place / "new.tar.gz"
    for point in points(lambda: making.make(home, place / "counted.tar.gz", CLOCK)):
        is_dead = dies(lambda: making.make(home, to, CLOCK), point)
        assert is_dead or to.exists(), point
        if to.exists():
            making.prove(to, place / "scratch")
        making.make(home, place / f"after-{point}.tar.gz", CLOCK)
        assert not (home.path / SCRATCH).exists(), point
        assert len(restore.examine(place / f"after-{point}.tar.gz").entries) == len(before.entries), point
        for path in (to, place / f"after-{point}.tar.gz"):
            path.unlink(missing_ok=True)
    left = sorted(path.name for path in place.iterdir())
    assert left == ["counted.tar.gz", "good.tar.gz", "home"], left


def killed_restores(place: Path, home: Home, good: Path) -> None:
    spare = place / "spare"
    asyncio.run(furnish(spare))
    new = "Ada"
    for point in points(lambda: restore.restore(good, Home(spare), CLOCK, may_replace=True)):
        home.config.write_text("# old\n")
        is_dead = dies(lambda: restore.restore(good, home, CLOCK, may_replace=True), point)
        text = home.config.read_text()
        assert text == "# old\n" or new in text, point
        assert home.journal.exists(), point
        homes = [
            path / "daimon.toml" for path in place.iterdir() if path.name.startswith("home") and not (path / "restore.unfinished").exists()
        ]
        old = [path for path in homes if path.exists() and path.read_text() == "# old\n"]
        assert len(old) == 1, (point, is_dead, homes)
        restore.restore(good, home, CLOCK, may_replace=True)
        assert new in home.config.read_text()
        for path in old:
            if path.exists() and path != home.config:
                path.write_text("# of a round before\n")
        for path in place.glob("home.before-restore-*/daimon.toml"):
            path.write_text("# of a round before\n")


def points(whole: Callable[[], object]) -> list[int]:
    """Some of all the moments, the last ones each: there names change."""
    counted = [0]
    armed = [True]

    def count(event: str, arguments: object) -> None:
        if armed[0] and event in EVENTS:
            counted[0] += 1

    sys.addaudithook(count)
    whole()
    armed[0] = False
    total = counted[0]
    return sorted({*range(1, total + 1, max(1, total // POINTS)), *range(total - 5, total + 2)})


def dies(work: Callable[[], object], point: int) -> bool:
    pid = os.fork()
    if pid == 0:
        left = [point]

        def end(event: str, arguments: object) -> None:
            if event in EVENTS:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(end)
        code = 0
        try:
            work()
        except DaimonError as failed:
            sys.stderr.write(f"{failed}\n")
            code = 1
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert status in (0, signal.SIGKILL), status
    return status != 0


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
