"""A living systemd: the manager of an ordinary user, started by hand in namespaces of its own.

It has its own processes, mounts, ports and a group of its own in the hierarchy of systemd, and sees no other; so nothing of the machine
is touched, its gateways take the usual port from nobody, and all of it ends with one process. Only root can make that, and not on every
machine: `living` skips with the reason.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.cli.processes import DEADLINE_S, Done, wait_until
from tests.machine.ordinary import PATHS, UID, directory_of, python

GROUPS = Path("/sys/fs/cgroup")
NEEDED = ("systemctl", "unshare", "nsenter", "setpriv", "mount")
PROGRAM = Path("/lib/systemd/systemd")
LOOPBACK = """
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
"""
INSIDE = """
set -e
"$PYTHON" -I -c "$LOOPBACK"
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
mount -t tmpfs tmpfs /sys/fs/cgroup
if [ "$KIND" = cgroup2 ]; then
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
    chown -R "$OWNER" /sys/fs/cgroup
else
    mkdir /sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
    chown -R "$OWNER" /sys/fs/cgroup/systemd
fi
setpriv --reuid "$OWNER" --regid "$OWNER" --clear-groups "$SYSTEMD" --user --unit=basic.target --log-target=console &
wait
"""


class Living:
    """Commands of that user, run where its manager is."""

    def __init__(self, place: Path, inside: int) -> None:
        self.place = place
        self._enter = ["nsenter", "--target", str(inside), "--mount", "--pid", "--cgroup", "--net"]
        self._drop = ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups"]
        self.environment = environment_in(place)

    def run(self, *words: str) -> Done:
        done = subprocess.run(
            [*self._enter, *self._drop, *words], env=self.environment, cwd="/", stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    def daimon(self, *words: str) -> Done:
        return self.run(str(self.place / "checkout" / "daimon"), *words)


def environment_in(place: Path) -> dict[str, str]:
    own = {"HOME": str(place), "XDG_RUNTIME_DIR": str(place / "runtime"), "DAIMON_CHECKOUT": str(place / "checkout"), "TERM": "dumb"}
    return {"PATH": os.environ["PATH"], **own}


@contextmanager
def living() -> Iterator[Living]:
    if os.geteuid() != 0:
        pytest.skip("a systemd of our own needs root")
    if missing := [name for name in NEEDED if shutil.which(name) is None] or [] if PROGRAM.exists() else [str(PROGRAM)]:
        pytest.skip(f"a systemd of our own needs {', '.join(missing)}")
    interpreter = python()
    with directory_of(UID) as place, _group() as (group, kind):
        make_checkout(place / "checkout", interpreter)
        (place / "runtime").mkdir(mode=0o700)
        os.chown(place / "runtime", UID, UID)
        environment = {
            **environment_in(place),
            "KIND": kind,
            "OWNER": str(UID),
            "SYSTEMD": str(PROGRAM),
            "PYTHON": interpreter,
            "LOOPBACK": LOOPBACK,
        }
        unshare = ["unshare", "--mount", "--pid", "--cgroup", "--net", "--fork", "--kill-child", "--mount-proc", "sh", "-c", INSIDE]
        with open(place / "systemd.log", "wb") as log:
            process = subprocess.Popen(
                ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *unshare],
                env=environment, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        try:
            wait_until(lambda: (place / "runtime" / "systemd" / "private").exists() or process.poll() is not None)
            if process.poll() is not None:
                pytest.skip(f"no systemd of our own can run here: {(place / 'systemd.log').read_text().strip()[-300:]}")
            yield Living(place, int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]))
        finally:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)  # and with it all that is in its namespaces
            process.wait(DEADLINE_S)


def make_checkout(place: Path, interpreter: str) -> None:
    """A program where a checkout would have its bootstrap."""
    place.mkdir()
    (place / "daimon").write_text(f'#!/bin/sh\nPYTHONPATH={PATHS} PYTHONUNBUFFERED=1 exec {interpreter} -P -m daimon "$@"\n')
    (place / "daimon").chmod(0o755)


@contextmanager
def _group() -> Iterator[tuple[Path, str]]:
    """A group for processes, in the hierarchy that systemd keeps services in."""
    top, kind = (GROUPS, "cgroup2") if (GROUPS / "cgroup.controllers").exists() else (GROUPS / "systemd", "cgroup")
    group = top / f"daimon-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"a systemd of our own needs a group of its own: {error}")
    try:
        yield group, kind
    finally:
        wait_until(lambda: _is_removed(group))


def _is_removed(group: Path) -> bool:
    with suppress(OSError):
        for place, _, _ in os.walk(group, topdown=False):
            os.rmdir(place)
    return not group.exists()
