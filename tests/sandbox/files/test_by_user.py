"""All that holds for a gateway that root runs holds for one of an ordinary user: the same tests, run as one."""

from pathlib import Path

import pytest
from tests.sandbox.boxes import needs_root, passes_as_nobody

FILES = ("test_reading.py", "test_writing.py", "test_hostile.py", "test_moving.py", "test_handles.py")


@needs_root
@pytest.mark.parametrize("name", FILES)
def test_an_ordinary_user_has_the_same_files(name: str) -> None:
    passes_as_nobody(Path(__file__).parent / name)
