"""The policies in force: a broken file opens nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from daimon import law
from daimon.abi.errors import Misconfigured
from daimon.config import Home

FORBID = '@id("own.no") forbid (principal, action, resource);'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    made.policies.mkdir()
    return made


def write(home: Home, text: str, name: str = "own.cedar") -> None:
    (home.policies / name).write_text(text, encoding="utf-8")


def ids(rules: law.Rules) -> set[str]:
    return {statement.id for statement in rules.statements}


def test_the_owners_files_count_beside_the_shipped_ones(home: Home) -> None:
    write(home, FORBID)
    found = law.Law(home)
    assert {"own.no", "read"} <= ids(found.rules)
    assert found.warnings == ()


def test_a_broken_file_while_running_changes_nothing_and_is_told_until_it_is_mended(home: Home) -> None:
    write(home, FORBID)
    found = law.Law(home)
    before = found.rules
    write(home, "\nforbid(principal")
    with pytest.raises(Misconfigured, match=r"own\.cedar:2: this policy cannot be read"):
        found.reread()
    assert found.rules is before
    assert "stay in force" in found.warnings[0]
    write(home, FORBID)
    assert "own.no" in ids(found.reread())
    assert found.warnings == ()


def test_a_start_with_a_broken_file_uses_the_last_good_copy(home: Home) -> None:
    write(home, FORBID)
    law.Law(home)
    write(home, "forbid(principal")
    found = law.Law(home)
    assert "own.no" in ids(found.rules)
    assert "as they last were" in found.warnings[0]
    assert "own.cedar:1" in found.warnings[0]


@pytest.mark.parametrize("kept", [None, b"{", b'{"own.cedar": "forbid("}'])
def test_without_a_good_copy_the_shipped_ones_count_alone(home: Home, kept: bytes | None) -> None:
    write(home, "forbid(principal")
    if kept is not None:
        home.good_policies.write_bytes(kept)
    found = law.Law(home)
    assert ids(found.rules) == ids(law.rules_of({}))
    assert "only the policies that come with Daimon" in found.warnings[0]


def test_files_that_were_taken_away_are_forgotten(home: Home) -> None:
    write(home, FORBID)
    law.Law(home)
    (home.policies / "own.cedar").unlink()
    assert "own.no" not in ids(law.Law(home).rules)
    write(home, "broken")
    assert "own.no" not in ids(law.Law(home).rules)


def test_to_look_writes_nothing(home: Home) -> None:
    write(home, FORBID)
    law.in_force(home)
    assert not home.good_policies.exists()


def test_a_file_that_is_no_text_is_told(home: Home) -> None:
    (home.policies / "own.cedar").write_bytes(b"\xff")
    assert "not valid UTF-8" in law.Law(home).warnings[0]


def test_the_engine_is_loaded_only_when_something_is_to_be_decided_or_checked(tmp_path: Path) -> None:
    script = (
        "import sys; from daimon import boot, law; from daimon.config import Home; from pathlib import Path\n"
        f"law.Law(Home(Path({str(tmp_path)!r})))\nsys.exit('cedarpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
