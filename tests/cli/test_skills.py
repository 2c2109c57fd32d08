"""`daimon skills`, as a person types it, with a gateway and without."""

import json
from pathlib import Path
from typing import Any

from tests.cli.processes import Daimon
from tests.skills.written import bundle, put, skill_md

from daimon.skills.bundle import File

NAME = "read-feeds"
NEEDY = "metadata:\n  daimon-hosts: feeds.example.org\n"


def written(place: Path, more: str = NEEDY, body: str = "Steps.") -> Path:
    files = {**bundle(skill_md(more=more, body=body, description='"Read feeds \\e[31m."')), "scripts/go": File(b"#!/bin/sh\n", True)}
    return put(place / NAME, files)


def told(daimon: Daimon, *words: str) -> Any:
    done = daimon.run("skills", *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def put_at(place: Path, body: str = "Steps.") -> Path:
    return put(place / NAME, {**bundle(skill_md(more=NEEDY, body=body)), "scripts/go": File(b"#!/bin/sh\n", True)})


def test_where_nobody_runs_it_is_shown_asked_about_installed_and_removed(daimon: Daimon, tmp_path: Path) -> None:
    source = str(put_at(tmp_path))
    asked = daimon.run("skills", "install", source)
    assert (asked.code, "feeds.example.org" in asked.err, "scripts/go" in asked.err) == (4, True, True)
    assert "nothing was changed; add --yes" in asked.err
    assert told(daimon, "install", source, "--yes")["state"] == "ready"
    assert told(daimon, "list")[0]["skill"]["name"] == NAME
    assert told(daimon, "remove", NAME, "--yes")["files"] == ["SKILL.md", "scripts/go"]
    assert daimon.run("skills", "show", NAME).code == 3


def test_in_a_running_gateway_it_is_updated_vouched_for_tried_and_removed(daimon: Daimon, tmp_path: Path) -> None:
    daimon.up()
    told(daimon, "install", str(put_at(tmp_path)), "--yes")
    assert told(daimon, "vouch", NAME)["is_vouched"]
    put_at(tmp_path, "Others.")
    shown = daimon.run("skills", "update", NAME)
    assert (shown.code, "+Others." in shown.err) == (4, True)
    assert not told(daimon, "update", NAME, "--yes")["is_vouched"]
    read = daimon.run("skills", "show", NAME).out
    assert "a stranger, until you vouch" in read
    assert "  Others." in read, "whoever vouches has read it"
    tried = told(daimon, "test", NAME)
    assert [trial["what"] for trial in tried["trials"]] == ["may be used", "not run"]
    assert told(daimon, "remove", NAME, "--dry-run")["files"] == ["SKILL.md", "scripts/go"]
    assert told(daimon, "remove", NAME, "--yes")["name"] == NAME


def test_a_bad_skill_is_explained_and_nothing_steers_the_terminal(daimon: Daimon, tmp_path: Path) -> None:
    refused = daimon.run("skills", "validate", str(written(tmp_path)))
    assert refused.code == 4
    assert "description holds 1 signs that nobody sees" in refused.err
    fine = daimon.run("skills", "validate", str(put(tmp_path / "fine" / NAME, bundle(skill_md()))))
    assert (fine.code, f"{NAME} is a valid skill" in fine.out) == (0, True)
    assert not (daimon.home / "skills" / NAME).exists()
