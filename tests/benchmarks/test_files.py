"""The benchmark of the files driver measures real files, and can say no."""

import random
from pathlib import Path

import files

GOOD = {"read_ratio": 3.0, "write_ratio": 1.0, "edit_ratio": 1.0, "search_ratio": 3.0}


async def test_every_operation_is_measured_beside_a_plain_one(tmp_path: Path) -> None:
    found = await files.measured(tmp_path, 5, 20, 50, random.Random(0))
    assert set(GOOD) <= set(found)
    assert all(value > 0 for value in found.values() if value is not None)


def test_a_ratio_beyond_its_limit_misses_an_aim() -> None:
    assert all(files.aims(GOOD).values())
    assert all(files.aims(GOOD | {"search_ratio": None}).values())
    for name in GOOD:
        assert not all(files.aims(GOOD | {name: 3.1}).values())
