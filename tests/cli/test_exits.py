import errno
import json
import re
from pathlib import Path

import pytest
from tests.cli.processes import Daimon
from tests.cli.pseudo import Terminal

from daimon.abi import errors
from daimon.cli import exits, failures

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
BROKEN = """
class Broken:
    @property
    def name(self):
        raise RuntimeError("out of order")


def extend(kit):
    kit.channels.append(Broken())
"""


def test_every_error_has_a_code_and_the_nearest_one_counts() -> None:
    assert exits.code_for(errors.TooLarge("x")) == exits.BAD_INPUT
    assert exits.code_for(errors.HomeBusy("x")) == exits.BUSY
    assert exits.code_for(errors.JournalStopped("x")) == exits.STOPPED
    assert exits.code_for(errors.Fenced("x")) == exits.FAILED


def test_the_manual_shows_the_table_as_it_is() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(str(row.code), row.meaning) for row in exits.TABLE]


def test_help_shows_every_command_and_code(daimon: Daimon) -> None:
    done = daimon.run("--help")
    assert done.code == 0
    for word in ("up", "test", "chat", "inject", "status", "turns", "trace", "stop", "config", "bench", "questions", "answer", "letters"):
        assert re.search(rf"\b{word}\b", done.out), word
    for row in exits.TABLE:
        assert str(row.code) in done.out


def test_the_manual_names_every_command(daimon: Daimon) -> None:
    manual = DOCS.read_text(encoding="utf-8")
    for word in ("up", "test", "chat", "inject", "status", "turns", "trace", "stop", "config", "bench", "questions", "answer", "letters"):
        assert f"daimon {word}" in manual, word


def test_wrong_usage_is_two(daimon: Daimon) -> None:
    assert daimon.run("frobnicate").code == 2
    assert daimon.run("turns", "--limit", "0").code == 2
    assert daimon.run("trace").code == 2


def test_an_error_as_json_has_the_code_of_the_api(daimon: Daimon) -> None:
    for words in (("--json", "status"), ("status", "--json")):
        done = daimon.run(*words)
        assert done.code == 3
        assert done.out == ""
        assert json.loads(done.err)["error"]["code"] == "not_found"


def test_what_nobody_expected_is_one_line_and_debug_shows_more(daimon: Daimon) -> None:
    (daimon.signs / "broken.py").write_text(BROKEN)
    daimon.environment["PYTHONPATH"] += f":{daimon.signs}"
    daimon.configure('extensions = ["broken"]\n')

    done = daimon.run("up", "--port", "0")

    assert done.code == 70
    assert len(done.err.splitlines()) == 1
    assert "out of order" in done.err
    assert "--debug" in done.err
    assert "Traceback" in daimon.run("--debug", "up", "--port", "0").err


def test_a_full_disk_is_told_as_that_wherever_it_was_met(capsys: pytest.CaptureFixture[str]) -> None:
    assert failures.tell(OSError(errno.ENOSPC, "No space left on device", "/srv/home/lock")) == exits.FULL
    assert capsys.readouterr().err == "daimon: the disk of /srv/home/lock is full; make room, then run this again\n"
    assert failures.tell(OSError(errno.EACCES, "Permission denied", "/srv/home/lock")) == exits.FAILED


def test_at_a_terminal_an_error_breaks_between_words_and_in_a_pipe_nowhere(daimon: Daimon) -> None:
    words = ("skills", "install", "nowhere")
    piped = daimon.run(*words).err
    assert piped.count("\n") == 1
    terminal = Terminal(daimon, *words)
    try:
        shown = terminal.wait_for("repository\r\n") + "repository"
    finally:
        terminal.close()
    assert len(shown.splitlines()) > 1
    assert shown.split() == piped.split()
