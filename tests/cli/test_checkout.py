import json
from pathlib import Path

import pytest
from tests.cli.processes import Daimon

PYPROJECT = """
[tool.mypy]
files = ["one"]

[tool.importlinter]
root_package = "one"

[[tool.importlinter.contracts]]
name = "none"
type = "forbidden"
source_modules = ["one"]
forbidden_modules = []

[tool.pytest]
"""
ECHO = """
import json
import sys

sys.stdout.write(json.dumps(sys.argv[1:]))
sys.exit(5 if "--fail" in sys.argv else 0)
""".lstrip()


@pytest.fixture
def checkout(daimon: Daimon, tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / "benchmarks").mkdir(parents=True)
    (root / "one").mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "one" / "__init__.py").write_text('"""One."""\n')
    (root / "test_one.py").write_text("def test_one() -> None:\n    assert True\n")
    (root / "benchmarks" / "echo.py").write_text(ECHO)
    daimon.environment["DAIMON_CHECKOUT"] = str(root)
    daimon.environment["PYTHONPATH"] += f":{root}"
    return root


def test_a_benchmark_gets_its_arguments_and_gives_its_exit_code(daimon: Daimon, checkout: Path) -> None:
    done = daimon.run("bench", "echo", "--json", "--quick", "7")
    assert (done.code, json.loads(done.out)) == (0, ["--json", "--quick", "7"])
    assert daimon.run("bench", "echo", "--fail").code == 5


def test_a_benchmark_is_found_with_hyphens_too(daimon: Daimon, checkout: Path) -> None:
    (checkout / "benchmarks" / "idle_day.py").write_text(ECHO)
    assert json.loads(daimon.run("bench", "idle-day", "7").out) == ["7"]
    assert json.loads(daimon.run("bench", "idle_day", "7").out) == ["7"]


def test_an_unknown_benchmark_is_told_which_there_are(daimon: Daimon, checkout: Path) -> None:
    done = daimon.run("bench", "../one")
    assert done.code == 3
    assert "echo" in done.err
    assert daimon.run("bench").out == "echo\n"


def test_all_checks_run_and_pytest_has_the_last_word(daimon: Daimon, checkout: Path) -> None:
    good = daimon.run("test", "-q")
    assert good.code == 0, good.out + good.err
    assert "1 passed" in good.out.splitlines()[-1]

    (checkout / "one" / "__init__.py").write_text("import os\nx: int = ''\n")
    bad = daimon.run("test", "-q")
    assert bad.code == 1
    assert "FAILED  ruff check" in bad.out
    assert "FAILED  mypy" in bad.out
    assert "ok      import rules" in bad.out
    assert "1 passed" in bad.out.splitlines()[-1]


def test_checks_as_json_say_which_failed(daimon: Daimon, checkout: Path) -> None:
    (checkout / "test_one.py").write_text("def test_one() -> None:\n    assert False\n")
    done = daimon.run("test", "--json", "-q")
    told = json.loads(done.out)
    assert done.code == 1
    assert not told["ok"]
    assert [check["name"] for check in told["checks"] if not check["ok"]] == ["pytest"]


def test_outside_of_a_checkout_there_is_nothing_to_test(daimon: Daimon, tmp_path: Path) -> None:
    daimon.environment["DAIMON_CHECKOUT"] = str(tmp_path)
    assert daimon.run("test").code == 78
