"""The keyring of a session, with stand-ins for the package `keyring`: one that keeps, one that hangs, one that keeps nothing, none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEADLINE_S = 120
KEEPS = """
import json, os
from pathlib import Path
FILE = Path(os.environ["KEPT"])
def _all(): return json.loads(FILE.read_text()) if FILE.exists() else {}
def get_password(service, name): return _all().get(f"{service}/{name}")
def set_password(service, name, value): FILE.write_text(json.dumps({**_all(), f"{service}/{name}": value}))
def delete_password(service, name): FILE.write_text(json.dumps({k: v for k, v in _all().items() if k != f"{service}/{name}"}))
"""
HANGS = "import threading\ndef set_password(*words): threading.Event().wait(600)\n"
FORGETS = "def set_password(*words): pass\ndef get_password(*words): return None\n"
LOCKED = "def set_password(*words): raise RuntimeError('sesame is not the word')\n"
SEALING = """
import sys
from pathlib import Path
from tests.vault.rig import *
from daimon.abi.errors import Misconfigured
home = Path(sys.argv[1])
vault = vault_at(home)
vault.add("github", TOKEN, GITHUB)
try:
    vault.seal(SystemKeyring(float(sys.argv[2])))
except Misconfigured as error:
    print(error)
print(vault_at(home).source, values(vault_at(home)) == (TOKEN,))
"""


def run(tmp_path: Path, package: str | None, code: str) -> list[str]:
    (place := tmp_path / "packages").mkdir(exist_ok=True)
    if package is not None:
        (place / "keyring.py").write_text(package)
    (home := tmp_path / "home").mkdir(exist_ok=True)
    path = os.pathsep.join(map(str, (place, ROOT / "src", ROOT)))
    environment = {**os.environ, "PYTHONPATH": path, "KEPT": str(tmp_path / "kept.json")}
    command = [sys.executable, "-c", code, str(home), str(1 if package == HANGS else DEADLINE_S)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_key_is_kept_by_the_keyring_and_opens_the_vault_again(tmp_path: Path) -> None:
    assert run(tmp_path, KEEPS, SEALING) == ["keyring True"]
    assert not (tmp_path / "home" / "vault.key").exists()
    again = "import sys\nfrom pathlib import Path\nfrom tests.vault.rig import *\nvault = vault_at(Path(sys.argv[1]))\n"
    again += "vault.seal(SystemKeyring(60.0))\nprint(values(vault) == (TOKEN,))\n"
    assert run(tmp_path, None, again) == ["True"]
    assert (tmp_path / "kept.json").read_text().count("daimon-vault/") == 1
    (tmp_path / "kept.json").unlink()
    lost = "import sys\nfrom pathlib import Path\nfrom tests.vault.rig import *\nfrom daimon.abi.errors import Misconfigured\n"
    lost += "try:\n    values(vault_at(Path(sys.argv[1])))\nexcept Misconfigured as error:\n    print(error)\n"
    assert "the keyring has no key daimon-vault" in run(tmp_path, None, lost)[0]


@pytest.mark.parametrize(
    ("package", "told"),
    [
        (HANGS, "did not answer within 1 s"),
        (FORGETS, "the keyring has no key"),
        (LOCKED, "does not answer: RuntimeError"),
        ("raise ImportError", "install daimon[keyring]"),
    ],
)
def test_a_keyring_that_will_not_do_is_told_and_changes_nothing(tmp_path: Path, package: str, told: str) -> None:
    said, state = run(tmp_path, package, SEALING)
    assert told in said
    assert "sesame" not in said
    assert state == "file True"
