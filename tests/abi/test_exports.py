"""What the package shows to the outside."""

import subprocess
import sys
import tomllib
from pathlib import Path

import daimon

ROOT = Path(__file__).parents[2]


def test_the_package_exports_its_version_and_nothing_else() -> None:
    assert daimon.__all__ == ["__version__"]
    assert all(hasattr(daimon, name) for name in daimon.__all__)


def test_the_version_is_that_of_the_project() -> None:
    assert daimon.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_importing_the_package_imports_nothing_else() -> None:
    seen = "import sys; before = set(sys.modules); import daimon; print(*sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", seen], check=True, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "src")})
    assert ran.stdout.split() == ["daimon"]
