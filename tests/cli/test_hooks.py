"""`daimon hooks …`, with a gateway and without one."""

import json
from pathlib import Path

import pytest
from tests.cli.processes import Daimon


@pytest.mark.parametrize("is_running", [True, False])
def test_a_hook_is_made_shown_changed_and_removed(daimon: Daimon, is_running: bool) -> None:
    daimon.use_patient_model('[gateway]\npublic_url = "https://daimon.example.org"\n')
    if is_running:
        daimon.up()
    assert daimon.run("hooks", "list").out == "there are no hooks\n"
    words = ("--scheme", "github", "--task", "Tell me.", "--filter", "/action=opened,reopened", "--to", "local:main", "--json")
    made = json.loads(daimon.run("hooks", "add", "ci", *words).out)
    assert made["address"] == "https://daimon.example.org/hooks/ci"
    assert len(made["secret"]) == 64
    again = daimon.run("hooks", "add", "ci", "--scheme", "github", "--collect")
    assert (again.code, "there is a hook ci already" in again.err) == (4, True)

    (listed,) = json.loads(daimon.run("hooks", "list", "--json").out)
    assert listed["hook"]["filters"] == [{"at": "/action", "is_in": ["opened", "reopened"]}]
    assert (listed["hook"]["to"], listed["by"]) == ({"channel": "local", "to": "main"}, "owner")
    shown = daimon.run("hooks", "show", "ci").out
    assert "https://daimon.example.org/hooks/ci" in shown
    for told in ("github", "local:main", "/action = opened, reopened", "600 a minute"):
        assert told in shown
    assert made["secret"] not in shown + daimon.run("hooks", "list").out
    assert made["secret"] in daimon.run("hooks", "show", "ci", "--secret").out

    assert "is paused" in daimon.run("hooks", "pause", "ci").out
    assert "paused" in daimon.run("hooks", "list").out
    assert "takes deliveries in again" in daimon.run("hooks", "resume", "ci").out
    assert daimon.run("hooks", "deliveries", "ci").out == "nothing came yet\n"
    assert daimon.run("automations", "add", "look", "hourly", "Look.", "--watch-hook", "ci").code == 0
    removed = daimon.run("hooks", "remove", "ci")
    assert (removed.code, "looked at by look" in removed.err) == (0, True)
    assert [daimon.run("hooks", does, "ci").code for does in ("show", "deliveries")] == [3, 3]
    assert "hook-ci" not in daimon.run("secrets", "list").out


def test_a_sample_is_sent_through_the_running_gateway_and_is_on_record(daimon: Daimon) -> None:
    daimon.use_patient_model()
    assert daimon.run("hooks", "add", "ci", "--scheme", "slack", "--collect").code == 0
    assert daimon.run("hooks", "test", "ci").code != 0, "nobody is there"
    daimon.up()
    assert daimon.run("hooks", "test", "ci").out == "the gateway let it in: collected\n"
    (came,) = json.loads(daimon.run("hooks", "deliveries", "ci", "--json").out)
    assert (came["outcome"], came["data"]["test"]) == ("collected", True)
    assert "collected" in daimon.run("hooks", "deliveries", "ci").out
    daimon.run("hooks", "pause", "ci")
    paused = daimon.run("hooks", "test", "ci")
    assert (paused.code != 0, "this hook is paused" in paused.err) == (True, True)


def test_a_secret_is_changed_in_two_steps_without_a_gap(daimon: Daimon) -> None:
    first = json.loads(daimon.run("hooks", "add", "ci", "--scheme", "github", "--collect", "--json").out)["secret"]
    early = daimon.run("hooks", "rotate", "ci", "--done")
    assert (early.code, "no next secret" in early.err) == (4, True)
    following = json.loads(daimon.run("hooks", "rotate", "ci", "--json").out)["secret"]
    assert following != first
    assert json.loads(daimon.run("hooks", "show", "ci", "--secret", "--json").out)["secret"] == first
    assert daimon.run("hooks", "rotate", "ci", "--done").code == 0
    assert json.loads(daimon.run("hooks", "show", "ci", "--secret", "--json").out)["secret"] == following


@pytest.mark.parametrize("words", [(), ("--task", "Tell me.", "--collect")])
def test_what_becomes_of_deliveries_must_be_said_in_one_way(daimon: Daimon, words: tuple[str, ...]) -> None:
    done = daimon.run("hooks", "add", "ci", "--scheme", "github", *words)
    assert (done.code, "give --task TEXT" in done.err) == (4, True)


def test_with_the_built_in_model_alone_a_hook_is_made_with_a_warning(daimon: Daimon) -> None:
    done = daimon.run("hooks", "add", "ci", "--scheme", "github", "--task", "Tell me.")
    assert (done.code, "`daimon model add` connects one" in done.err) == (0, True)


@pytest.mark.parametrize(
    "words",
    [
        ("Bad", "--scheme", "github"),
        ("telegram", "--scheme", "github"),
        ("ci", "--scheme", "github", "--filter", "action"),
        ("ci", "--scheme", "github", "--to", "nowhere"),
        ("ci", "--scheme", "slack", "--tolerance", "0"),
        ("ci", "--scheme", "github", "--schema", "/does/not/exist"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_reason(daimon: Daimon, words: tuple[str, ...]) -> None:
    done = daimon.run("hooks", "add", *words)
    assert (done.code, bool(done.err)) == (4, True)


def test_a_schema_is_read_from_its_file(daimon: Daimon, tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "object", "required": ["id"]}')
    daimon.run("hooks", "add", "ci", "--scheme", "generic", "--collect", "--schema", str(file))
    assert json.loads(daimon.run("hooks", "show", "ci", "--json").out)["hook"]["schema"]["required"] == ["id"]
