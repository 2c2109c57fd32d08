"""Memory, which is a reading of the journal: whole, not ahead of it, and of one mind with itself. Nothing in it is the only copy."""

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import apsw

from daimon.doctor.finding import Finding
from daimon.doctor.looking import looked_at, steadily
from daimon.machine.home import Home
from daimon.memory.aside import set_aside

AREA = "memory"
REBUILD = "stop Daimon and run `daimon doctor --rebuild-memory`: the next start reads the journal anew"
AGREEMENT = "daimon.memory.agreement"
Disagreements = Callable[[apsw.Connection], list[str]]


def look(path: Path, journal_position: int | None) -> tuple[Finding, ...]:
    if not path.exists():
        return (Finding("note", AREA, "there is none yet", "the next start reads it from the journal"),)
    return steadily(path, lambda: tuple(_looked(path, journal_position)), lambda found: all(each.severity == "ok" for each in found))


def set_memory_aside(home: Home) -> str:
    """Where nobody runs. What was done. Raises HomeBusy."""
    descriptor = home.lock()
    try:
        if not home.memory.exists():
            return "there is no memory file; the next start makes one from the journal"
        return set_aside(home.memory, "its owner wants it rebuilt")
    finally:
        os.close(descriptor)


def _looked(path: Path, journal_position: int | None) -> Iterator[Finding]:
    try:
        with looked_at(path) as db:
            fault = str(db.pragma("quick_check", 1))
            if fault != "ok":
                yield Finding("error", AREA, f"{path} is damaged: {fault}", REBUILD)
                return
            at = int(str(db.execute("SELECT cursor FROM position").get or 0) or 0)
            yield _placed(at, journal_position)
            yield from _agreed(db)
    except (apsw.Error, ValueError) as broken:
        yield Finding("error", AREA, f"{path} cannot be read: {broken}", REBUILD)


def _placed(at: int, journal: int | None) -> Finding:
    if journal is None:
        return Finding("note", AREA, f"it is at position {at}; the journal cannot be read, so they were not compared")
    if at > journal:
        return Finding("error", AREA, f"it is at position {at}, ahead of the journal at {journal}: it is of another journal", REBUILD)
    behind = f", {journal - at} behind: it catches up when it is needed" if at < journal else ""
    return Finding("ok", AREA, f"whole, at position {at} of the journal{behind}")


def _agreed(db: apsw.Connection) -> Iterator[Finding]:
    """Whether its stores agree with each other, where this release can tell."""
    if find_spec(AGREEMENT) is None:
        return
    disagreements: Disagreements = import_module(AGREEMENT).disagreements
    found = disagreements(db)
    for text in found[:5]:
        yield Finding("error", AREA, text, REBUILD)
    if not found:
        yield Finding("ok", AREA, "its stores agree")
