import readline
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from daimon.cli.history import LONGEST, History


@pytest.fixture(autouse=True)
def _apart() -> Iterator[None]:
    readline.clear_history()
    yield
    readline.clear_history()


def recalled() -> list[str]:
    return [readline.get_history_item(i + 1) for i in range(readline.get_current_history_length())]


@pytest.mark.parametrize("entry", ["hello", "one\ntwo", "one\\\n\\\ntwo", "ends with \\", " äöü \n", "\n"])
def test_an_entry_comes_back_in_the_next_chat(tmp_path: Path, entry: str) -> None:
    history = History(tmp_path / "history")
    history.load()
    for text in ("before", entry, "after"):
        history.add(text)
    readline.clear_history()
    History(tmp_path / "history").load()
    assert [text.rstrip(" ") for text in recalled()] == ["before", entry.rstrip(" "), "after"]


def test_the_same_again_is_kept_once(tmp_path: Path) -> None:
    history = History(tmp_path / "history")
    for text in ("yes", "yes", "no", "yes"):
        history.add(text)
    assert recalled() == ["yes", "no", "yes"]


def test_only_the_owner_can_read_it_even_if_others_could_before(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("old\n")
    path.chmod(0o644)
    History(path).add("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_oldest_leave_when_there_are_too_many(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("".join(f"{i}\n" for i in range(LONGEST + 5)))
    History(path).load()
    assert path.read_text().splitlines()[0] == "5"
    assert len(recalled()) == LONGEST


def test_where_it_cannot_be_kept_there_is_none(tmp_path: Path) -> None:
    history = History(tmp_path / "no" / "such" / "place")
    history.load()
    history.add("hello")
    assert recalled() == ["hello"]
