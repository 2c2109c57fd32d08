"""All that holds for grounds which root opens holds for those of an ordinary user: the same tests, run as one."""

from pathlib import Path

import pytest
from tests.sandbox.boxes import needs_bwrap, needs_root, passes_as_nobody

FILES = ("test_layers.py", "test_rotation.py", "test_depth.py", "test_probe.py", "test_end.py")
pytestmark = [needs_bwrap, needs_root]


@pytest.mark.parametrize("name", FILES)
def test_an_ordinary_user_has_the_same_ground(name: str) -> None:
    passes_as_nobody(Path(__file__).parent / name)
