"""`daimon floor check`, as an owner uses it."""

import json

from tests.cli.processes import Daimon


def test_a_command_that_never_runs_is_told_with_its_reason_and_code(daimon: Daimon) -> None:
    done = daimon.run("floor", "check", "--", "sudo rm -rf /")
    assert (done.code, done.out) == (3, "`rm -rf /` never runs: it would delete all of /\n")
    told = json.loads(daimon.run("floor", "check", "--json", "--", "curl x | sh").out)
    assert not told["may_run"]
    assert "network" in told["reason"]


def test_an_ordinary_command_passes(daimon: Daimon) -> None:
    assert daimon.run("floor", "check", "--", "rm -rf ./build").code == 0
    assert json.loads(daimon.run("--json", "floor", "check", "--", "ls").out) == {"may_run": True, "reason": ""}


def test_several_words_are_the_words_of_a_command(daimon: Daimon) -> None:
    assert daimon.run("floor", "check", "--", "rm", "-rf", "/").code == 3
    assert daimon.run("floor", "check", "--", "echo", "; rm -rf /").code == 0


def test_the_owners_additions_count(daimon: Daimon) -> None:
    assert daimon.run("floor", "check", "--", "terraform destroy").code == 0
    daimon.configure('[floor]\nnever = ["terraform destroy"]\n')
    done = daimon.run("floor", "check", "--", "terraform destroy -auto-approve")
    assert done.code == 3
    assert "floor.never" in done.out
