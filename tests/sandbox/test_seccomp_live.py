"""The filters in this machine's kernel: calls that are really made, programs that really run.

A call that fails under a filter proves nothing if it fails without one as well, so each is made twice.
"""

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import pytest

from daimon.abi.box import Profile
from daimon.sandbox import landlock
from daimon.sandbox.seccomp import program
from daimon.sandbox.syscalls import NUMBERS

HERE = Path(__file__).parent
MACHINE = os.uname().machine
DEADLINE_S = 600
PYTHON = "/usr/bin/python3"
"""Not the one that runs the tests: another user must be able to start it."""
INNER: tuple[Profile, ...] = ("strict", "build")
EVERY: tuple[Profile, ...] = ("strict", "build", "debug")
Starter = Literal["root", "user"]

pytestmark = [
    pytest.mark.skipif(MACHINE not in NUMBERS, reason=f"no filter for {MACHINE}"),
    pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"no {PYTHON} that every user could run"),
]


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that every user of the machine can reach, with the scripts in it. The directories of pytest are closed to others."""
    with tempfile.TemporaryDirectory(prefix="daimon-seccomp-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        place.chmod(0o777)
        for script in ("under.py", "caller.py"):
            shutil.copy(HERE / script, place)
        for profile in EVERY:
            (place / profile).write_bytes(program(profile))
        yield place


def run(place: Path, argv: list[str], fds: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(place), "LC_ALL": "C.UTF-8", "TMPDIR": str(place)}
    toolchains = {name: os.environ[name] for name in ("RUSTUP_HOME", "CARGO_HOME") if name in os.environ}
    if (rustup := Path.home() / ".rustup").exists():
        toolchains.setdefault("RUSTUP_HOME", str(rustup))
    return subprocess.run(
        argv, cwd=place, env=environment | toolchains, pass_fds=fds,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip


def under(place: Path, profile: Profile, argv: list[str]) -> subprocess.CompletedProcess[str]:
    return run(place, [PYTHON, "under.py", profile, *argv])


def boxed(place: Path, profile: Profile, argv: list[str], starter: Starter) -> subprocess.CompletedProcess[str]:
    """In the namespaces of a box, through bwrap, which puts the filter on."""
    if shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    if starter == "root" and os.getuid() != 0:
        pytest.skip("only root can start this as root")
    become = ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"] if starter == "user" and os.getuid() == 0 else []
    namespaces = [f"--unshare-{kind}" for kind in ("user", "pid", "net", "ipc", "uts")]
    mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(place), str(place)]
    with (place / profile).open("rb") as file:
        options = ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--seccomp", str(file.fileno())]
        bwrap = ["bwrap", *namespaces, *mounts, *options, "--", *argv]
        if become or os.getuid() != 0:
            (place / profile).chmod(0o644)
        return run(place, [*become, *bwrap], (file.fileno(),))


CALLS: list[tuple[str, tuple[int | str, ...], int]] = [
    ("unshare", (0,), errno.EPERM),
    ("setns", (-1, 0), errno.EPERM),
    ("clone", (0x1000_0000 | 0x0200, 0), errno.EPERM),
    ("clone3", (0, 0), errno.ENOSYS),
    ("mount", (0, 0, 0, 0, 0), errno.EPERM),
    ("umount2", (0, 0), errno.EPERM),
    ("open_tree", (-1, "x", 0), errno.EPERM),
    ("fsopen", (0, 0), errno.EPERM),
    ("pivot_root", (0, 0), errno.EPERM),
    ("chroot", ("/",), errno.EPERM),
    ("bpf", (9_999, 0, 0), errno.EPERM),
    ("perf_event_open", (0, 0, 0, 0, 0), errno.EPERM),
    ("keyctl", (0, -3, 1), errno.EPERM),
    ("add_key", (0, 0, 0, 0, 0), errno.EPERM),
    ("userfaultfd", (1,), errno.EPERM),
    ("io_uring_setup", (0, 0), errno.ENOSYS),
    ("process_vm_readv", (-1, 0, 0, 0, 0, 0), errno.EPERM),
    ("ptrace", (1, -1, 0, 0), errno.EPERM),
    ("pidfd_getfd", (-1, 0, 0), errno.EPERM),
    ("kcmp", (-1, -1, 0, 0, 0), errno.EPERM),
    ("open_by_handle_at", (-1, 0, 0), errno.EPERM),
    ("settimeofday", (0, 0), errno.EPERM),
    ("sethostname", (0, -1), errno.EPERM),
    ("fanotify_init", (0xFFFF_FFFF, 0), errno.EPERM),
    ("memfd_create", ("x", 0), errno.ENOSYS),
    ("memfd_secret", (0xFFFF,), errno.ENOSYS),
    ("shmget", (0x7A11, 0, 0), errno.ENOSYS),
    ("msgget", (0x7A11, 0), errno.ENOSYS),
    ("openat2", (-100, "/", 0, 0), errno.ENOSYS),
    ("personality", (0x2_0000,), errno.EPERM),
    ("socket", (1, 1, 0), errno.EAFNOSUPPORT),
    ("socket", (1, 2, 0), errno.EAFNOSUPPORT),
    ("socket", (17, 3, 0), errno.EAFNOSUPPORT),
    ("socketpair", (1, 2, 0, " " * 8), errno.ESOCKTNOSUPPORT),
    ("mknodat", (-100, "whiteout", 0o020600, 0), errno.EPERM),
    ("mknodat", (-100, "file", 0o104755, 0), errno.EPERM),
    ("openat", (-100, "made", 0o101, 0o4755), errno.EPERM),
    ("openat", (-100, ".", 0o20200002, 0o4755), errno.EPERM),
    ("fchmodat", (-100, "script", 0o4755), errno.EPERM),
    ("fchmodat", (-100, "script", 0o2755 | 0x7700_0000_0000), errno.EPERM),
    ("fchmodat2", (-100, "script", 0o6755, 0), errno.EPERM),
    ("ioctl", (-1, 0x5412, 0), errno.EPERM),
    ("ioctl", (-1, 0x1_0000_5412, 0), errno.EPERM),
    ("prctl", (35, 15, " " * 8, 0, 0), errno.EPERM),
    ("unshare", (0x1000_0000,), errno.EPERM),  # last: without a filter it works, and root is then nobody
]
WORKING: list[tuple[str, tuple[int | str, ...]]] = [
    ("openat", (-100, "usual", 0o101, 0o755)),
    ("fchmodat", (-100, "script", 0o755)),
    ("mknodat", (-100, "pipe", 0o010600, 0)),
    ("mkdirat", (-100, "directory", 0o755)),
    ("socketpair", (1, 1, 0, " " * 8)),
    ("socketpair", (1, 0o2000005, 0, " " * 8)),
    ("personality", (0xFFFF_FFFF,)),
    ("prctl", (4, 1, 0, 0, 0)),
    ("getpid", ()),
    ("setpriority", (0, 0, 5)),
]


def asked(calls: list[tuple[str, tuple[int | str, ...]]]) -> list[str]:
    return [PYTHON, "caller.py", json.dumps([[NUMBERS[MACHINE][name], *arguments] for name, arguments in calls])]


def answers(done: subprocess.CompletedProcess[str]) -> list[int]:
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


@pytest.mark.skipif(os.getuid() != 0, reason="only what root could do without a filter shows that the filter stops it")
@pytest.mark.parametrize("profile", INNER)
def test_calls_are_stopped_that_would_have_gone_further(place: Path, profile: Profile) -> None:
    (place / "script").touch()
    calls = [(name, arguments) for name, arguments, _ in CALLS]
    expected = [error for _, _, error in CALLS]
    free = answers(run(place, asked(calls)))
    for name in ("made", "file", "whiteout"):
        (place / name).unlink(missing_ok=True)
    (place / "script").chmod(0o644)
    stopped = answers(under(place, profile, asked(calls)))
    assert dict(enumerate(zip(calls, stopped, strict=True))) == dict(enumerate(zip(calls, expected, strict=True)))
    assert [call for call, without, error in zip(calls, free, expected, strict=True) if without == error] == []
    assert (place / "script").stat().st_mode & 0o7777 == 0o644
    assert not [name for name in ("made", "file", "whiteout") if (place / name).exists()]


@pytest.mark.parametrize("profile", EVERY)
def test_their_harmless_kin_work(place: Path, profile: Profile) -> None:
    (place / "script").touch()
    assert answers(under(place, profile, asked(WORKING))) == [0] * len(WORKING)


@pytest.mark.parametrize("starter", ["root", "user"])
@pytest.mark.parametrize("profile", INNER)
def test_in_a_box_the_same_holds(place: Path, profile: Profile, starter: Starter) -> None:
    calls = [(name, arguments) for name, arguments, _ in CALLS if "script" not in arguments]
    expected = [error for _, arguments, error in CALLS if "script" not in arguments]
    assert answers(boxed(place, profile, asked(calls), starter)) == expected
    works = [(name, arguments) for name, arguments in WORKING if "script" not in arguments]
    assert answers(boxed(place, profile, asked(works), starter)) == [0] * len(works)


def test_sockets_of_the_network_are_there_in_build_and_not_in_strict(place: Path) -> None:
    calls: list[tuple[str, tuple[int | str, ...]]] = [("socket", (2, 1, 0)), ("socket", (10, 0o2004002, 17)), ("socket", (16, 3, 0))]
    assert answers(under(place, "build", asked(calls))) == [0, 0, 0]
    assert answers(under(place, "strict", asked(calls))) == [errno.EAFNOSUPPORT] * 3


def test_only_in_debug_processes_are_traced_and_memory_has_no_owner(place: Path) -> None:
    calls: list[tuple[str, tuple[int | str, ...]]] = [("memfd_create", ("x", 0)), ("shmget", (0x7A11, 0, 0)), ("ptrace", (0, 0, 0, 0))]
    assert answers(under(place, "debug", asked(calls))) == [0, errno.ENOENT, 0]
    assert answers(under(place, "build", asked(calls))) == [errno.ENOSYS, errno.ENOSYS, errno.EPERM]


REACHING = """
import socket, sys
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
    for name in sys.argv[1:]:
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
            ours.sendto(b"told", name)
            theirs.setblocking(False)
            theirs.recv(9)  # it went to the other end, not to the name
        except OSError:
            pass
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
            ours.connect(name)
            print(kind, name)
        except OSError:
            pass
