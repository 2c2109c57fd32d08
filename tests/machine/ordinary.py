"""Processes of an ordinary user, where the tests run as root: a Python that such a user may start, with what Daimon needs on its path.

The interpreter of the tests may be root's alone; then the system's serves, if it has the same version, as compiled packages fit no other.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
UID = 12345
DEADLINE_S = 120.0
PATHS = os.pathsep.join([str(SRC), sysconfig.get_path("purelib")])
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
PROBE = f"import sys, daimon.boot; sys.exit('%d.%d' % sys.version_info[:2] != '{VERSION}')"

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start processes of other users")


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DAIMON_")}
    return {**kept, "PYTHONPATH": PATHS, "PYTHONUNBUFFERED": "1", "TERM": "dumb", **more}


def python() -> str:
    """An interpreter that everybody may start and that can run a gateway. Skips where there is none."""
    for candidate in (os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
        command = [candidate, "-P", "-c", PROBE]
        try:
            done = subprocess.run(
                command,
                env=environment(),
                user=UID,
                group=UID,
                extra_groups=[],
                cwd="/",
                capture_output=True,
                timeout=DEADLINE_S,
                check=False,
            )
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    pytest.skip(f"no Python {VERSION} that an ordinary user may start with these packages")


@contextmanager
def directory_of(uid: int) -> Iterator[Path]:
    """A directory that this user owns and can get to, which one of pytest's is not."""
    with tempfile.TemporaryDirectory(prefix="daimon-user-") as made:
        place = Path(made).resolve()
        place.chmod(0o755)
        os.chown(place, uid, uid)
        yield place
