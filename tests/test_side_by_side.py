"""How the tests themselves are run: beside each other, and none can vanish with its process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.processes import DEADLINE_S

SETTINGS = """
[tool.pytest]
testpaths = ["tests"]
addopts = ["--strict-markers", "-n", "auto", "--dist", "worksteal"]
"""
MEET = """
import pathlib, time
import pytest

@pytest.mark.parametrize(("mine", "other"), [("a", "b"), ("b", "a")])
def test_meet(mine: str, other: str) -> None:
    pathlib.Path(mine).touch()
    deadline = time.monotonic() + 50
    while not pathlib.Path(other).exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)
"""
CRASH = """
import os
import pytest

@pytest.mark.parametrize("number", range(8))
def test_crash(number: int) -> None:
    if number == 5:
        os.abort()
"""


def run(place: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Tests of their own, under the conftest of these."""
    (place / "tests").mkdir()
    (place / "pyproject.toml").write_text(SETTINGS)
    (place / "tests" / "conftest.py").write_bytes(Path(__file__).with_name("conftest.py").read_bytes())
    (place / "tests" / "test_it.py").write_text(text)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=place, env=own, capture_output=True, text=True, timeout=DEADLINE_S, check=False)


def test_tests_run_beside_each_other(tmp_path: Path) -> None:
    done = run(tmp_path, MEET)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


@pytest.mark.parametrize("words", [("tests/test_it.py",), ("-k", "crash and 3")])
def test_who_names_tests_has_one_process(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(tmp_path, CRASH.replace("os.abort()", "assert 'PYTEST_XDIST_WORKER' not in os.environ"), *words)
    assert done.returncode == 0, done.stdout


def test_a_test_that_takes_its_process_down_fails_the_run_by_name_and_the_others_are_run(tmp_path: Path) -> None:
    done = run(tmp_path, CRASH)
    assert done.returncode == 1
    assert "FAILED tests/test_it.py::test_crash[5]" in done.stdout
    assert "1 failed, 7 passed" in done.stdout
