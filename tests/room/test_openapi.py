"""The API keeps to its document: schemathesis calls every operation of it, with all of its checks, and what is there is shown as it says.

More examples than CI has time for: `DAIMON_EXAMPLES=200 pytest tests/room/test_openapi.py`.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import schemathesis
from tests.gateway.live import Live
from tests.room.rig import gateway
from tests.skills.written import bundle, put, skill_md

from daimon.abi.access import Right

EXAMPLES = int(os.environ.get("DAIMON_EXAMPLES", "4"))
DEADLINE_S = 1_800.0 + 10.0 * EXAMPLES
"""It ends a hang, and decides nothing."""
PLAIN = ("--no-color", "--continue-on-failure", "--no-shrink", "--generation-database", "none")
HERE = Path(__file__).parent
ENDLESS = "/v1/feed"
"""A stream has no end that schemathesis could wait for; `tests/gateway` reads it."""
GROUPS = {
    "settings": "^/v1/(settings|setup|devices|clients|links|people|acts)",
    "views": "^/v1/(room|health|conversations|runs|approvals|decisions)",
    "kept": "^/v1/(memory|workspaces|undo|automations|hooks)",
}
"""So that they are looked at side by side; the rest is a group of its own."""
BEYOND = {
    "GET /v1/files/{hash}": "a frame shows two types",
    "POST /v1/settings/backups/{name}/verify": "one at a time",
    "PUT /v1/settings/agents/{name}": "names of agents are words, roles are those that there are",
    "POST /v1/servers": "a server has a name that tools can be called by, and is a command or an address that answers",
    "POST /v1/events": "a message says something, an answer names a step, parts name what is stored",
    "POST /v1/memory/items": "a note has a length that the memory knows",
    "POST /v1/memory/facts": "so has a fact",
    "POST /v1/memory/graph": "a query is a language of its own",
    "POST /v1/memory/import": "items refer to each other",
    "GET /v1/memory/rewind": "the future has not come yet",
    "POST /v1/memory/rewind": "the future has not come yet",
    "DELETE /v1/memory/items/{id}": "only facts and notes can be forgotten one by one",
    "DELETE /v1/memory/page/{id}": "only what is on the page can be taken off it",
    "GET /v1/room/memory/rewind": "the future has not come yet",
    "POST /v1/room/memory/rewind": "the future has not come yet",
    "PUT /v1/room/memory/items/{id}": "a note has a length that the memory knows",
    "POST /v1/room/memory/back/{id}": "only what is over can come back",
    "GET /v1/room/workspaces/{id}/changes": "a checkpoint is one of its own",
    "POST /v1/room/workspaces/{id}/foresight": "a deed can be done with it or not",
    "GET /v1/preview": "a schedule is understood, and a zone exists, or not",
    "PUT /v1/automations/{name}": "a task, a zone, a licence and a watch make sense together, or not",
    "PUT /v1/hooks/{name}": "a secret's name, a JSON schema and limits make sense, or not",
    "POST /v1/automations/{name}/run": "what it watches may not be there",
    "POST /v1/people/contacts": "a sender is written as its channel writes it",
    "POST /v1/people/invitations": "a name has letters or digits",
    "POST /v1/skills": "a source holds a skill, or not",
    "POST /v1/skills/offer": "a source holds a skill, or not",
    "POST /v1/clients": "a name is free or not, and admin is no right of clients",
    "POST /v1/undo": "nothing may be left to undo",
    "POST /v1/workspaces": "a directory can be used or not",
    "POST /v1/workspaces/{id}/fork": "a checkpoint is one of its own",
    "POST /v1/workspaces/{id}/merge": "it must be a fork of the other",
    "POST /v1/workspaces/{id}/restore": "a checkpoint is one of its own",
    "POST /v1/workspaces/{id}/apply": "a path lies inside",
    "POST /v1/workspaces/{id}/run": "a box needs a role that there is, and a machine that has boxes",
    "POST /v1/room/licence": "a licence is a language of its own",
    "POST /v1/settings/channels/{name}": "there are four",
    "POST /v1/settings/models": "a vendor is known, a model is named, a price is a number",
    "POST /v1/settings/models/offers": "a vendor is known and answers",
    "POST /v1/settings/policies/check": "a policy is a language of its own, in a file whose name ends in .cedar",
    "POST /v1/settings/policies/suppose": "so is what is supposed",
    "PUT /v1/settings/policies/files/{name}": "so is what is written",
    "DELETE /v1/settings/policies/files/{name}": "its name ends in .cedar",
    "PUT /v1/settings/policies/agents/{name}": "a role and tools are known",
    "POST /v1/settings/secrets": "a name has letters or digits, a value some length",
    "PUT /v1/settings/secrets/{name}/reach": "a host is a host",
    "PUT /v1/settings/budget": "an amount is a number above zero",
    "POST /v1/settings/backups": "one is made at a time",
    "GET /v1/workspaces/{id}/diff": "a checkpoint is one of its own",
    "GET /v1/workspaces/{id}/text": "a checkpoint is one of its own",
}
"""Where a request may have the form that the document asks for and be refused all the same, with 400 and the reason: rules that JSON schema
has no words for. Everywhere else what has the right form is taken."""
HISTORY = ("GET /v1/memory/items/{id}",)
"""What is forgotten becomes history, and history can be read: `use_after_free` would call that a fault."""


@pytest.fixture(scope="module")
def daimon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with gateway(tmp_path_factory.mktemp("openapi") / "home") as running:
        yield running.live


@pytest.mark.parametrize("group", [*GROUPS, "rest"])
def test_schemathesis_finds_nothing_with_all_its_checks(daimon: Live, tmp_path: Path, group: str) -> None:
    fuzzed = tmp_path / "fuzzed"
    fuzzed.mkdir()
    (fuzzed / "a.txt").write_text("a\n", encoding="utf-8")
    document = tmp_path / "openapi.json"
    document.write_bytes(_asked(daimon, "/v1/openapi.json").content)
    (tmp_path / "schemathesis.toml").write_text(_config(), encoding="utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(tmp_path / "schemathesis.toml"), "run"]
    options = ("--checks", "all", "--exclude-path", ENDLESS, "--max-examples", str(EXAMPLES), "--seed", "1")
    others = "|".join(GROUPS.values())  # of several options the last would count
    chosen = ("--include-path-regex", GROUPS[group]) if group in GROUPS else ("--exclude-path-regex", others)
    known = {"DAIMON_TOKEN": daimon.token, "DAIMON_FUZZED_DIRECTORY": str(fuzzed), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*command, str(document), "--url", daimon.url, *options, *chosen, *PLAIN],
        cwd=tmp_path, env=os.environ | known, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert " passed" in done.stdout


def _asked(daimon: Live, path: str) -> httpx2.Response:
    answer = httpx2.get(f"{daimon.url}{path}", headers=daimon.authority, timeout=60)
    assert answer.status_code == 200, f"{path}: {answer.text}"
    return answer


def _config() -> str:
    lines = [
        'suppress-health-check = ["too_slow"]',  # how fast examples are made says nothing of the API
        f'hooks = "{HERE / "fuzzing.py"}"', "request-timeout = 120", 'headers = { Authorization = "Bearer ${DAIMON_TOKEN}" }',
        "[generation]", "with-security-parameters = false", "[warnings]", "display = []",
    ]  # fmt: skip
    refused = '["400", "401", "403", "404", "405", "406", "409", "413", "415", "429", "5xx"]'
    lines += ["[checks]", f"negative_data_rejection.expected-statuses = {refused}"]
    for name in BEYOND:
        statuses = '["2xx", "400", "401", "403", "404", "409", "429", "5xx"]'
        lines += ["[[operations]]", f'include-name = "{name}"', f"checks.positive_data_acceptance.expected-statuses = {statuses}"]
    for name in HISTORY:
        lines += ["[[operations]]", f'include-name = "{name}"', "checks.use_after_free.enabled = false"]
    return "\n".join(lines)


def _names(daimon: Live, directory: Path) -> dict[str, str]:
    """A home in which something is of everything that is shown; what the parameters of paths are called there."""
    turn = daimon.ask("ask sure?", "shown")
    event = daimon.get(f"/v1/turns/{turn['id']}")["turn"]["event"]
    blob = daimon.call("POST", "/v1/blobs", b"\0bytes\xff").json["blob"]
    item = daimon.call("POST", "/v1/memory/facts", {"subject": "Anna", "statement": "Anna lives in Ulm.", "about": "city"}).json["id"]
    daimon.call("POST", "/v1/memory/items", {"text": "Bread is bought on Friday.", "on_page": True})
    automation = {
        "schedule": "every weekday at 8",
        "task": "Brief me.",
        "cost": "0.5",
        "watch": {"kind": "page", "url": "http://127.0.0.1:1/"},
    }
    assert daimon.call("PUT", "/v1/automations/shown", automation).status == 200
    daimon.call("POST", "/v1/automations/shown/run")
    hook = {"name": "shown", "scheme": "github", "secret": "hook-shown", "filters": [{"at": "/action", "is_in": ["opened"]}]}
    assert daimon.call("PUT", "/v1/hooks/shown", hook).status == 200
    daimon.call_as("POST", "/hooks/shown", b"{}", {})
    daimon.call("POST", "/v1/people/contacts", {"channel": "mail", "sender": "anna@example.org", "name": "Anna"})
    workspace = daimon.call("POST", "/v1/workspaces", {"directory": str(directory), "name": "shown"}).json["id"]
    daimon.call("POST", "/v1/events", b"no event")
    skill = put(directory / "read-feeds", bundle(skill_md()))
    assert daimon.call("POST", "/v1/skills", {"source": str(skill)}).status == 201
    return {
        "turns": turn["id"], "runs": turn["id"], "events": event, "blobs": blob, "memory": item, "automations": "shown", "hooks": "shown",
        "workspaces": workspace, "skills": "read-feeds",
    }  # fmt: skip


ASKED = {
    "/v1/memory/history": "about=Anna",
    "/v1/memory/source": "name=memory",
    "/v1/memory/rewind": "to=2026-01-01T00:00:00Z",
    "/v1/memory/search": "text=Anna",
    "/v1/grants": "all=true",
    "/v1/preview": "schedule=daily+at+8",
    "/v1/conversations/entries": "name=shown",
    "/v1/conversations/turn": "id={turns}",
    "/v1/room/memory/search": "text=Anna",
    "/v1/room/memory/rewind": "to=2026-01-01T00:00:00Z",
}
NEEDS_MORE = (
    "/v1/conversations/text", "/v1/runs/{id}/spans/{n}", "/v1/runs/{id}/spans/{n}/pieces/{i}", "/v1/room/memory/thing", "/v1/files/{hash}",
    "/v1/settings/backups/{name}/file", "/v1/lessons/{id}", "/v1/servers/{name}",
)  # fmt: skip
"""Shown by tests of their own: a long text, a span of a run, a thing of the graph, a file that was sent, a backup, a lesson, a server."""


def test_what_is_there_is_shown_as_the_document_says(daimon: Live, tmp_path: Path) -> None:
    names, document = _names(daimon, tmp_path), daimon.get("/v1/openapi.json")
    schema = schemathesis.openapi.from_dict(document, config=schemathesis.config.SchemathesisConfig())
    shown = [path for path, operations in document["paths"].items() if "get" in operations and path not in (ENDLESS, *NEEDS_MORE)]
    for path in shown:
        group = path.removeprefix("/v1/").removeprefix("room/").split("/")[0]
        filled = re.sub(r"{\w+}", names.get(group, "nobody"), path)
        answer = _asked(daimon, f"{filled}?{ASKED.get(path, '').format(**names)}")
        if answer.headers["content-type"] == "application/json":
            schema[path]["GET"].validate_response(answer)


def test_every_operation_has_a_name_of_its_own_a_summary_and_says_which_right_it_needs(daimon: Live) -> None:
    operations = [each for path in daimon.get("/v1/openapi.json")["paths"].values() for each in path.values()]
    assert len({each["operationId"] for each in operations}) == len(operations)
    assert [each["operationId"] for each in operations if not each["summary"]] == []
    assert [each["operationId"] for each in operations if each.get("security") != [] and each["x-right"] not in set(Right)] == []


def test_the_document_is_for_those_who_may_look(daimon: Live) -> None:
    assert daimon.call_as("GET", "/v1/openapi.json", None, {}).status == 401
    assert json.dumps(daimon.get("/v1/openapi.json")).find(daimon.token) == -1
