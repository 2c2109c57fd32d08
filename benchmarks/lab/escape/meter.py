"""How much is taken, as the outside sees it: memory of the whole throw-away machine, processes, descriptors, files without a name."""

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.ordinary import NAME

INTERVAL_S = 0.03
GROUPS = Path("/sys/fs/cgroup")


@dataclass(slots=True)
class Peak:
    memory: int = 0
    processes: int = 0
    descriptors: int = 0
    """Of one process."""
    unlinked: int = 0
    """Bytes of files that have no name any more but are held open."""


class Meter:
    """Counts what came since it was made."""

    def __init__(self) -> None:
        self._old = set(pids())
        self._memory = memory()
        self._device = os.stat("/home").st_dev
        self.peak = Peak()

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(INTERVAL_S)

    def look(self) -> None:
        found = [pid for pid in pids() if pid not in self._old]
        peak = self.peak
        peak.memory = max(peak.memory, memory() - self._memory)
        peak.processes = max(peak.processes, sum(_threads(pid) for pid in found))
        held: dict[tuple[int, int], int] = {}
        for pid in found[:40]:
            names = _names(f"/proc/{pid}/fd")
            peak.descriptors = max(peak.descriptors, len(names))
            held |= _unlinked(pid, names[:64], self._device)
        peak.unlinked = max(peak.unlinked, sum(held.values()))


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def memory() -> int:
    """Held by processes and by file systems in memory."""
    own = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    path, wanted = GROUPS / "memory" / _machines(own.get("memory", "")) / "memory.stat", {"total_rss", "total_shmem"}
    if not path.exists():
        path, wanted = GROUPS / _machines(own.get("", "")) / "memory.stat", {"anon", "shmem"}
    rows = dict(line.split() for line in path.read_text().splitlines())
    return sum(int(rows[name]) for name in wanted if name in rows)


def _machines(path: str) -> str:
    """The group of the throw-away machine, of which this process may be in a part."""
    parts = path.strip("/").split("/")
    end = next((number for number, part in enumerate(parts, 1) if part.startswith(NAME)), len(parts))
    return "/".join(parts[:end])


def _threads(pid: int) -> int:
    return len(_names(f"/proc/{pid}/task"))


def _unlinked(pid: int, names: list[str], device: int) -> dict[tuple[int, int], int]:
    held = {}
    for name in names:
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{name}").endswith(" (deleted)"):
                found = os.stat(f"/proc/{pid}/fd/{name}")
                if found.st_dev == device:
                    held[found.st_dev, found.st_ino] = found.st_blocks * 512
    return held


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
