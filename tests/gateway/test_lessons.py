"""What a whole Daimon learned, over its API and through the client that the command line uses."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.live import DEADLINE_S, Live, live

from daimon.abi.errors import BadInput, NotFound
from daimon.cli import learned
from daimon.gateway.remote_lessons import RemoteLessons

WHOM = "ann@example.org ben@example.org cleo@example.org dora@example.org emil@example.org fred@example.org"


@pytest.fixture
def daimon(tmp_path: Path) -> Iterator[Live]:
    with live(tmp_path / "home") as running:
        yield running


def mailed(daimon: Live) -> Any:
    """A turn of six calls that the owner allowed, when what was learned from it waits."""
    parked = daimon.ask(f"mail {WHOM}", "letters")
    (asked,) = daimon.get("/v1/questions")
    with daimon.feed("letters") as feed:
        to = f"{asked['to']['turn']}:{asked['to']['n']}"
        assert daimon.call("POST", "/v1/events", {"type": "answer", "to": to, "choice": "allow"}).status == 202
        feed.until_rest()
    until = time.monotonic() + DEADLINE_S
    while not daimon.get("/v1/status")["lessons"]:
        assert time.monotonic() < until, "no lesson came"
    return parked


def test_what_was_learned_is_told_in_the_status_shown_and_accepted_by_the_owner(daimon: Live, capsys: pytest.CaptureFixture[str]) -> None:
    turn = mailed(daimon)
    (listed,) = daimon.get("/v1/lessons")
    shown = daimon.get(f"/v1/lessons/{listed['id']}")
    assert shown == listed
    assert [each["turn"] for each in shown["evidence"]] == [turn["id"]]
    assert "example.org" not in str(shown), "addresses are taken out"
    learned.show_all(daimon.home.path, False, False)
    learned.show(daimon.home.path, shown["id"], False)
    told = capsys.readouterr().out
    assert shown["id"] in told
    assert turn["id"] in told
    assert "+1. `mail`" in told
    assert daimon.call("POST", f"/v1/lessons/{shown['id']}/accept", {"text": "broken"}).status == 400
    accepted = daimon.call("POST", f"/v1/lessons/{shown['id']}/accept", {})
    assert (accepted.status, accepted.json["state"]) == (200, "accepted")
    assert daimon.get("/v1/lessons") == []
    (service,) = daimon.get("/v1/lessons/uses")
    assert (service["skill"], service["uses"], service["unused"]["calls"]) == (shown["skill"], 0, 6)
    assert daimon.get("/v1/status")["lessons"] == 0


def test_what_is_turned_down_stays_so_and_what_is_not_there_is_told(daimon: Live) -> None:
    mailed(daimon)
    lessons = RemoteLessons(daimon.home.socket)
    (waiting,) = asyncio.run(lessons.proposals())
    assert asyncio.run(lessons.reject(waiting.id)).state == "rejected"
    assert asyncio.run(lessons.proposals()) == ()
    assert [each.id for each in asyncio.run(lessons.proposals(is_all=True))] == [waiting.id]
    with pytest.raises(BadInput):
        asyncio.run(lessons.accept(waiting.id))
    with pytest.raises(NotFound):
        asyncio.run(lessons.proposal("p-none"))
    assert asyncio.run(lessons.uses()) == ()


def test_a_home_that_nobody_runs_is_decided_on_in_the_owners_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with live(tmp_path / "home") as running:
        mailed(running)
        (waiting,) = running.get("/v1/lessons")
    home = tmp_path / "home"
    monkeypatch.setenv("VISUAL", "false")
    with pytest.raises(BadInput, match="ended with 1"):
        learned.accept(home, waiting["id"], True, False)
    monkeypatch.setenv("VISUAL", "sed -i s/angle/pointed/")
    learned.accept(home, waiting["id"], True, False)
    learned.show_uses(home, False)
    told = capsys.readouterr()
    assert f"the skill {waiting['skill']} is installed" in told.out
    assert "observed, not proof" in told.err
    assert "pointed brackets" in next((home / "skills").rglob("SKILL.md")).read_text()
