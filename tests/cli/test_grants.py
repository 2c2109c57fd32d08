"""A batch of calls at a terminal and from the command line, grants, and what was decided."""

import json
from datetime import datetime, timedelta

import pytest
from tests.cli.processes import Daimon
from tests.cli.pseudo import sitting_at
from tests.cli.test_card import LIVELY, shown


@pytest.fixture
def lively(daimon: Daimon) -> Daimon:
    daimon.configure(LIVELY)
    return daimon


def test_a_batch_is_asked_once_and_a_number_chooses(lively: Daimon) -> None:
    with sitting_at(lively, kind="xterm-256color", columns=300) as terminal:
        lines = shown(terminal, "mails")
        assert [line for line in lines if "waits for your permission" in line] == [
            f"  │ {n}/3 mail · waits for your permission" for n in (1, 2, 3)
        ]
        begin = lines.index("May I do these 3 things?")
        first = "1. mail — sends to ann@x.org (my own words: nobody else was heard), text of 245 characters, beginning "
        assert lines[begin + 1].startswith(first)
        assert lines[-1] == "[deny / allow / grant]"
        assert shown(terminal, "allow 9") == ["that was not understood: there are calls 1 to 3"]
        assert "  ╰ 2/3 mail · ok · sent to bob@x.org" in shown(terminal, "allow 2")


@pytest.mark.parametrize("is_running", [True, False])
def test_a_grant_is_given_listed_and_revoked(lively: Daimon, is_running: bool) -> None:
    if is_running:
        lively.up()
    (asked,) = json.loads(lively.run("chat", "mails", "--json").out)["questions"]
    assert "2. mail — sends to bob@x.org" in lively.run("questions").out
    wrong = lively.run("answer", asked["to"], "grant", "9")
    assert (wrong.code, "there are calls 1 to 3" in wrong.err) == (4, True)
    assert lively.run("grants").out == "nothing is granted\n"

    assert lively.run("answer", asked["to"], "grant 2", "for 7 days").code == 0
    lively.run("chat", "hello")  # a gateway that works on it
    (given,) = json.loads(lively.run("grants", "--json").out)
    assert given["grant"]["destinations"] == ["bob@x.org"]
    assert "mail to bob@x.org" in lively.run("grants").out
    last = datetime.fromisoformat(given["grant"]["until"]).astimezone() - timedelta(minutes=1)
    assert f"{last:%Y-%m-%d %H:%M}" in lively.run("grants").out, "the last moment, not the first that is too late"

    (made,) = json.loads(lively.run("decisions", "--json").out)
    assert (made["choice"], made["text"], made["by"]) == ("grant", "2 for 7 days", "owner")
    assert "grant 2 for 7 days" in lively.run("decisions").out

    assert lively.run("grants", "--home", str(lively.home), "revoke", given["grant"]["id"]).code == 0
    assert lively.run("grants").out == "nothing is granted\n"
    assert "by owner" in lively.run("grants", "--all").out
    assert lively.run("grants", "revoke", "t0:1").code == 3
