"""What would run by itself on the host is set aside, however it was put there; what would not stays."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from daimon.sandbox.pins import Pins, pins_of

PLAIN = "[core]\n\tbare = false\n"


def repository(place: Path, config: str) -> None:
    (place / ".git").mkdir()
    (place / ".git/config").write_text(config)


@pytest.mark.parametrize(
    "config",
    [
        "[core]fsmonitor = evil #]\n",
        "[core] fsmonitor = evil ;]\n",
        '[remote "x"] uploadpack = evil #"]\n',
        "[core]\n\tfsmonitor = evil\n",
        PLAIN + "# x\n" * 20_000 + "[core]\n\tfsmonitor = evil\n",
    ],
)
def test_a_new_repository_whose_settings_name_a_program_is_set_aside(tmp_path: Path, config: str) -> None:
    pins = Pins(str(tmp_path))
    repository(tmp_path, config)
    assert pins.sweep() == (".git → git.set-aside-1",)


def test_a_new_repository_as_git_makes_it_stays(tmp_path: Path) -> None:
    pins = Pins(str(tmp_path))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", "https://example.org/x.git"], check=True)
    assert pins.sweep() == ()


def test_taking_all_names_does_not_keep_a_file_from_being_set_aside(tmp_path: Path) -> None:
    pins = Pins(str(tmp_path))
    for n in range(1, 1_000):
        (tmp_path / f"envrc.set-aside-{n}").touch()
    (tmp_path / ".envrc").touch()
    assert len(pins.sweep()) == 1
    assert not (tmp_path / ".envrc").exists()


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is closed to root")
def test_closing_the_workspace_does_not_keep_a_file_from_being_set_aside(tmp_path: Path) -> None:
    pins = Pins(str(tmp_path))
    (tmp_path / ".envrc").touch()
    tmp_path.chmod(0o555)
    assert len(pins.sweep()) == 1
    assert stat.S_IMODE(tmp_path.stat().st_mode) & stat.S_IRWXU == stat.S_IRWXU


def test_a_workspace_that_became_a_bare_repository_has_no_settings_that_run(tmp_path: Path) -> None:
    pins = Pins(str(tmp_path))
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True)
    assert pins.sweep() == ()  # nothing in it runs by itself
    subprocess.run(["git", "-C", str(tmp_path), "config", "core.fsmonitor", "./evil"], check=True)
    assert pins.sweep() == ("config → config.set-aside-1",)


def test_a_workspace_that_was_a_bare_repository_stays_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True)
    assert Pins(str(tmp_path)).sweep() == ()
    assert (tmp_path / "HEAD").exists()


def test_a_repository_below_with_a_program_in_its_settings_is_set_aside_and_a_plain_one_stays(tmp_path: Path) -> None:
    pins = Pins(str(tmp_path))
    for name, config in (("evil", "[core]\n\tfsmonitor = evil\n"), ("plain", PLAIN)):
        (tmp_path / name).mkdir()
        repository(tmp_path / name, config)
    assert pins.sweep() == ("evil/.git → evil/git.set-aside-1",)


def test_a_hook_in_a_repository_below_that_was_there_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    repository(tmp_path / "sub", PLAIN)
    pins = Pins(str(tmp_path), pins_of(str(tmp_path)))
    (tmp_path / "sub/.git/hooks").mkdir()
    assert pins.sweep() == ("sub/.git/hooks → sub/.git/hooks.set-aside-1",)


def test_a_directory_that_became_a_link_leads_the_sweep_nowhere(tmp_path: Path) -> None:
    work, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    for place in (work / "sub", elsewhere):
        place.mkdir(parents=True)
        repository(place, PLAIN)
    pins = Pins(str(work))
    (work / "sub").rename(work / "gone")
    (work / "sub").symlink_to(elsewhere)
    (elsewhere / ".git/hooks").mkdir()
    pins.sweep()
    assert (elsewhere / ".git/hooks").exists()
