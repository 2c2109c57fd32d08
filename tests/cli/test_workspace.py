"""`daimon workspace` and `daimon undo`, as a person types them, with a gateway and without."""

import json
import os
from pathlib import Path

import pytest
from tests.cli.processes import Daimon

from daimon.sandbox.plan import has_bwrap

pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")


@pytest.fixture
def project(daimon: Daimon, tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "a.txt").write_text("one\n")
    daimon.configure(f'[sandbox]\nworkspace = "{place}"\n')
    return place


@pytest.mark.parametrize("is_up", [False, True], ids=["nobody runs", "a gateway runs"])
def test_a_rehearsal_from_the_first_command_to_the_last(daimon: Daimon, project: Path, is_up: bool) -> None:
    if is_up:
        daimon.up()
    assert daimon.run("workspace", "new", str(project)).code == 0
    assert daimon.run("workspace", "fork", "--name", "rehearsal").out == "w2, from c1\n"
    ran = daimon.run("workspace", "run", "rehearsal", "--", "sh", "-c", "echo two >> a.txt; echo out; echo err >&2; exit 3")
    assert (ran.code, ran.out) == (3, "out\n")
    assert "err" in ran.err
    assert daimon.run("workspace", "diff").out == "nothing changed\n"
    shown = daimon.run("workspace", "diff", "rehearsal", "--text").out
    assert shown.startswith("M a.txt\n\n--- a/a.txt\n")
    assert shown.endswith("+two\n")
    assert daimon.run("workspace", "merge", "rehearsal").out == "M a.txt\n"
    assert (project / "a.txt").read_text() == "one\n"
    assert daimon.run("workspace", "apply").out == "M a.txt\n"
    assert (project / "a.txt").read_text() == "one\ntwo\n"
    assert daimon.run("undo").out == "M a.txt\n"
    assert (project / "a.txt").read_text() == "one\n"
    assert daimon.run("workspace", "discard", "rehearsal").out == "discarded w2\n"


def test_json_is_one_object_a_line_and_checkpoints_are_listed(daimon: Daimon, project: Path) -> None:
    made = json.loads(daimon.run("workspace", "new", str(project), "--name", "mine", "--json").out)
    assert (made["id"], made["name"], made["base"]) == ("w1", "mine", str(project))
    daimon.run("workspace", "run", "mine", "--", "touch", "b")
    point = json.loads(daimon.run("workspace", "checkpoint", "mine", "--why", "lunch", "--json").out)
    assert (point["why"], point["is_sealed"]) == ("lunch", True)
    assert [each["id"] for each in json.loads(daimon.run("workspace", "list", "mine", "--json").out)] == [point["id"], "c1"]
    assert json.loads(daimon.run("workspace", "diff", "--json").out) == {"changes": [{"path": "b", "what": "added"}]}
    gone = json.loads(daimon.run("workspace", "restore", "c1", "--json").out)
    assert (gone["did"], [each["path"] for each in gone["changes"]]) == ("restore", ["b"])
    assert json.loads(daimon.run("undo", "--json").out)["after"] == point["id"]


def test_a_conflict_is_named_and_the_exit_code_says_so(daimon: Daimon, project: Path) -> None:
    daimon.run("workspace", "new", str(project))
    daimon.run("workspace", "fork", "--name", "other")
    for which in ("project", "other"):
        daimon.run("workspace", "run", which, "--", "sh", "-c", f"echo {which} > a.txt")
    merged = daimon.run("workspace", "merge", "other")
    assert merged.code == 1
    assert merged.out.startswith("conflict: a.txt: ")
    assert "nothing was changed" in merged.err


def test_where_there_is_none_yet_the_error_says_how_one_is_made(daimon: Daimon) -> None:
    missing = daimon.run("workspace", "diff")
    assert (missing.code, "`daimon workspace new DIR`" in missing.err) == (3, True)


def test_only_a_fork_is_discarded_without_a_second_word(daimon: Daimon, project: Path) -> None:
    daimon.run("workspace", "new", str(project))
    refused = daimon.run("workspace", "discard", "project")
    assert (refused.code, "--yes" in refused.err) == (4, True)
    assert daimon.run("workspace", "discard", "project", "--yes").code == 0
    assert daimon.run("workspace", "list").out.startswith("there is no workspace yet; one is made when ")


def test_an_apply_over_the_owner_s_own_edit_stops(daimon: Daimon, project: Path) -> None:
    daimon.run("workspace", "new", str(project))
    daimon.run("workspace", "run", "project", "--", "sh", "-c", "echo agent > a.txt")
    daimon.run("workspace", "checkpoint")
    (project / "a.txt").write_text("mine, and longer\n")
    applied = daimon.run("workspace", "apply")
    assert (applied.code, (project / "a.txt").read_text()) == (1, "mine, and longer\n")


def test_what_would_run_by_itself_is_left_out_of_an_apply_until_it_is_asked_for(daimon: Daimon, project: Path) -> None:
    daimon.run("workspace", "new", str(project))
    daimon.run("workspace", "run", "project", "--", "sh", "-c", "mkdir .vscode; echo '{}' > .vscode/tasks.json; echo fine > b")
    applied = daimon.run("workspace", "apply")
    assert applied.code == 0
    assert ".vscode" in applied.err
    assert sorted(os.listdir(project)) == ["a.txt", "b"]
    assert daimon.run("workspace", "apply", "--with-programs").code == 0
    assert (project / ".vscode" / "tasks.json").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("workspace", "diff"), 3),
        (("workspace", "diff", "nobody"), 3),
        (("undo",), 4),
        (("undo", "w9"), 3),
        (("workspace", "restore", "c9"), 3),
        (("workspace", "new", "/no/such/place"), 4),
        (("workspace", "run", "w9", "--", "true"), 125),
    ],
)
def test_bad_input_gets_a_sentence_and_an_exit_code(daimon: Daimon, project: Path, words: tuple[str, ...], code: int) -> None:
    done = daimon.run(*words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("daimon: ")
    assert "Traceback" not in done.err