"""


@pytest.mark.parametrize("profile", EVERY)
def test_no_end_of_a_pair_reaches_a_socket_by_its_name(place: Path, profile: Profile) -> None:
    kinds = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM)
    with ExitStack() as stack:
        servers = [stack.enter_context(socket.socket(socket.AF_UNIX, kind)) for kind in kinds]
        for kind, server in zip(kinds, servers, strict=True):
            server.bind(str(place / kind.name))
            server.setblocking(False)
            if kind is not socket.SOCK_DGRAM:
                server.listen()
        argv = [PYTHON, "-c", REACHING, *(kind.name for kind in kinds)]
        assert run(place, argv).stdout.strip()
        assert servers[2].recv(9) == b"told"
        while _has_mail(servers[2]):
            pass
        done = under(place, profile, argv)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert not _has_mail(servers[2])


def _has_mail(server: socket.socket) -> bool:
    try:
        return bool(server.recv(9))
    except BlockingIOError:
        return False


@pytest.mark.skipif(landlock.abi_version() == 0, reason="this kernel has no Landlock")
@pytest.mark.parametrize("profile", EVERY)
def test_landlock_can_still_be_put_on_top(place: Path, profile: Profile) -> None:
    shutil.copy(landlock.__file__, place / "landlock.py")
    script = "import landlock; print(landlock.restrict([('/usr', landlock.READ)]).abi); open('/etc/passwd')"
    done = under(place, profile, [PYTHON, "-c", script])
    assert (done.stdout.strip(), "PermissionError" in done.stderr) == (str(landlock.abi_version()), True)


@pytest.mark.skipif(MACHINE != "x86_64", reason="x86_64 alone has these two other ways to call")
@pytest.mark.parametrize("profile", EVERY)
def test_a_program_that_calls_another_way_is_killed(place: Path, profile: Profile) -> None:
    x32 = f"import sys; sys.path[:0] = ['.']; import caller; caller.result(0x40000000 + {NUMBERS['x86_64']['getpid']})"
    i386 = (
        "import ctypes, mmap; page = mmap.mmap(-1, 4096, prot=7); page.write(bytes.fromhex('b814000000cd80c3'));"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()"
    )
    for script in (x32, i386):
        assert run(place, [PYTHON, "-c", script]).returncode >= 0
        assert under(place, profile, [PYTHON, "-c", script]).returncode == -signal.SIGSYS


PYTHON_WORK = """
import asyncio, multiprocessing, socket, subprocess, sys, tempfile, threading
def square(value): return value * value
async def main():
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    theirs.sendall(b"hello\\n")
    line = await reader.readline()
    child = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = await child.communicate(line)
    writer.close()
    return out
