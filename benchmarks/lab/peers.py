"""The environment of the peers: what Daimon is compared with, at pinned versions, in a directory of the user's cache and nowhere else.

Made once by uv. A stamp is written last, so that a half-made one is made again.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from lab.process import CHECKOUT

LOCK = Path(__file__).with_name("peers.lock")


class Missing(Exception):
    """There can be no such environment here, and why."""


def python() -> str:
    """The interpreter of the environment. Raises Missing."""
    pins = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()[:16]
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "daimon-bench" / f"peers-{pins}"
    if not (place / "stamp").exists():
        _make(place)
    return str(place / "bin" / "python")


def _make(place: Path) -> None:
    uv = next(filter(None, (os.environ.get("DAIMON_UV"), shutil.which("uv"), shutil.which(str(CHECKOUT / ".tools" / "bin" / "uv")))), None)
    if uv is None:
        raise Missing("there is no uv")
    print(f"making {place} with {LOCK.name} (once)", file=sys.stderr, flush=True)
    shutil.rmtree(place, ignore_errors=True)
    for command in (
        [uv, "venv", "--quiet", "--no-project", "--python", sys.executable, str(place)],
        [uv, "pip", "sync", "--quiet", "--python", str(place / "bin" / "python"), "--require-hashes", "--no-build", str(LOCK)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing((done.stderr.strip().splitlines() or ["uv failed"])[-1])
    (place / "stamp").touch()
