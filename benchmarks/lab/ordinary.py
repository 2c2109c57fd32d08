"""A throw-away machine for a program that may do harm, and an ordinary user to run it as. Only root can make one.

    own mounts, processes, network, IPC, host name → root directory read-only → tmp, homes of its own → control group → drop to the user

What runs there sees the real programs and libraries, read-only; all that can be written is its own and gone afterwards. An interpreter or a
checkout that lies where an ordinary user cannot look, such as below /root, is bound into view. It is root on the real kernel all the same
when it stays root: what no namespace holds apart, such as /proc/sys/kernel, must not be changed there.

Run as a program this file is process 1 of that machine.
"""

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

UID = 12_345
HOLD = "/mnt"
COVERED = ("/tmp", "/root", "/home", "/var/tmp", "/run")
GROUPS = Path("/sys/fs/cgroup")
NAME = "throw-away-"
"""Of its control group, with the numbers of the process and the thread that made it."""
MEMORY, PROCESSES = 3 << 30, 900
LOOPBACK = ("10.99.0.1", "169.254.169.254", "93.184.216.34")
"""Addresses that this machine has, besides the usual one: a private one, the one of clouds' metadata, a public one."""


@dataclass(frozen=True, slots=True)
class Machine:
    place: str
    """An empty directory, that becomes /home."""
    uid: int
    """Whom the program runs as."""
    needed: tuple[str, ...]
    """Directories that it must see, wherever they are."""


def run(program: list[str], machine: Machine, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Until it ends; its output is kept, its errors are shown."""
    names = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc"]
    command = [*names, sys.executable, "-P", __file__, json.dumps(asdict(machine)), *program]
    group = _group()
    try:
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False, preexec_fn=lambda: _join(group))
    finally:
        for path in group:
            _remove(path)


def _remove(group: Path) -> None:
    """With those that boxes made in it."""
    for inner in sorted(group.rglob("*"), reverse=True):
        if inner.is_dir():
            with suppress(OSError):
                inner.rmdir()
    with suppress(OSError):
        group.rmdir()


def needed(checkout: Path) -> tuple[str, ...]:
    return tuple(dict.fromkeys((str(checkout), sys.base_prefix, sys.prefix, *filter(os.path.isabs, sys.path))))


def main() -> int:
    """Process 1."""
    machine = Machine(**json.loads(sys.argv[1]))
    _cover(machine)
    _network()
    child = subprocess.Popen(sys.argv[2:], user=machine.uid, group=machine.uid, extra_groups=[], start_new_session=True)
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    while True:
        pid, status = os.wait()
        if pid == child.pid:
            return os.waitstatus_to_exitcode(status)


def is_bounded() -> bool:
    """Can the machine's memory and processes be limited here? Else a bomb would be a real one."""
    group = _group()
    for path in group:
        path.rmdir()
    return bool(group)


def _group() -> list[Path]:
    """Finite whatever runs there. Empty: this kernel has no control groups that can be used."""
    name = f"{NAME}{os.getpid()}-{threading.get_ident()}"
    own = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    if "memory" in own and "pids" in own:
        first, second = (GROUPS / kind / own[kind].lstrip("/") / name for kind in ("memory", "pids"))
        limits = {first / "memory.limit_in_bytes": MEMORY, second / "pids.max": PROCESSES}
    else:
        limits = {GROUPS / name / "memory.max": MEMORY, GROUPS / name / "pids.max": PROCESSES}
    made = list(dict.fromkeys(path.parent for path in limits))
    try:
        for path in made:
            path.mkdir()
        for path, value in limits.items():
            path.write_text(str(value))
    except OSError:
        for path in made:
            with suppress(OSError):
                path.rmdir()
        return []
    return made


def _join(group: list[Path]) -> None:
    for path in group:
        (path / "cgroup.procs").write_text(str(os.getpid()))


def _cover(machine: Machine) -> None:
    """Empty file systems over all that could be written, and what is needed bound back into them."""
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", HOLD)
    own = _held(machine.place, "own")
    _mount("-o", "remount,bind,ro", "/")
    held = {path: _held(path, str(number)) for number, path in enumerate(_outermost(machine.needed))}
    covers = [*COVERED, *filter(None, map(_closed, held))]
    for top in filter(os.path.isdir, dict.fromkeys(covers)):
        _mount("-t", "tmpfs", "-o", "mode=1777" if top.endswith("tmp") else "mode=755", "tmpfs", top)
    for path, place in held.items():
        if any(path.startswith(f"{top}/") for top in covers):
            os.makedirs(path, exist_ok=True)
            _mount("--rbind", place, path)
    _mount("--bind", own, "/home")
    for path in filter(os.path.isdir, ("/usr/local/sbin", "/dev/shm")):
        _mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", path)
    _mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=0620", "devpts", "/dev/pts")
    for name in os.listdir("/home/etc") if os.path.isdir("/home/etc") else ():
        if os.path.isfile(f"/etc/{name}"):
            _mount("--bind", f"/home/etc/{name}", f"/etc/{name}")
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", HOLD)


def _held(path: str, name: str) -> str:
    """Where it stays in sight while its place is covered."""
    place = f"{HOLD}/{name}"
    os.mkdir(place)
    _mount("--rbind", path, place)
    return place


def _outermost(paths: tuple[str, ...]) -> list[str]:
    there = [path for path in dict.fromkeys(paths) if os.path.isdir(path)]
    return [path for path in there if not any(path.startswith(f"{other}/") for other in there)]


def _closed(path: str) -> str:
    """The topmost directory on the way that others cannot enter; empty: they can enter all."""
    for parent in reversed(Path(path).parents):
        if not os.stat(parent).st_mode & 0o001:
            return str(parent)
    return ""


def _mount(*words: str) -> None:
    subprocess.run(["mount", "-n", *words], check=True)


def _network() -> None:
    """Loopback, up, with a few addresses more; any port for anybody."""
    with socket.socket() as any_socket:
        for number, address in enumerate(("127.0.0.1", *LOOPBACK)):
            name = f"lo:{number}" if number else "lo"
            mask = "255.255.255.255" if number else "255.0.0.0"
            for request, value in ((0x8916, address), (0x891C, mask)):  # SIOCSIFADDR, SIOCSIFNETMASK
                fcntl.ioctl(any_socket, request, struct.pack("16sH2x4s8x", name.encode(), socket.AF_INET, socket.inet_aton(value)))
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", name.encode(), 0x41))  # SIOCSIFFLAGS: up, running
    Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")
    with suppress(OSError):
        Path("/proc/sys/net/ipv4/ping_group_range").write_text("0 2147483647")


if __name__ == "__main__":
    sys.exit(main())
