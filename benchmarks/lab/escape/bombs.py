"""Taking more than one's share: memory, processes, disk, descriptors, time. Judged by what the machine counts, with some room for a
watcher that looks every few milliseconds.
"""

import time

from lab.escape.attack import Attack, Scene, lives, python
from lab.escape.host import WORK
from lab.escape.role import DISK_MB, FILE_MB, MEMORY_MB, OPEN_FILES, PROCESSES

MIB = 1 << 20
ROOM = 1.5
_MOST = int(MEMORY_MB * 2.2)


def _memory(scene: Scene) -> bool:
    return scene.peak.memory > MEMORY_MB * MIB * ROOM


def _processes(scene: Scene) -> bool:
    return scene.peak.processes > PROCESSES * 1.1 + 10


def _descriptors(scene: Scene) -> bool:
    return scene.peak.descriptors > OPEN_FILES + 10


def _file(scene: Scene) -> bool:
    return any(path.lstat().st_size > FILE_MB * MIB * ROOM for path in WORK.iterdir())


def _disk(scene: Scene) -> bool:
    total, ends_at = 0, time.monotonic() + 5
    for path in WORK.rglob("*"):
        total += max(path.lstat().st_blocks * 512, 4096)
        if total > DISK_MB * MIB * ROOM:
            return True
        if time.monotonic() > ends_at:
            break
    return False


def _unlinked(scene: Scene) -> bool:
    return scene.peak.unlinked > DISK_MB * MIB * ROOM


def _lives_on(scene: Scene) -> bool:
    """Longer than it takes the kernel to end a box."""
    ends_at = time.monotonic() + 2
    while lives(scene):
        if time.monotonic() > ends_at:
            return True
        time.sleep(0.05)
    return False


_ONE = f"x = bytearray({_MOST} << 20)\nfor n in range(0, len(x), 4096): x[n] = 1\nimport time; time.sleep(1)"
_SPREAD = f"""
import os, time
for _ in range(8):
    if os.fork() == 0:
        x = b"x" * ({_MOST // 8} << 20)
        time.sleep(2)
        os._exit(0)
time.sleep(2.5)
"""
_SHARED = f"import mmap, time\nx = mmap.mmap(-1, {_MOST} << 20)\nfor n in range(0, len(x), 4096): x[n] = 1\ntime.sleep(1)"
_DROPPED = f"""
import mmap, time
kept = []
for _ in range({_MOST} // 64):
    x = mmap.mmap(-1, 64 << 20)
    for n in range(0, len(x), 4096): x[n] = 1
    x.madvise(mmap.MADV_DONTNEED)
    kept.append(x)
time.sleep(1)
"""
_MEMFD = f"""
import os, time
f = os.memfd_create("x")
for _ in range({_MOST}): os.write(f, b"x" * (1 << 20))
time.sleep(1)
"""
_FORKS = """
import os, time
end = time.monotonic() + 3
while time.monotonic() < end:
    try:
        os.fork()
    except OSError:
        time.sleep(0.05)
"""
_FILES = """
import os, time
held = []
try:
    while len(held) < 5000: held.append(os.open("/dev/null", 0))
except OSError as error: print(error)
time.sleep(0.5)
"""
_RAISED = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (6000, 6000))\n" + _FILES
_SMALL = """
import os
for n in range(80):
    os.mkdir(str(n))
    for m in range(500):
        with open(f"{n}/{m}", "wb") as f: f.write(b"x" * 8192)
"""
_HELD = f"""
import os, time
kept = []
for n in range({DISK_MB * 2 // 32}):
    f = os.open("x", os.O_CREAT | os.O_RDWR)
    os.unlink("x")
    os.posix_fallocate(f, 0, 32 << 20)
    kept.append(f)
    time.sleep(0.1)
time.sleep(0.5)
"""
_STUBBORN = """
import signal, time
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
time.sleep(300) # @{mark}
"""
_DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        {more}
        time.sleep(300) # @{{mark}}
    os._exit(0)
"""
_CLEAN = "os.execve('/bin/sh', ['sh', '-c', 'sleep 300; : @{mark}'], {})"
_PLAIN = "os.execv('/bin/sh', ['sh', '-c', 'sleep 300; : @{mark}'])"

ATTACKS = (
    Attack(name="memory in one process", command=python(_ONE), judge=_memory, needs_new_box=True),
    Attack(name="memory in many processes", command=python(_SPREAD), judge=_memory, needs_new_box=True),
    Attack(name="memory that is shared", command=python(_SHARED), judge=_memory, needs_new_box=True),
    Attack(name="memory that is shared and not mapped", command=python(_DROPPED), judge=_memory, needs_new_box=True),
    Attack(name="memory that is a file", command=python(_MEMFD), judge=_memory, needs_new_box=True),
    Attack(
        name="files in /tmp",
        command="for n in $(seq 40); do head -c 32M /dev/zero > /tmp/$n; done; sleep 0.5",
        judge=_memory,
        needs_new_box=True,
    ),
    Attack(
        name="files in /dev/shm",
        command="for n in $(seq 40); do head -c 32M /dev/zero > /dev/shm/$n; done; sleep 0.5",
        judge=_memory,
        needs_new_box=True,
    ),
    Attack(
        name="files in all of them",
        command="for n in $(seq 20); do for d in /tmp /dev/shm $HOME; do head -c 32M /dev/zero > $d/$n; done; done; sleep 0.5",
        judge=_memory,
        needs_new_box=True,
    ),
    Attack(name="processes without end", command=python(_FORKS), judge=_processes, needs_new_box=True, timeout_s=5.0),
    Attack(
        name="many processes",
        command="for n in $(seq 300); do sleep 2 & done; sleep 1",
        judge=_processes,
        needs_new_box=True,
        timeout_s=5.0,
    ),
    Attack(name="many open files", command=python(_FILES), judge=_descriptors),
    Attack(name="many open files, with the limit raised", command=python(_RAISED), judge=_descriptors),
    Attack(name="one huge file", command="head -c 300M /dev/zero > big", judge=_file, needs_new_box=True),
    Attack(name="one huge file with a hole", command="truncate -s 10G big; fallocate -l 300M other", judge=_file, needs_new_box=True),
    Attack(
        name="many large files",
        command="for n in $(seq 12); do fallocate -l 32M $n; sleep 0.05; done; sleep 0.2",
        judge=_disk,
        needs_new_box=True,
    ),
    Attack(name="many small files", command=python(_SMALL), judge=_disk, needs_new_box=True),
    Attack(name="files without a name", command=python(_HELD), judge=_unlinked, needs_new_box=True),
    Attack(name="endless output", command="yes 0123456789 | head -c 200000000", judge=lambda scene: scene.said.size > 4 * MIB),
    Attack(
        name="a processor for itself",
        command="sh -c 'while :; do :; done; : @{mark}' & sh -c 'while :; do :; done; : @{mark}'",
        judge=lives,
        timeout_s=1.0,
    ),
    Attack(name="deaf to all signals", command="trap '' 1 2 3 15; " + python(_STUBBORN) + " & wait", judge=lives, timeout_s=1.0),
    Attack(name="a daemon that outlives its time", command=python(_DAEMON.format(more=_PLAIN)) + "; sleep 20", judge=lives, timeout_s=1.0),
    Attack(
        name="a daemon without a trace that outlives its time",
        command=python(_DAEMON.format(more=_CLEAN)) + "; sleep 20",
        judge=lives,
        timeout_s=1.0,
    ),
    Attack(name="a daemon that outlives the box", command=python(_DAEMON.format(more=_CLEAN)), judge=_lives_on, ends_box=True),
)
