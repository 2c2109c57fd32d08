import pytest

from daimon.cli import slash


@pytest.mark.parametrize("line", ["/quit", "/exit", "quit", "Exit"])
def test_who_wants_to_leave_leaves(line: str) -> None:
    assert slash.read(line) == slash.Leave()


@pytest.mark.parametrize("line", ["hello", "quit smoking, how?", "/etc/hosts is what?", "/ is the root", "", "a /say b"])
def test_what_is_no_command_is_for_daimon(line: str) -> None:
    assert slash.read(line) == slash.Line(line)


def test_a_message_may_be_said_as_one() -> None:
    assert slash.read("/say  stop it,\nplease") == slash.Say("stop it,\nplease")


def test_every_command_is_listed() -> None:
    assert slash.read("/help") == slash.Explain(slash.HELP)
    assert all(word in slash.HELP for word in (*slash.LEAVE, "/say", "/help"))


@pytest.mark.parametrize("line", ["/nonsense", "/says hello", "/say"])
def test_what_nobody_knows_is_explained_and_not_sent(line: str) -> None:
    told = slash.read(line)
    assert isinstance(told, slash.Explain)
    assert "/say" in told.text
