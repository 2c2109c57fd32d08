"""Tool calls, failures and costs as a person sees them: a lively model on a pseudo-terminal."""

import re

import pytest
from tests.cli.processes import DEADLINE_S, Daimon
from tests.cli.pseudo import Terminal, sitting_at

LIVELY = 'extensions = ["lively"]\n[model]\nuse = "lively"\n[agents.daimon]\nrole = "reader"\n'


def shown(terminal: Terminal, text: str) -> list[str]:
    """What a message led to, line by line."""
    terminal.type(f"{text}\r".encode())
    terminal.wait_for(f"{text}\r\n")
    return untimed(terminal.shown_until("› "))


def untimed(lines: list[str]) -> list[str]:
    return [re.sub(r" · [\d.]+ m?s\b", "", line) for line in lines if line.strip()]


@pytest.fixture
def lively(daimon: Daimon) -> Daimon:
    daimon.configure(LIVELY)
    return daimon


def test_a_call_is_a_card_that_its_outcome_closes(lively: Daimon) -> None:
    with sitting_at(lively, kind="xterm-256color") as terminal:
        assert shown(terminal, "bad") == [
            '  ╭ look · what="nothing"',
            "  ╰ not_there · there is nothing of that name",
            "Done. ",
            "  lively · 2,000 tokens in (80 % cached), 5 out · $0.001755",
        ]


def test_calls_at_once_are_numbered_and_end_in_any_order(lively: Daimon) -> None:
    with sitting_at(lively, kind="xterm-256color") as terminal:
        terminal.type(b"two\r")
        terminal.wait_for("2/2 look")
        (lively.signs / "go").touch()
        ends = sorted(line for line in untimed(terminal.shown_until("Done.")) if "╰" in line)
        assert ends == ['  ╰ 1/2 look · ok · {"found": "slow", "shops": 2}', "  ╰ 2/2 look · not_there · there is nothing of that name"]


@pytest.mark.parametrize("columns", [80, 40])
def test_long_arguments_are_cut_and_no_line_is_wider_than_the_terminal(lively: Daimon, columns: int) -> None:
    with sitting_at(lively, kind="xterm-256color", columns=columns) as terminal:
        lines = shown(terminal, "long")
        assert lines[0] == "  ╭ describe"
        assert lines[1] == '  │ place: "Kohlmarkt 14, Vienna"'
        assert lines[2].startswith('  │ text: "a rather long')
        assert lines[2].endswith("…")
        assert lines[3:6] == ["  │ stars: 5", "  ╰ ok · written down", "Done. "]
        assert max(len(line) for line in lines[:5]) < columns


@pytest.mark.parametrize(("kind", "columns"), [("dumb", 80), ("xterm-256color", 30)], ids=["dumb", "narrow"])
def test_where_there_is_no_room_for_cards_there_are_lines(lively: Daimon, kind: str, columns: int) -> None:
    with sitting_at(lively, kind=kind, columns=columns) as terminal:
        lines = shown(terminal, "bad")
        assert lines[0].startswith("  · look(what=")
        assert lines[1].startswith("  · look: not_there")


def test_a_call_that_needs_a_yes_says_that_it_waits(lively: Daimon) -> None:
    with sitting_at(lively, kind="xterm-256color", columns=300) as terminal:
        assert shown(terminal, "buy") == [
            '  ╭ buy · what="teapot"',
            "  │ waits for your permission",
            'May I? buy — spends, what "teapot" (my own words: nobody else was heard). Reason: It spends. '
            "The agent can read what is private, read what strangers wrote, and act: with all three, each call that has consequences "
            "is asked. [deny / allow]",
        ]
        assert shown(terminal, "allow")[:2] == ["  ╰ buy · ok · one teapot bought", "Done. "]
        shown(terminal, "buy")
        assert shown(terminal, "deny")[0].startswith("  ╰ buy · refused · ")


def test_a_reply_that_breaks_off_is_told_and_begun_anew(lively: Daimon) -> None:
    with sitting_at(lively, kind="xterm-256color") as terminal:
        assert shown(terminal, "flaky")[:3] == [
            "I begin but",
            "  · lively failed (overloaded): too many want it at once",
            "flaky ",
        ]


def test_a_single_message_on_a_terminal_is_shown_in_the_same_way(lively: Daimon) -> None:
    with sitting_at(lively, "long", kind="xterm-256color") as terminal:
        lines = terminal.shown_until("tokens in")
        assert lines[0] == "  ╭ describe"
        assert lines[-2] == "Done. "
        assert terminal.process.wait(DEADLINE_S) == 0


def test_into_a_pipe_goes_the_reply_alone(lively: Daimon) -> None:
    done = lively.run("chat", "long")
    assert (done.out, done.err) == ("Done. \n", "")
