"""`daimon people`, with a gateway and without one."""

import json

import pytest
from tests.cli.processes import Daimon

from daimon.gateway.pairing import pairing


@pytest.mark.parametrize("is_running", [True, False])
def test_people_are_let_in_listed_ranked_and_removed(daimon: Daimon, is_running: bool) -> None:
    if is_running:
        daimon.up()
    assert "nobody is known" in daimon.run("people").out
    made = json.loads(daimon.run("people", "allow", "telegram:12345", "--name", "Bob", "--json").out)
    assert (made["id"], made["rank"]) == ("bob", "guest")
    assert daimon.run("people", "rank", "bob", "trusted").out == "bob is trusted\n"
    shown = daimon.run("people").out
    assert all(word in shown for word in ("bob", "trusted", "telegram:12345"))
    (known,) = json.loads(daimon.run("people", "--json").out)["people"]
    assert known["contacts"][0]["sender"] == "12345"
    assert daimon.run("people", "remove", "bob", "telegram:12345").code == 0
    assert "telegram:12345" not in daimon.run("people").out
    assert daimon.run("people", "remove", "bob").code == 0
    assert "nobody is known" in daimon.run("people").out


@pytest.mark.parametrize("is_running", [True, False])
def test_an_invitation_is_shown_once_with_what_to_do(daimon: Daimon, is_running: bool) -> None:
    if is_running:
        daimon.up()
    mine = daimon.run("people", "invite")
    assert pairing(mine.out.splitlines()[0])
    assert "no channel is set up yet" in mine.err
    made = json.loads(daimon.run("people", "invite", "Anna", "--as", "trusted", "--json").out)
    assert (made["person"], made["rank"]) == ("anna", "trusted")
    assert json.loads(daimon.run("people", "invite", "Bob", "--json").out)["rank"] == "guest"


def test_what_cannot_be_is_said(daimon: Daimon) -> None:
    for words in (
        ("allow", "telegram", "--name", "Bob"),
        ("allow", "telegram:1"),
        ("allow", "telegram:1", "--name", "owner"),
        ("rank", "nobody", "guest"),
        ("remove", "nobody"),
    ):
        told = daimon.run("people", *words)
        assert told.code != 0
        assert told.err
        assert "Traceback" not in told.err
    assert "CHANNEL:SENDER" in daimon.run("people", "allow", "telegram", "--name", "Bob").err


def test_the_owners_last_chat_goes_only_with_a_yes(daimon: Daimon) -> None:
    for contact in ("telegram:1", "slack:U1"):
        allowed = daimon.run("people", "allow", contact, "--as", "owner")
        assert allowed.code == 0
        assert f"`daimon channel add {contact.split(':')[0]}` does it" in allowed.err
    assert daimon.run("people", "remove", "owner").code != 0
    assert daimon.run("people", "remove", "owner", "slack:U1").code == 0
    refused = daimon.run("people", "remove", "owner", "telegram:1")
    assert refused.code != 0
    assert "--yes" in refused.err
    assert "knows no chat of yours" in refused.err
    assert "telegram:1" in daimon.run("people").out
    assert daimon.run("people", "remove", "owner", "telegram:1", "--yes").code == 0
    assert "telegram:1" not in daimon.run("people").out


def test_an_invitation_for_somebody_else_needs_a_name(daimon: Daimon) -> None:
    refused = daimon.run("people", "invite", "--as", "guest")
    assert refused.code != 0
    assert "daimon people invite NAME --as guest" in refused.err
