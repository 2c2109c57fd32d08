"""The bootstrap, run as a real process in throw-away checkouts.

Their lock files are empty, so uv installs nothing and no network is needed (UV_OFFLINE proves it). PATH holds one directory of
the test's own: a `uv` that logs its calls and becomes the real one, where the test says so an `apt-get`. pip is a fake as well.
"""

from __future__ import annotations

import ast
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import IO

import pytest

BOOTSTRAP = Path(__file__).parent.parent / "daimon"
PYTHON = os.path.realpath(sys.executable)
NOBODY = 65534
DEADLINE_S = 120

COMMAND = """
import os, signal, sys

match sys.argv[1:]:
    case ["exit", code]:
        sys.exit(int(code))
    case ["wait"]:
        print(os.getpid(), flush=True)
        signal.pause()
    case ["environment"]:
        print(os.environ["DAIMON_CHECKOUT"], os.environ["DAIMON_UV"])
    case words:
        print(words)
"""

UV = """#!/bin/sh
echo "$*" >> "$CHECKOUT/uv.log"
"""

LOG_SETTINGS = """
case "$*" in "pip sync"*) echo "$UV_DEFAULT_INDEX|$UV_INDEX|$UV_FIND_LINKS|$SSL_CERT_FILE" >> "$CHECKOUT/settings.log" ;; esac
"""

# Tells that it is installing, and goes on when it is told to.
WAIT_IN_SYNC = """
case "$*" in "pip sync"*) echo installing > "$CHECKOUT/told"; read -r _ < "$CHECKOUT/go" ;; esac
"""

BECOME_UV = """exec "$REAL_UV" "$@"
"""

APT_GET = """#!/bin/sh
echo "$DEBIAN_FRONTEND: apt-get $*" >> "$CHECKOUT/apt.log"
case "$*" in
    "install "*python3-pip) : > "$CHECKOUT/has-pip" ;;
    "install "*dovecot-imapd) "$CHECKOUT/policy-rc.d"; echo "services: $?" >> "$CHECKOUT/apt.log"; : > "$CHECKOUT/dovecot-imap" ;;
    "install "*bubblewrap) printf '#!/bin/sh\\n' > "$CHECKOUT/bin/bwrap"; /bin/chmod 755 "$CHECKOUT/bin/bwrap" ;;
esac
"""

PIP = """
import os, pathlib, shutil, sys

checkout = pathlib.Path(os.environ["CHECKOUT"])
if not (checkout / "has-pip").exists():
    sys.exit("No module named pip")
match sys.argv[1:]:
    case ["--version"]:
        print("pip 26.0")
    case ["config", "list"]:
        print((checkout / "has-pip").read_text())
    case ["install", "--target", target, *options]:
        assert "--require-hashes" in options
        os.makedirs(target + "/bin")
        shutil.copy(checkout / "uv-on-the-index", target + "/bin/uv")
"""


@dataclass(frozen=True)
class Checkout:
    path: Path
    environ: dict[str, str]

    @contextmanager
    def start(self, *words: str, cwd: Path | None = None, python: str = PYTHON, user: int | None = None) -> Iterator[subprocess.Popen[str]]:
        argv = [python, str(self.path / "daimon"), *words]
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, env=self.environ, cwd=cwd or self.path, user=user, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                yield process
            finally:
                process.kill()

    def run(self, *words: str, cwd: Path | None = None, python: str = PYTHON, user: int | None = None) -> subprocess.CompletedProcess[str]:
        with self.start(*words, cwd=cwd, python=python, user=user) as process:
            stdout, stderr = process.communicate(timeout=DEADLINE_S)
        return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)

    def program(self, name: str, text: str) -> None:
        file = self.path / "bin" / name
        file.write_text(text)
        file.chmod(0o755)

    def logged(self, name: str) -> list[str]:
        log = self.path / name
        return log.read_text().splitlines() if log.exists() else []

    def installs(self) -> list[str]:
        """The lock files that were installed, in order."""
        return [line.split()[-1] for line in self.logged("uv.log") if line.startswith("pip sync")]

    @property
    def stamp(self) -> Path:
        return self.path / ".venv" / "daimon-stamp"

    @property
    def python(self) -> Path:
        return self.path / ".venv" / "bin" / "python"


