"""Killed at any moment, a backup leaves no file that is none, and a restore a whole home."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("what", ["backup", "restore"])
def test_killed_at_any_moment_it_leaves_the_old_or_the_new(tmp_path: Path, what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("killed.py")), what, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