if __name__ == "__main__":
    assert asyncio.run(main()) == b"hello\\n"
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, range(4)) == [0, 1, 4, 9]
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    with tempfile.NamedTemporaryFile() as file: file.write(b"x")
    print("fine")
"""
GIT = """
git init -q a && cd a && git config user.email a@example.org && git config user.name A && echo one > f && git add f && git commit -qm one
git gc -q && cd .. && git clone -q a b && cd b && git log --oneline | grep -q one && git stash list && git worktree add -q ../c
"""
C = """
printf '#include <stdio.h>\\n#include <pthread.h>\\nvoid *f(void *x) { return x; }\\nint main() { pthread_t t; pthread_create(&t, 0, f, 0);
pthread_join(t, 0); puts("fine"); return 0; }\\n' > h.c && gcc -pthread -O1 -o h h.c && ./h
printf '#include <iostream>\\nint main() { std::cout << "fine"; }\\n' > h.cc && g++ -o hh h.cc && ./hh
printf 'all: x y\\nx y:\\n\\techo $@ > $@\\n' > Makefile && make -s -j2 && cat x y
"""
NODE = """
const { spawnSync, fork } = require('child_process'); const { Worker, isMainThread } = require('worker_threads');
if (process.argv[2] === 'child') { process.send('hello'); process.disconnect(); }
else if (isMainThread) { new Worker(__filename); spawnSync('true'); new WebAssembly.Memory({ initial: 1 });
  fork(__filename, ['child']).on('message', (m) => console.log(m)); }