@pytest.fixture(scope="session")
def real_uv() -> str:
    uv = os.environ.get("DAIMON_UV") or shutil.which("uv")
    assert uv, "these tests need uv: run them with ./daimon test, or put uv on PATH"
    return uv


@pytest.fixture
def checkout(real_uv: str) -> Iterator[Checkout]:
    with tempfile.TemporaryDirectory(prefix="daimon-bootstrap-") as directory:
        path = Path(directory).resolve()
        path.chmod(0o755)
        environ = {"CHECKOUT": str(path), "REAL_UV": real_uv, "UV_OFFLINE": "1", "HOME": str(path), "PYTHONPATH": str(path / "pythonpath")}
        for package, module, text in (("src/daimon", "__main__.py", COMMAND), ("pythonpath/pip", "__main__.py", PIP)):
            (path / package).mkdir(parents=True)
            (path / package / "__init__.py").touch()
            (path / package / module).write_text(text)
        for lock in ("requirements.lock", "requirements-dev.lock"):
            (path / lock).write_text(f"# {lock}\n")
        elsewhere = (("/usr/lib/dovecot/imap", f"{path}/dovecot-imap"), ("/usr/sbin/policy-rc.d", f"{path}/policy-rc.d"))
        bootstrap = reduce(lambda text, change: text.replace(*change), elsewhere, BOOTSTRAP.read_text())
        (path / "daimon").write_text(bootstrap)
        (path / "dovecot-imap").touch()
        (path / "bin").mkdir()
        made = Checkout(path, {**environ, "PATH": str(path / "bin")})
        made.program("uv", UV + BECOME_UV)
        made.program("bwrap", "#!/bin/sh\n")
        made.program("chromium", "#!/bin/sh\n")
        yield made


@pytest.fixture
def installed(checkout: Checkout) -> Checkout:
    assert checkout.run("exit", "0").returncode == 0
    return checkout


@pytest.fixture
def gate(checkout: Checkout) -> Iterator[Gate]:
    checkout.program("uv", UV + WAIT_IN_SYNC + BECOME_UV)
    for name in ("told", "go"):
        os.mkfifo(checkout.path / name)
    gate = Gate(os.open(checkout.path / "told", os.O_RDWR), os.open(checkout.path / "go", os.O_RDWR))
    yield gate
    os.close(gate.told)
    os.close(gate.go)


@dataclass(frozen=True)
class Gate:
    told: int
    go: int

    def wait_until_installing(self) -> None:
        assert select.select([self.told], [], [], DEADLINE_S)[0], "nothing is installed"
        assert os.read(self.told, len("installing\n"))

    def open(self) -> None:
        os.write(self.go, b"\n")


def test_the_first_run_installs_and_becomes_the_command(checkout: Checkout) -> None:
    done = checkout.run("say", "two words", "--flag")
    assert (done.returncode, done.stdout) == (0, "['say', 'two words', '--flag']\n")
    assert "installing what requirements.lock pins" in done.stderr
    assert checkout.stamp.exists()


def test_the_command_is_told_where_the_checkout_and_uv_are(checkout: Checkout) -> None:
    assert checkout.run("environment").stdout.split() == [str(checkout.path), str(checkout.path / "bin" / "uv")]


def test_a_current_environment_starts_no_other_program_and_says_nothing(installed: Checkout) -> None:
    before = installed.logged("uv.log")
    installed.program("uv", UV + "exit 1\n")
    done = installed.run("say")
    assert (done.returncode, done.stdout, done.stderr) == (0, "['say']\n", "")
    assert installed.logged("uv.log") == before


def test_the_exit_code_is_the_command_s(installed: Checkout) -> None:
    assert installed.run("exit", "7").returncode == 7


def test_a_signal_reaches_the_command(installed: Checkout) -> None:
    with installed.start("wait") as process:
        assert int(read_line(process.stdout)) == process.pid
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_S) == -signal.SIGTERM


