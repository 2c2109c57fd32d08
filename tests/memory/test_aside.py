import os
from pathlib import Path

from daimon.memory.aside import make_way, set_aside


def test_a_file_takes_its_write_ahead_log_along(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").write_text(suffix)
    os.utime(path, (0, 0))
    assert "kept as memory.db.damaged-19700101T000000Z" in set_aside(path, "of no use")
    assert {each.name: each.read_text() for each in path.parent.iterdir()} == {
        f"memory.db.damaged-19700101T000000Z{suffix}": suffix for suffix in ("", "-wal", "-shm")
    }


def test_nothing_is_moved_where_nothing_is(path: Path) -> None:
    assert make_way(path) == []
    assert list(path.parent.iterdir()) == []
