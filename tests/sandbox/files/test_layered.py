"""On an overlay, as a workspace of layers is: what cannot be renamed is copied, and a tree that was exchanged is noticed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
USER = 12_345


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount an overlay here")
@pytest.mark.parametrize("user", [0, USER])
def test_all_works_on_layers(tmp_path: Path, user: int) -> None:
    for path, text in (("d/a", "lower\n"), ("d/deep/b", "x"), ("kept", "as it was")):
        (tmp_path / "base" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "base" / path).write_text(text)
    (tmp_path / "tree").mkdir()
    for path in (tmp_path / "base", *(tmp_path / "base").rglob("*")):
        os.chown(path, user, user)
    paths = os.pathsep.join([*(path for path in sys.path if path), str(ROOT)])
    words = [sys.executable, str(Path(__file__).with_name("layered.py")), str(tmp_path), str(user)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "PYTHONPATH": paths})
    if "wrong fs type" in done.stderr or "unknown filesystem" in done.stderr:
        pytest.skip("no overlay can be mounted in this directory")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["read"], said["copied"], said["moved"], said["left"]) == ("lower\n", True, "lower\n", "not_found")
    assert sorted(said["base"]) == ["a", "deep"]
    assert said["found"] == ["e/a"]
    assert (said["own"], said["news"], said["below"]) == ([], ["e/a"], ["kept"])
    assert (said["again"], said["gone"]) == ("lower\n", "not_found")
    assert said["rotated"] == ["e/a", "f"]
    assert said["owners"] == [user]
