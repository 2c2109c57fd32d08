"""What runs in a box, as its supervisor sees it in /proc. Standard library only: it is read inside of the box.

Whose a process is shows in three ways: by its parents, as long as they live; by a mark in its environment, unless it took that off; and by
when it was born. None of them is a wall: all of it is inside.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from typing import NamedTuple

MARK = "DAIMON_COMMAND"
MOST_LEFT = 20
MOST_LISTED = 64
MOST_NAME = 160
_GONE = (b"Z", b"X")
_STILL = (b"T", b"t", *_GONE)
_EXITING = 0x4
PAUSE_S, LOOK_S = 10.0, 0.005


class Process(NamedTuple):
    parent: int
    born: int
    """In ticks since the machine's start."""
    state: bytes = b""


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def processes(wanted: list[int] | None = None) -> dict[int, Process]:
    """These, or all."""
    found = {}
    for pid in pids() if wanted is None else wanted:
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            found[pid] = Process(int(fields[1]), int(fields[19]), fields[0])
    return found


def descendants(tops: set[int]) -> set[int]:
    """These, and all below them."""
    parents = {pid: process.parent for pid, process in processes().items()}
    found, before = set(tops), -1
    while len(found) != before:
        before = len(found)
        found |= {child for child, parent in parents.items() if parent in found}
    return found


def marked(*numbers: int) -> set[int]:
    wanted = {f"{MARK}={number}".encode() for number in numbers}
    found = set()
    for pid in pids() if wanted else ():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if not wanted.isdisjoint(file.read().split(b"\0")):
                found.add(pid)
    return found


def others(known: set[int]) -> list[str]:
    """What still runs and is none of these."""
    names = []
    for pid in pids():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
            state = stat.rpartition(b")")[2].split()[0]
            if pid not in known and state not in _GONE:
                names.append(f"{pid} {stat[stat.find(b'(') + 1 : stat.rfind(b')')].decode(errors='replace')}")
    return names[:MOST_LEFT]


def told(found: set[int]) -> list[list[object]]:
    """Process, birth, state, command line. For whoever is outside."""
    known = processes(sorted(found))
    rows = [[pid, each.born, each.state.decode(), _line(pid)] for pid, each in known.items() if each.state not in _GONE]
    return rows[:MOST_LISTED]


def signalled(found: set[int], which: int) -> None:
    for pid in found:
        with contextlib.suppress(OSError):
            os.kill(pid, which)


def pause() -> bool:
    """Does all but this process stand still now? One call stops them, and nothing can outrun it. But the kernel itself starts a group again
    that loses the last who looked after it: whoever was about to end may still set others free. So it is looked at until all is quiet, and
    once more, because a look takes a while. (What programs can have the kernel send to themselves is in `arguments.py`.)"""
    quiet = 0
    until = time.monotonic() + PAUSE_S
    while time.monotonic() < until:
        quiet = quiet + 1 if _is_still() else 0
        if quiet == 2:
            return True
        if not quiet:
            with contextlib.suppress(OSError):
                os.kill(-1, signal.SIGSTOP)
            time.sleep(LOOK_S)
    return False


def _is_still() -> bool:
    return all(_stands(fields) for pid in pids() for fields in _threads(pid))


def _threads(pid: int) -> Iterator[list[bytes]]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
                yield file.read().rpartition(b")")[2].split()


def _stands(fields: list[bytes]) -> bool:
    """Who waits in the kernel stops before he gets back, unless he is on his way out."""
    state, flags = fields[0], int(fields[6])
    return state in _STILL or (state == b"D" and not flags & _EXITING)


def resume() -> bool:
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGCONT)
    return True


def _line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(4 * MOST_NAME)
        if not words:
            with open(f"/proc/{pid}/comm", "rb") as file:
                words = file.read(MOST_NAME)
    except OSError:
        return "?"
    return words.rstrip(b"\0\n").replace(b"\0", b" ").decode(errors="replace")[:MOST_NAME]