def test_a_changed_lock_is_installed(installed: Checkout) -> None:
    before = installed.stamp.read_text()
    (installed.path / "requirements.lock").write_text("# other pins\n")
    assert installed.run("say").returncode == 0
    assert installed.installs() == ["requirements.lock", "requirements.lock"]
    assert installed.stamp.read_text() != before


@pytest.mark.parametrize("command", ["test", "bench", "dev"])
def test_development_commands_install_the_test_set(checkout: Checkout, command: str) -> None:
    assert checkout.run("--verbose", command).returncode == 0
    assert checkout.installs() == ["requirements-dev.lock"]


def test_the_test_set_serves_all_commands(checkout: Checkout) -> None:
    for command in ("run", "test", "run", "test"):
        assert checkout.run(command).returncode == 0
    assert checkout.installs() == ["requirements.lock", "requirements-dev.lock"]


def test_an_environment_without_python_is_made_again(installed: Checkout) -> None:
    installed.python.unlink()
    left_over = installed.path / ".venv" / "left-over"
    left_over.touch()
    done = installed.run("say")
    assert (done.returncode, done.stdout) == (0, "['say']\n")
    assert not left_over.exists()


def test_an_environment_whose_python_became_another_is_made_again(installed: Checkout) -> None:
    installed.program("other-python", f'#!/bin/sh\nexec {PYTHON} "$@"\n')
    installed.python.unlink()
    installed.python.symlink_to(installed.path / "bin" / "other-python")
    assert installed.run("say").stdout == "['say']\n"
    assert os.path.realpath(installed.python) == PYTHON


def test_a_moved_checkout_needs_nothing(installed: Checkout) -> None:
    before = installed.logged("uv.log")
    moved = Checkout(installed.path / "elsewhere", installed.environ)
    moved.path.mkdir()
    for name in ("daimon", "src", ".venv", "requirements.lock", "requirements-dev.lock"):
        (installed.path / name).rename(moved.path / name)
    assert moved.run("say").stdout == "['say']\n"
    assert installed.logged("uv.log") == before


def test_nothing_is_imported_from_the_directory_that_the_owner_stands_in(installed: Checkout) -> None:
    (installed.path / "elsewhere" / "daimon").mkdir(parents=True)
    (installed.path / "elsewhere" / "daimon" / "__init__.py").touch()
    (installed.path / "elsewhere" / "daimon" / "__main__.py").write_text("print('not me')")
    assert installed.run("say", cwd=installed.path / "elsewhere").stdout == "['say']\n"


def test_a_failed_install_is_told_and_tried_again(installed: Checkout) -> None:
    installed.program("uv", UV + 'case "$*" in "pip sync"*) echo "the index is on fire"; exit 2 ;; esac\n' + BECOME_UV)
    done = installed.run("test")
    assert (done.returncode, done.stdout) == (69, "")
    assert "failed (2)" in done.stderr
    assert "the index is on fire" in done.stderr
    assert not installed.stamp.exists(), "a half-installed environment must not pass for the run set"
    installed.program("uv", UV + BECOME_UV)
    assert installed.run("say").stdout == "['say']\n"


def test_two_at_once_install_once(checkout: Checkout, gate: Gate) -> None:
    with checkout.start("say", "first") as first:
        gate.wait_until_installing()
        with checkout.start("say", "second") as second:
            assert "waiting" in read_line(second.stderr)
            gate.open()
            assert first.communicate(timeout=DEADLINE_S)[0] == "['say', 'first']\n"
            assert second.communicate(timeout=DEADLINE_S) == ("['say', 'second']\n", "")
    assert len(checkout.installs()) == 1


def test_a_killed_install_is_waited_for_and_then_starts_over(checkout: Checkout, gate: Gate) -> None:
    with checkout.start("say") as killed:
        gate.wait_until_installing()
        killed.kill()
    with checkout.start("say") as process:
        assert "waiting" in read_line(process.stderr)
        gate.open()
        gate.wait_until_installing()
        assert not checkout.stamp.exists()
        gate.open()
        assert process.communicate(timeout=DEADLINE_S)[0] == "['say']\n"


