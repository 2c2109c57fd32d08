"""What a box is blamed for, where others take room on the same disk and give it back."""

import os
from pathlib import Path

import pytest

from daimon.sandbox.spec import Bounds
from daimon.sandbox.watch import Watch

MB = 1 << 20
PIECE = 8 * MB
BOUNDS = Bounds(memory=1 << 60, processes=1 << 30, open_files=100, file=1 << 40, disk=24 * MB, cpu_s=100)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (made := tmp_path / "tree").mkdir()
    return made


def watching(tree: Path) -> Watch:
    watch = Watch(os.getpid(), (str(tree), None), (), BOUNDS)
    watch.begin()
    return watch


def filled(path: Path, pieces: int, watch: Watch | None = None) -> str:
    """What whoever looks on blames it for, if anything."""
    with path.open("ab") as file:
        for _ in range(pieces):
            os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, PIECE)
            if watch and (over := watch.look()):
                return over.what
    return ""


def test_what_others_give_back_hides_nothing(tree: Path, tmp_path: Path) -> None:
    filled(tmp_path / "others", 32)
    watch = watching(tree)
    assert filled(tree / "own", 2, watch) == ""
    (tmp_path / "others").unlink()
    assert watch.look() is None
    assert filled(tree / "own", 2, watch) == "disk"


def test_who_cleans_up_is_not_blamed_for_what_was_there(tree: Path, tmp_path: Path) -> None:
    filled(tmp_path / "others", 32)
    watch = watching(tree)
    assert filled(tree / "own", 8, watch) == "disk"
    watch.end()
    (tmp_path / "others").unlink()
    watch.begin()
    filled(tmp_path / "others", 32)
    assert watch.look() is None
    assert filled(tree / "more", 4, watch) == "disk"


def test_who_has_cleaned_up_has_all_of_the_limit_and_no_more(tree: Path) -> None:
    watch = watching(tree)
    assert filled(tree / "own", 8, watch) == "disk"
    watch.end()
    watch.begin()
    (tree / "own").unlink()
    watch.end()
    watch.begin()
    assert filled(tree / "own", 2, watch) == ""
    assert filled(tree / "own", 8, watch) == "disk"


def test_what_others_take_is_no_fault_of_the_box(tree: Path, tmp_path: Path) -> None:
    watch = watching(tree)
    assert filled(tmp_path / "others", 8, watch) == ""
    assert filled(tree / "own", 2, watch) == ""
