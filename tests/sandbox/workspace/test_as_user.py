"""All that holds for root's workspaces holds for those of an ordinary user: the same tests, run as one."""

import sys
from pathlib import Path

import pytest
from tests.sandbox.boxes import NOBODY, ROOT, elsewhere, needs_root, place_of

FILES = ("test_store.py", "test_apply.py", "test_merge.py", "test_overlay.py", "test_copies.py", "test_squash.py", "test_held.py")
FILES += ("test_hostile.py", "test_bulk.py", "test_noted.py")
pytestmark = [needs_root]


@pytest.mark.parametrize("name", FILES)
def test_an_ordinary_user_has_the_same_workspaces(name: str) -> None:
    with place_of(NOBODY) as place:
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", f"{place}/tests"]
        done = elsewhere([*words, str(Path(__file__).parent.relative_to(ROOT) / name)], {"HOME": str(place)}, uid=NOBODY)
    last = done.stdout.decode(errors="replace")
    assert done.returncode == 0, f"{last[-6000:]}{done.stderr.decode(errors='replace')[-2000:]}"
    assert " passed" in last