"""
CMAKE = """
printf 'cmake_minimum_required(VERSION 3.10)\\nproject(p C)\\nadd_executable(p p.c)\\n' > CMakeLists.txt
echo 'int main() { return 0; }' > p.c && cmake -S . -B out > /dev/null && cmake --build out > /dev/null && out/p
"""
JAVA = """
printf 'public class H { public static void main(String[] a) throws Exception { Thread t = new Thread(() -> {}); t.start(); t.join();
System.out.println(new ProcessBuilder("true").start().waitFor()); } }' > H.java && javac H.java && java -Xmx64m H
"""
RUST = """
printf 'fn main() { std::thread::spawn(|| {}).join().unwrap();
std::process::Command::new("true").status().unwrap(); println!("fine"); }' > r.rs
rustc -o r r.rs && ./r && cargo init -q --vcs none --name p p && cd p && cargo build -q --offline && target/debug/p
"""
PROGRAMS = {
    "bash": "seq 9 | grep -v 5 | sort -rn | while read n; do echo $((n * 2)); done > o; [[ $(< o) ]] && diff <(cat o) o; true & wait",
    "git": GIT,
    "python3": f"cat > w.py <<'END'\n{PYTHON_WORK}\nEND\n/usr/bin/python3 w.py",
    "gcc": C,
    "node": f"cat > n.js <<'END'\n{NODE}\nEND\nnode n.js | grep hello",
    "npm": "mkdir n && cd n && npm init -y > /dev/null && npm ls --offline",
    "cmake": CMAKE,
    "javac": JAVA,
    "cargo": RUST,
    "tar": "mkdir d && echo x > d/f && ln -s f d/l && chmod 750 d && tar czf d.tgz d && rm -r d && tar xzpf d.tgz && cat d/l",
    "find": "mkdir -p e/f && touch e/f/g && find e -name g -exec stat {} + -print0 | xargs -0 -n1 -P2 true && cp -a e h && mv h i",
    "rg": "echo needle > hay && rg -j2 needle .",
    "sqlite3": "sqlite3 db 'pragma journal_mode=wal; create table t(a); insert into t values (1); select * from t;'",
    "openssl": "openssl genpkey -algorithm ed25519 -out key && openssl dgst -sha256 key && openssl rand -hex 8",
    "perl": "perl -MIO::Socket -e 'fork or exit; wait; socketpair(A, B, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die; print qq(fine)'",
    "curl": "echo x > page && curl -sf file://$PWD/page",
}  # fmt: skip
CURL = """
import subprocess, sys, threading
from http.server import HTTPServer, SimpleHTTPRequestHandler
with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
    threading.Thread(target=server.handle_request, daemon=True).start()
    url = f"http://localhost:{server.server_port}/under.py"
    sys.exit(subprocess.run(["curl", "-sf", "--max-time", "20", "-o", "page", url]).returncode)
