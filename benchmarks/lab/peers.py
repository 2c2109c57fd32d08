"""Environments of what Daimon is compared with or measured by, at pinned versions, in a directory of the user's cache and nowhere else.

Made once by uv, one for each lock. A stamp is written last, so that a half-made one is made again.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from lab.process import CHECKOUT

PEERS = Path(__file__).with_name("peers.lock")
DOJO = Path(__file__).with_name("dojo.lock")


class Missing(Exception):
    """There can be no such environment here, and why."""


def python(lock: Path = PEERS) -> str:
    """The interpreter of the environment. Raises Missing."""
    return str(_place(lock) / "bin" / "python")


def packages(lock: Path) -> Path:
    """Where the environment keeps its packages. Raises Missing."""
    return next(_place(lock).glob("lib/python*/site-packages"))


def _place(lock: Path) -> Path:
    pins = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "daimon-bench" / f"{lock.stem}-{pins}"
    if not (place / "stamp").exists():
        _make(place, lock)
    return place


def _make(place: Path, lock: Path) -> None:
    uv = next(filter(None, (os.environ.get("DAIMON_UV"), shutil.which("uv"), shutil.which(str(CHECKOUT / ".tools" / "bin" / "uv")))), None)
    if uv is None:
        raise Missing("there is no uv")
    print(f"making {place} with {lock.name} (once)", file=sys.stderr, flush=True)
    shutil.rmtree(place, ignore_errors=True)
    for command in (
        [uv, "venv", "--quiet", "--no-project", "--python", sys.executable, str(place)],
        [uv, "pip", "sync", "--quiet", "--python", str(place / "bin" / "python"), "--require-hashes", "--no-build", str(lock)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing((done.stderr.strip().splitlines() or ["uv failed"])[-1])
    (place / "stamp").touch()
