"""All that holds for boxes which root starts holds for those of an ordinary user: the same tests, run as one.

The other way round needs nothing: whoever runs the tests as an ordinary user has run them so already.
"""

import sys
from pathlib import Path

import pytest
from tests.sandbox.boxes import FILE_S, NOBODY, ROOT, elsewhere, needs_bwrap, needs_root, place_of

SAME = "test_of_a_gigabyte_the_beginning_and_the_end_are_kept"
"""Whoever reads is the same, and reading takes long."""
FILES = (
    "test_commands.py",
    "test_limits.py",
    "test_walls.py",
    "test_roles.py",
    "test_pins.py",
    "test_death.py",
    "terminal/test_session.py",
)
pytestmark = [needs_bwrap, needs_root]


@pytest.mark.parametrize("name", FILES)
def test_an_ordinary_user_has_the_same_box(name: str) -> None:
    with place_of(NOBODY) as place:
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", f"not {SAME}", "--basetemp", f"{place}/tests"]
        done = elsewhere([*words, str(Path(__file__).parent.relative_to(ROOT) / name)], {"HOME": str(place)}, FILE_S, uid=NOBODY)
    last = done.stdout.decode(errors="replace")
    assert done.returncode == 0, f"{last[-6000:]}{done.stderr.decode(errors='replace')[-2000:]}"
    assert " passed" in last