"""
ONLINE = {
    "curl": f"cat > c.py <<'END'\n{CURL}\nEND\n/usr/bin/python3 c.py && cmp page under.py",
    "ip": "ip addr show lo",
    "pip": "/usr/bin/python3 -m venv v && v/bin/pip --version && v/bin/pip list --disable-pip-version-check",
}


def needs(name: str) -> None:
    if name == "pip" and run(Path("/"), [PYTHON, "-c", "import ensurepip"]).returncode:
        pytest.skip(f"{PYTHON} has no ensurepip")
    elif name != "pip" and shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")


def script(name: str, text: str) -> list[str]:
    return ["bash", "-euc", f"export GIT_CONFIG_NOSYSTEM=1; mkdir -p at-{name}; cp under.py at-{name}; cd at-{name}; {text}"]


@pytest.mark.parametrize("profile", INNER)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_people_work_with_works(place: Path, name: str, profile: Profile) -> None:
    needs(name)
    done = under(place, profile, script(name, PROGRAMS[name]))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ONLINE)
def test_what_talks_works_in_build(place: Path, name: str) -> None:
    needs(name)
    done = under(place, "build", script(name, ONLINE[name]))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("starter", ["root", "user"])
@pytest.mark.parametrize("name", ["bash", "git", "python3", "gcc", "node", "tar", "find"])
def test_what_people_work_with_works_in_a_box(place: Path, name: str, starter: Starter) -> None:
    needs(name)
    done = boxed(place, "build", script(name, PROGRAMS[name]), starter)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_tracer_works_in_debug_only_and_can_skip_a_call(place: Path) -> None:
    argv = ["strace", "-f", "-e", "inject=getppid:error=EIO", "-o", "trace", PYTHON, "-c", "import os; print(os.getppid())"]
    assert under(place, "debug", argv).stdout.strip() == f"-{errno.EIO}"
    assert under(place, "build", argv).returncode != 0


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_a_debugger_works_in_debug_only(place: Path) -> None:
    argv = [
        "gdb",
        "-nx",
        "-batch",
        "-ex",
        "set startup-with-shell off",
        "-ex",
        "starti",
        "-ex",
        "info registers rip pc",
        "-ex",
        "kill",
        "/bin/true",
    ]
    assert "Program stopped" in under(place, "debug", argv).stdout
    assert "Program stopped" not in under(place, "build", argv).stdout
