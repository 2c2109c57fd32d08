"""Control groups: limits that the kernel keeps for a whole box, where this process may make groups. Standard library only.

Version 2 where it is delegated (a systemd unit with `Delegate=`), version 1 as root. `Groups.found` is None where neither is to be had,
and then the box has resource limits and a watcher instead. A group is named after the process that holds the box; one whose holder is gone
is removed when the next is made.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from daimon.sandbox.spec import Bounds

PREFIX = "daimon-box-"
GATEWAY = "daimon-gateway"
_HERE = "/sys/fs/cgroup"
_PERIOD_US = 100_000
PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Groups:
    version: Literal[1, 2]
    parents: dict[str, str]
    """Controllers, with the directory in which groups may be made."""

    @property
    def controllers(self) -> tuple[str, ...]:
        return tuple(sorted(self.parents))

    @classmethod
    def found(cls) -> "Groups | None":
        own = _own()
        unified = _unified(own.get("", "/"))
        if unified:
            return cls(2, dict.fromkeys(unified[1], unified[0]))
        parents = {name: f"{_HERE}/{name}{own.get(name, '')}".rstrip("/") for name in ("memory", "pids", "cpu")}
        usable = {name: path for name, path in parents.items() if name in own and os.access(path, os.W_OK)}
        return cls(1, usable) if {"memory", "pids"} <= usable.keys() else None

    def make(self, bounds: Bounds, cpus: int) -> "Group":
        for parent in set(self.parents.values()):
            _sweep(parent)
        group = Group(self, {name: f"{parent}/{PREFIX}{os.getpid()}" for name, parent in self.parents.items()})
        try:
            group.limit(bounds, cpus)
        except OSError:
            group.remove()
            raise
        return group


@dataclass(frozen=True, slots=True)
class Group:
    groups: Groups
    paths: dict[str, str]

    def limit(self, bounds: Bounds, cpus: int) -> None:
        for path in set(self.paths.values()):
            os.makedirs(path, exist_ok=True)
        if self.groups.version == 2:
            self._set("memory", "memory.max", bounds.memory)
            self._set("memory", "memory.swap.max", 0, must=False)
            self._set("memory", "memory.oom.group", 0, must=False)
            self._set("cpu", "cpu.max", f"{cpus * _PERIOD_US} {_PERIOD_US}", must=False)
        else:
            self._set("memory", "memory.limit_in_bytes", bounds.memory)
            self._set("memory", "memory.memsw.limit_in_bytes", bounds.memory, must=False)
            self._set("cpu", "cpu.cfs_quota_us", cpus * _PERIOD_US, must=False)
        self._set("pids", "pids.max", bounds.processes)

    def add(self, pid: int) -> None:
        for path in set(self.paths.values()):
            _write(f"{path}/cgroup.procs", str(pid))

    def out_of_memory(self) -> int:
        """How often the kernel ended something in it for lack of memory."""
        name = "memory.events" if self.groups.version == 2 else "memory.oom_control"
        with suppress(OSError), open(f"{self.paths['memory']}/{name}") as file:
            found = dict(line.split() for line in file)
            return int(found.get("oom_kill", 0))
        return 0

    def remove(self) -> None:
        """Its processes have been killed; those that are still dying are waited for. If that takes long, the next box cleans up."""
        deadline = time.monotonic() + PATIENCE_S
        for path in set(self.paths.values()):
            while not _is_removed(path) and time.monotonic() < deadline:
                time.sleep(0.002)

    def _set(self, controller: str, name: str, value: object, *, must: bool = True) -> None:
        if controller not in self.paths:
            return
        try:
            _write(f"{self.paths[controller]}/{name}", str(value))
        except OSError:
            if must:
                raise


def _is_removed(path: str) -> bool:
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _own() -> dict[str, str]:
    """The groups that this process is in, by controller; version 2 has the empty name."""
    with suppress(OSError), open("/proc/self/cgroup") as file:
        rows = [line.rstrip("\n").split(":", 2) for line in file]
        return {name: path for _, names, path in rows for name in names.split(",")}
    return {}


def _unified(path: str) -> tuple[str, tuple[str, ...]] | None:
    """Where groups of version 2 may be made, and with which controllers."""
    place = f"{_HERE}{path}".rstrip("/")
    with suppress(OSError):
        with open(f"{place}/cgroup.controllers") as file:
            there = set(file.read().split())
        if not {"memory", "pids"} <= there or not os.access(f"{place}/cgroup.procs", os.W_OK):
            return None
        if os.path.basename(place) == GATEWAY:  # the gateway moved itself aside before: its siblings are the boxes
            return os.path.dirname(place), tuple(there & {"memory", "pids", "cpu"})
        _step_aside(place, there & {"memory", "pids", "cpu"})
        return place, tuple(there & {"memory", "pids", "cpu"})
    return None


def _step_aside(place: str, controllers: set[str]) -> None:
    """A group of version 2 either holds processes or hands controllers down: what is in it moves one level down first."""
    os.makedirs(f"{place}/{GATEWAY}", exist_ok=True)
    with open(f"{place}/cgroup.procs") as file:
        for pid in file.read().split():
            with suppress(OSError):
                _write(f"{place}/{GATEWAY}/cgroup.procs", pid)
    _write(f"{place}/cgroup.subtree_control", " ".join(f"+{name}" for name in sorted(controllers)))


def _sweep(parent: str) -> None:
    for name in os.listdir(parent):
        pid = name.removeprefix(PREFIX)
        if name.startswith(PREFIX) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            with suppress(OSError):
                os.rmdir(f"{parent}/{name}")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
