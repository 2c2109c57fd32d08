"""What a command prints, as a person at a terminal sees it while it runs."""

import pytest
from tests.cli.processes import Daimon
from tests.cli.pseudo import sitting_at

from daimon.sandbox.plan import has_bwrap

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


@pytest.fixture
def busy(daimon: Daimon) -> Daimon:
    daimon.configure('extensions = ["busy"]\n[model]\nuse = "busy"\n')
    return daimon


def test_lines_come_while_the_command_runs_and_the_card_closes_after_them(busy: Daimon) -> None:
    with sitting_at(busy, kind="xterm-256color") as terminal:
        terminal.type(b"echo first; sleep 1; echo last\r")
        assert "╰" not in terminal.wait_for("│ first")
        lines = [line.strip() for line in terminal.shown_until("› ") if line.strip()]
        assert lines[0] == "│ last"
        assert lines[1].startswith("╰ ok · ")


def test_of_many_lines_the_first_are_shown(busy: Daimon) -> None:
    with sitting_at(busy, kind="xterm-256color") as terminal:
        terminal.type(b"seq 500\r")
        terminal.wait_for("│ 1")
        lines = [line.strip() for line in terminal.shown_until("› ") if line.strip()]
        assert "│ …" in lines
        assert sum(line.startswith("│ ") for line in lines) <= 13
