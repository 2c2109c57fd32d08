"""A group that is called without a command."""

import pytest
from tests.cli.processes import Daimon


@pytest.mark.parametrize("group", ["model", "secrets", "workspace", "memory", "skills", "policy", "grants"])
def test_it_lists_what_it_has(daimon: Daimon, group: str) -> None:
    daimon.home.mkdir(mode=0o700)
    assert daimon.run(group, "--json") == daimon.run("--json", group, "list")


def test_without_a_list_it_shows_its_help(daimon: Daimon) -> None:
    assert "Usage" in daimon.run("sandbox").out


def test_the_home_may_stand_before_the_command_of_a_group(daimon: Daimon) -> None:
    other = daimon.signs / "other"
    other.mkdir(mode=0o700)
    before = daimon.run("model", "--home", str(other), "use", "reflex")
    assert (before.code, (other / "daimon.toml").exists(), daimon.home.exists()) == (0, True, False), before.err
