"""All that holds for root's workspaces holds for those of an ordinary user: the same tests, run as one."""

from pathlib import Path

import pytest
from tests.sandbox.boxes import needs_root, passes_as_nobody

FILES = ("test_store.py", "test_apply.py", "test_merge.py", "test_overlay.py", "test_copies.py", "test_squash.py", "test_held.py")
FILES += ("test_hostile.py", "test_bulk.py", "test_noted.py")
pytestmark = [needs_root]


@pytest.mark.parametrize("name", FILES)
def test_an_ordinary_user_has_the_same_workspaces(name: str) -> None:
    passes_as_nobody(Path(__file__).parent / name)
