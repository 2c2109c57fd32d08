"""Landlock in this machine's kernel. Each case is a process of its own, since a restriction cannot be taken back."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from daimon.sandbox import landlock

SOURCE = Path(landlock.__file__)
DEADLINE_S = 60
START = f"""
import ctypes, errno, os, runpy, signal, socket, sys
globals().update(runpy.run_path({str(SOURCE)!r}))
def tried(action, *arguments):
    try:
        action(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
def read(path): open(path).read()
def write(path): open(path, "w").write("x")
SYSTEM = [("/usr", READ | EXECUTE), ("/lib", READ | EXECUTE), ("/lib64", READ | EXECUTE), ("/bin", READ | EXECUTE)]
"""

pytestmark = pytest.mark.skipif(landlock.abi_version() == 0, reason="this kernel has no Landlock")


def said(place: Path, script: str, *before: str) -> list[str]:
    """What the script printed, a line each; it runs in a process of its own, with `before` in front of it."""
    argv = [*before, sys.executable, "-I", "-S", "-c", START + script]
    done = subprocess.run(argv, cwd=place, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("open", "closed", "read_only"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("before")
    shutil.copy("/bin/true", tmp_path / "open" / "program")
    return tmp_path


def test_the_file_stands_alone(tmp_path: Path) -> None:
    """The supervisor has nothing of this package; -I and -S take everything else away as well."""
    script = "print(abi_version() > 0, not [name for name in sys.modules if name.startswith('daimon')])"
    assert said(tmp_path, script) == ["True", "True"]


def test_only_what_a_rule_grants_can_be_used(tree: Path) -> None:
    script = """
done = restrict([("open", READ | WRITE), ("read_only", READ)])
print(done.abi == abi_version(), len(done.missing))
print(tried(read, "open/file"), tried(write, "open/file"), tried(write, "open/new"))
print(tried(os.mkdir, "open/d"), tried(os.unlink, "open/new"))
print(tried(read, "read_only/file"), tried(write, "read_only/file"), tried(write, "read_only/new"), tried(os.unlink, "read_only/file"))
print(tried(read, "closed/file"), tried(os.listdir, "closed"), tried(write, "closed/new"), tried(os.listdir, "/"))
"""
    yes, no = "done", "EACCES"
    assert said(tree, script) == ["True", "0", *[yes] * 5, yes, no, no, no, *[no] * 4]
    assert (tree / "read_only" / "file").read_text() == "before"


def test_running_is_a_right_of_its_own(tree: Path) -> None:
    script = """
restrict([*SYSTEM, ("open", READ | WRITE)])
print(tried(os.execv, "open/program", ["program"]))
pid = os.fork()
if not pid: os.execv("/bin/true", ["true"])
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert said(tree, script) == ["EACCES", "0"]
    assert said(tree, 'restrict([*SYSTEM, ("open", READ | EXECUTE)])\nos.execv("open/program", ["program"])') == []


@pytest.mark.skipif(landlock.abi_version() < 3, reason="this kernel does not see files being cut short, or moved between directories")
def test_cutting_short_and_moving_need_the_right_to_write(tree: Path) -> None:
    script = """
restrict([("open", READ | WRITE), ("read_only", READ)])
os.mkdir("open/d")
print(tried(os.truncate, "open/file", 1), tried(os.truncate, "read_only/file", 1))
print(tried(os.rename, "open/file", "open/d/file"), tried(os.rename, "open/d/file", "read_only/new"))
print(tried(os.link, "read_only/file", "open/l"))
"""
    assert said(tree, script) == ["done", "EACCES", "done", "EACCES", "EXDEV"]


def test_a_rule_for_a_file_is_for_that_file(tree: Path) -> None:
    script = """
restrict([("closed/file", READ | WRITE | CONTROL)])
print(tried(read, "closed/file"), tried(write, "closed/file"), tried(write, "closed/new"))
"""
    assert said(tree, script) == ["done", "done", "EACCES"]


def test_missing_paths_are_named_and_grant_nothing_later(tree: Path) -> None:
    script = """
done = restrict([("open", READ | WRITE), ("open/later", EXECUTE), ("nowhere/at/all", READ), ("open/file/below", READ)])
print(*done.missing)
"""
    assert said(tree, script) == ["open/later", "nowhere/at/all", "open/file/below"]


def test_a_rule_that_grants_nothing_is_no_fault(tree: Path) -> None:
    assert said(tree, 'print(restrict([("open", 0), ("open/file", MAKE_DIR)]).missing)\nprint(tried(read, "open/file"))') == [
        "()",
        "EACCES",
    ]


def test_what_is_started_inherits_it_and_can_only_narrow_it(tree: Path) -> None:
    script = """
restrict([("open", READ), ("read_only", READ)])
if not (pid := os.fork()):
    restrict([("open", READ | WRITE), ("closed", READ)])
    print(tried(read, "open/file"), tried(write, "open/file"), tried(read, "closed/file"), tried(read, "read_only/file"), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(tried(read, "read_only/file"))
"""
    assert said(tree, script) == ["done", "EACCES", "EACCES", "EACCES", "done"]


def test_what_was_open_before_stays_open(tree: Path) -> None:
    assert said(tree, 'file = open("closed/file")\nrestrict([])\nprint(file.read(), tried(read, "closed/file"))') == ["before", "EACCES"]


@pytest.mark.skipif(landlock.abi_version() < 6, reason="this kernel's Landlock has no scopes")
def test_abstract_sockets_of_others_are_out_of_reach_and_own_ones_are_not(tmp_path: Path) -> None:
    script = """
def listen(name):
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()
    return server
outside = listen(f"\\0daimon-outside-{os.getpid()}")
restrict([], scoped=%s)
inside = listen(f"\\0daimon-inside-{os.getpid()}")
print(*(tried(socket.socket(socket.AF_UNIX).connect, server.getsockname()) for server in (outside, inside)))
"""
    assert said(tmp_path, script % True) == ["EPERM", "done"]
    assert said(tmp_path, script % False) == ["done", "done"]


def test_one_command_can_end_what_another_left_running(tmp_path: Path) -> None:
    """Each has a domain of its own, both started by one that has none; so signals must not be scoped."""
    script = """
if not (left := os.fork()):
    restrict([])
    signal.pause()
if not (pid := os.fork()):
    restrict([])
    print(tried(os.kill, left, signal.SIGKILL), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
os.kill(left, signal.SIGKILL)
print(os.waitstatus_to_exitcode(os.waitpid(left, 0)[1]))
"""
    assert said(tmp_path, script) == ["done", "-9"]


@pytest.mark.skipif(os.getuid() == 0 and shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_privileges_are_not_needed(tmp_path: Path) -> None:
    """Without root a process must first give up gaining any; the function sees to that."""
    flag = "[line.split()[1] for line in open('/proc/self/status') if line.startswith('NoNewPrivs')][0]"
    script = f"before = {flag}\nrestrict([('/proc', READ)])\nprint(before, {flag}, tried(read, '/etc/passwd'))"
    become = ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"] if os.getuid() == 0 else []
    if not Path("/usr/bin/python3").exists():
        pytest.skip("no interpreter that every user could run")
    text = SOURCE.read_text() + START.replace(f"globals().update(runpy.run_path({str(SOURCE)!r}))", "") + script
    argv = [*become, "/usr/bin/python3", "-I", "-c", text]
    done = subprocess.run(argv, cwd="/", capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert (done.stdout.split(), done.stderr) == (["0", "1", "EACCES"], "")


MOUNTS = """
libc = ctypes.CDLL(None, use_errno=True)
def mounted(name):
    assert libc.mount(b"tmpfs", b"base/workspace", b"tmpfs", 0, None) == 0, errno.errorcode[ctypes.get_errno()]
    open("base/workspace/" + name, "w").write("x")
os.makedirs("base/workspace")
mounted("old")
ready, go = os.pipe(), os.pipe()
if not (pid := os.fork()):
    restrict([(sys.argv[1], READ)])
    print(tried(read, "base/workspace/old"), flush=True)
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    print(tried(read, "base/workspace/new"), flush=True)
    os._exit(0)
os.read(ready[0], 1)
assert libc.umount2(b"base/workspace", 2) == 0
mounted("new")
os.write(go[1], b"x")
os.waitpid(pid, 0)
"""


@pytest.mark.parametrize(("rule", "later"), [("base", "done"), ("base/workspace", "EACCES")])
def test_a_rule_above_a_mount_point_covers_mounts_that_come_later(tmp_path: Path, rule: str, later: str) -> None:
    unshare = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace can be made here")
    assert said(tmp_path, f"sys.argv[1:] = [{rule!r}]\n{MOUNTS}", *unshare) == ["done", later]
