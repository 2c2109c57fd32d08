import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from daimon.cli.seen import Seen

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_each_conversation_has_its_own_moment_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "chat_seen.json"
    Seen(path, "main").mark(NOON)
    Seen(path, "work").mark(NOON.replace(hour=13))

    assert (Seen(path, "main").last(), Seen(path, "work").last(), Seen(path, "new").last()) == (NOON, NOON.replace(hour=13), None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["chat_seen.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"main": 1e400}', '{"main": "yesterday"}', '{"main": "2026-11-15T12:00:00"}'])
def test_a_file_that_makes_no_sense_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "chat_seen.json"
    path.write_text(text)
    assert Seen(path, "main").last() is None
    Seen(path, "main").mark(NOON)
    assert Seen(path, "main").last() == NOON


def test_where_it_cannot_be_written_there_is_no_complaint(tmp_path: Path) -> None:
    Seen(tmp_path / "missing" / "chat_seen.json", "main").mark(NOON)