def test_without_uv_pip_fetches_it_and_its_settings_reach_uv(checkout: Checkout) -> None:
    (checkout.path / "bin" / "uv").rename(checkout.path / "uv-on-the-index")
    (checkout.path / "uv-on-the-index").write_text(UV + LOG_SETTINGS + BECOME_UV)
    (checkout.path / "has-pip").write_text(
        "global.index-url='https://packages.example/simple'\n"
        "global.extra-index-url='https://one.example\\nhttps://two.example'\n"
        "global.find-links='/no/wheels/here'\n"
        f"install.find-links='{checkout.path}/src {checkout.path}/bin'\n"
        "global.cert='/passed/over.pem'\n"
    )
    checkout.environ.update(PIP_CERT=f"{checkout.path}/uv.log", UV_DEFAULT_INDEX="https://mine.example")
    done = checkout.run("say")
    assert done.returncode == 0, done.stderr
    default, extra, links, certificate = checkout.logged("settings.log")[0].split("|")
    assert default == "https://mine.example"
    assert extra == "https://one.example https://two.example"
    assert links == f"{checkout.path}/src,{checkout.path}/bin"
    assert certificate == f"{checkout.path}/uv.log"


def test_a_uv_that_is_too_old_is_passed_over(checkout: Checkout) -> None:
    (checkout.path / "bin" / "uv").rename(checkout.path / "uv-on-the-index")
    checkout.program("uv", "#!/bin/sh\necho 'uv 0.4.9 (some-platform)'\n")
    (checkout.path / "has-pip").touch()
    assert checkout.run("environment").stdout.split()[1] == str(checkout.path / ".tools" / "bin" / "uv")


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is called by root only")
def test_root_gets_pip_by_apt_get(checkout: Checkout) -> None:
    (checkout.path / "bin" / "uv").rename(checkout.path / "uv-on-the-index")
    checkout.program("apt-get", APT_GET)
    checkout.program("env", f'#!/bin/sh\nexec {shutil.which("env")} "$@"\n')
    done = checkout.run("say")
    assert done.stdout == "['say']\n"
    assert "running apt-get update && apt-get install" in done.stderr
    assert checkout.logged("apt.log") == [
        "noninteractive: apt-get update",
        "noninteractive: apt-get install -y --no-install-recommends python3-pip",
    ]


def test_others_are_told_the_command_that_brings_pip(checkout: Checkout) -> None:
    (checkout.path / "bin" / "uv").unlink()
    checkout.program("apt-get", APT_GET)
    done = run_as_ordinary_user(checkout)
    assert (done.returncode, done.stdout) == (69, "")
    assert "    apt-get update && apt-get install -y --no-install-recommends python3-pip\n" in done.stderr
    assert checkout.logged("apt.log") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is called by root only")
def test_root_gets_bubblewrap_by_apt_get(checkout: Checkout) -> None:
    (checkout.path / "bin" / "bwrap").unlink()
    checkout.program("apt-get", APT_GET)
    checkout.program("env", f'#!/bin/sh\nexec {shutil.which("env")} "$@"\n')
    done = checkout.run("say")
    assert done.stdout == "['say']\n"
    assert "refuses to start" not in done.stderr
    assert checkout.logged("apt.log")[-1] == "noninteractive: apt-get install -y --no-install-recommends bubblewrap"
    assert len(checkout.logged("apt.log")) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is called by root only")
@pytest.mark.parametrize("command", ["say", "test"])
def test_only_the_tests_get_dovecot_and_the_machine_does_not_start_it(checkout: Checkout, command: str) -> None:
    (checkout.path / "dovecot-imap").unlink()
    checkout.program("apt-get", APT_GET)
    for name in ("env", "sh", "grep", "chmod", "rm"):
        checkout.program(name, f'#!/bin/sh\nexec {shutil.which(name)} "$@"\n')
    done = checkout.run(command)
    assert done.returncode == 0
    installed = ["noninteractive: apt-get install -y --no-install-recommends dovecot-imapd", "services: 101"]
    assert checkout.logged("apt.log")[1:] == (installed if command == "test" else [])
    assert not (checkout.path / "policy-rc.d").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is called by root only")
