"""A process that dies, a disk that is full, two at once: the vault is what it was before or what it is after."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.vault.rig import GITHUB, PHRASE, TOKEN, values, vault_at

from daimon.abi.errors import Misconfigured
from daimon.machine import files
from daimon.vault.passphrase import Passphrase

DEADLINE_S = 60
ROOT = Path(__file__).parents[2]
OTHER = "ghp_another_value"


def run(code: str, *words: str | Path, before: str = "") -> "subprocess.CompletedProcess[str]":
    """Python in a process of its own, with the vault at hand."""
    head = "import os, sys\nfrom pathlib import Path\nfrom tests.vault.rig import *\nfrom daimon.machine import files\n"
    command = [sys.executable, "-c", before + head + code, *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False)


DYING = """
steps = int(sys.argv[2])
def replace(path, data, mode):
    global steps
    steps -= 1
    if steps == 0:
        os._exit(7)
    files.replace(path, data, mode)
    steps -= 1
    if steps == 0:
        os._exit(7)
vault = vault_at(Path(sys.argv[1]), replace=replace)
"""


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_death_while_the_first_secret_is_added_leaves_none_or_all(tmp_path: Path, step: int) -> None:
    done = run(f"{DYING}vault.add('github', TOKEN, GITHUB)", tmp_path, str(step))
    assert done.returncode == 7, done.stderr
    vault = vault_at(tmp_path)
    assert values(vault) == ((TOKEN,) if step == 4 else ())
    vault.add("next", OTHER, GITHUB)
    assert OTHER in values(vault_at(tmp_path))


@pytest.mark.parametrize(("step", "known"), [(1, (TOKEN,)), (2, (OTHER, TOKEN))])
def test_a_death_while_a_secret_is_rotated_leaves_the_old_value_or_the_new_one(tmp_path: Path, step: int, known: tuple[str, ...]) -> None:
    vault_at(tmp_path).add("github", TOKEN, GITHUB)
    done = run(f"{DYING}vault.rotate('github', {OTHER!r})", tmp_path, str(step))
    assert done.returncode == 7, done.stderr
    assert values(vault_at(tmp_path)) == known


@pytest.mark.parametrize("step", [1, 2])
def test_a_death_while_it_is_sealed_otherwise_leaves_it_open_to_one_of_both(tmp_path: Path, step: int) -> None:
    vault_at(tmp_path).add("github", TOKEN, GITHUB)
    code = "from daimon.vault.passphrase import Passphrase\nvault.seal(Passphrase(lambda: PHRASE))"
    done = run(f"{DYING}{code}", tmp_path, str(step))
    assert done.returncode == 7, done.stderr
    assert values(vault_at(tmp_path, {"DAIMON_VAULT_PASSPHRASE": PHRASE})) == (TOKEN,)


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path: Path) -> None:
    vault = vault_at(tmp_path)
    vault.add("github", TOKEN, GITHUB)
    before = (tmp_path / "vault.sealed").read_bytes()
    code = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))\n"
    done = run(f"{code}vault_at(Path(sys.argv[1])).rotate('github', {OTHER!r})", tmp_path)
    assert "cannot be written: File too large; nothing has changed" in done.stderr
    assert (tmp_path / "vault.sealed").read_bytes() == before
    assert not list(tmp_path.glob(".*"))
    assert values(vault) == (TOKEN,)


def test_a_kill_in_the_middle_of_the_write_leaves_the_old_file(tmp_path: Path) -> None:
    vault_at(tmp_path).add("github", TOKEN, GITHUB)
    code = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))\n"
    done = run(f"{code}vault_at(Path(sys.argv[1])).rotate('github', {OTHER!r})", tmp_path)
    assert done.returncode < 0
    assert values(vault_at(tmp_path)) == (TOKEN,)
    vault_at(tmp_path).rotate("github", OTHER)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare for a small disk of its own")
def test_a_full_disk_is_told_and_the_old_file_stays(tmp_path: Path) -> None:
    code = f"""
home = Path(sys.argv[1])
vault = vault_at(home)
vault.add('github', TOKEN, GITHUB)
(home / 'ballast').write_bytes(b'')
with (home / 'ballast').open('wb', buffering=0) as ballast:
    try:
        while ballast.write(bytes(4096)):
            pass
    except OSError:
        pass
from daimon.abi.errors import Misconfigured
try:
    vault.rotate('github', {OTHER!r})
except Misconfigured as error:
    print(error)
print(values(vault_at(home)) == (TOKEN,))
vault_at(home).reveal('github', 'model:a', 'api.github.com')
(home / 'ballast').unlink()
vault.rotate('github', {OTHER!r})
print(values(vault_at(home)) == ({OTHER!r}, TOKEN))
"""
    (
        (script := tmp_path / "script.py").write_text("import os, sys\nfrom pathlib import Path\nfrom tests.vault.rig import *\n" + code),
        values,
    )
    (home := tmp_path / "home").mkdir()
    inside = 'mount -t tmpfs -o size=32k,mode=700 none "$1" && exec "$2" "$3" "$1"'
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside, "sh", str(home), sys.executable, str(script)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    if "mount:" in done.stderr:
        pytest.skip(f"no small disk here: {done.stderr.strip()}")
    told, *rest = done.stdout.splitlines()
    assert "cannot be written: No space left on device; nothing has changed" in told, done.stderr
    assert rest == ["True", "True"]


def test_many_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    code = "for n in range(5):\n    vault_at(Path(sys.argv[1])).add(f'{sys.argv[2]}-{n}', TOKEN, GITHUB)\n"
    head = "import sys\nfrom pathlib import Path\nfrom tests.vault.rig import *\n"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    started = [subprocess.Popen([sys.executable, "-c", head + code, str(tmp_path), f"p{n}"], env=environment) for n in range(4)]
    assert [process.wait(DEADLINE_S) for process in started] == [0] * 4
    assert {entry.name for entry in vault_at(tmp_path).entries()} == {f"p{p}-{n}" for p in range(4) for n in range(5)}


def test_a_disk_that_keeps_something_else_is_noticed(tmp_path: Path) -> None:
    def forgetful(path: Path, data: bytes, mode: int) -> None:
        if not path.exists():
            files.replace(path, data, mode)

    vault = vault_at(tmp_path, replace=forgetful)
    vault.add("github", TOKEN, GITHUB)
    with pytest.raises(Misconfigured, match="does not hold what was just written"):
        vault.rotate("github", OTHER)


def test_a_lock_that_is_left_by_a_dead_process_holds_nobody_up(tmp_path: Path) -> None:
    code = (
        "import fcntl\nfd = os.open(Path(sys.argv[1]) / 'vault.lock', os.O_RDWR | os.O_CREAT)\nfcntl.flock(fd, fcntl.LOCK_EX)\nos._exit(0)"
    )
    assert run(code, tmp_path).returncode == 0
    vault_at(tmp_path).add("github", TOKEN, GITHUB)
    vault_at(tmp_path).seal(Passphrase(lambda: PHRASE))
