"""A full disk is said before, or while it becomes full; then nothing is left of what was begun."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-P", str(Path(__file__).with_name("full.py")), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no small disk can be mounted here: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr[-3000:]