def test_what_the_owner_says_about_services_stays(checkout: Checkout) -> None:
    (checkout.path / "dovecot-imap").unlink()
    (checkout.path / "policy-rc.d").write_text("#!/bin/sh\nexit 7\n")
    (checkout.path / "policy-rc.d").chmod(0o755)
    checkout.program("apt-get", APT_GET)
    for name in ("env", "sh", "grep", "chmod", "rm"):
        checkout.program(name, f'#!/bin/sh\nexec {shutil.which(name)} "$@"\n')
    checkout.run("test")
    assert checkout.logged("apt.log")[-1] == "services: 7"
    assert (checkout.path / "policy-rc.d").exists()


def test_without_bubblewrap_and_apt_get_it_goes_on_and_says_once_what_will_not_work(checkout: Checkout) -> None:
    (checkout.path / "bin" / "bwrap").unlink()
    done = checkout.run("say")
    assert (done.returncode, done.stdout) == (0, "['say']\n")
    told = [line for line in done.stderr.splitlines() if "bubblewrap" in line]
    assert len(told) == 1
    assert "the box refuses to start" in told[0]
    assert "package manager" in told[0]
    assert checkout.run("say").stderr == ""


def test_an_ordinary_user_without_bubblewrap_goes_on_and_is_told_the_command(checkout: Checkout) -> None:
    (checkout.path / "bin" / "bwrap").unlink()
    checkout.program("apt-get", APT_GET)
    done = run_as_ordinary_user(checkout)
    told = [line for line in done.stderr.splitlines() if "bubblewrap" in line]
    assert len(told) == 1
    assert "apt-get update && apt-get install -y --no-install-recommends bubblewrap" in told[0]
    assert "installing what requirements.lock pins" in done.stderr
    assert checkout.logged("apt.log") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is called by root only")
def test_a_failing_apt_get_stops_nothing_where_only_bubblewrap_is_missing(checkout: Checkout) -> None:
    (checkout.path / "bin" / "bwrap").unlink()
    checkout.program("apt-get", "#!/bin/sh\necho 'no such archive'\nexit 100\n")
    checkout.program("env", f'#!/bin/sh\nexec {shutil.which("env")} "$@"\n')
    done = checkout.run("say")
    assert (done.returncode, done.stdout) == (0, "['say']\n")
    assert "the box refuses to start" in done.stderr
    assert "`apt-get update` failed (100): no such archive" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is called by root only")
def test_a_failing_apt_get_is_the_end_where_pip_is_missing(checkout: Checkout) -> None:
    (checkout.path / "bin" / "uv").unlink()
    checkout.program("apt-get", "#!/bin/sh\necho 'no such archive'\nexit 100\n")
    checkout.program("env", f'#!/bin/sh\nexec {shutil.which("env")} "$@"\n')
    done = checkout.run("say")
    assert (done.returncode, done.stdout) == (69, "")
    assert "no such archive" in done.stderr


def test_a_checkout_that_cannot_be_written_is_named(checkout: Checkout) -> None:
    checkout.path.chmod(0o555)
    done = run_as_ordinary_user(checkout, owns=False)
    checkout.path.chmod(0o755)
    assert done.returncode == 69
    assert f"cannot prepare {checkout.path}: " in done.stderr
    assert "must be able to write there" in done.stderr


def test_it_parses_on_python_3_8() -> None:
    ast.parse(BOOTSTRAP.read_text(), feature_version=(3, 8))


def read_line(stream: IO[str] | None) -> str:
    assert stream
    assert select.select([stream], [], [], DEADLINE_S)[0], "nothing was said"
    return stream.readline()


def run_as_ordinary_user(checkout: Checkout, *, owns: bool = True) -> subprocess.CompletedProcess[str]:
    if os.geteuid() != 0:
        return checkout.run("say")
    if owns:
        os.chown(checkout.path, NOBODY, NOBODY)
    probe = "import sys; sys.exit(sys.version_info < (3, 11))"
    for python in (PYTHON, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            if subprocess.run([python, "-c", probe], user=NOBODY, check=False, cwd="/").returncode == 0:
                return checkout.run("say", python=python, user=NOBODY)
        except OSError:
            continue
    pytest.skip("no Python that an ordinary user may start")
