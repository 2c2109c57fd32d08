"""Backups: is there a fresh one, is it good, and what do the old ones still hold?"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from daimon.abi.errors import BadInput
from daimon.backup import shelf, unpack
from daimon.backup.manifest import Head
from daimon.backup.plan import Plan
from daimon.backup.shelf import Backup
from daimon.doctor.finding import Finding

AREA = "backup"
OLD = timedelta(days=8)
MAKE = "run `daimon backup`"


def look(plan: Plan, now: datetime, erasures: int, *, everything: bool) -> tuple[Finding, ...]:
    return tuple(_looked(plan, now, erasures, everything=everything))


def _looked(plan: Plan, now: datetime, erasures: int, *, everything: bool) -> Iterator[Finding]:
    if plan.every_s is not None and plan.to.parent.is_dir() is False:
        yield Finding("error", AREA, f"{plan.to} cannot be made: {plan.to.parent} is not there", "bring the disk back, or change backup.to")
        return
    found = shelf.listed(plan.to)
    if not found:
        made = "a running gateway makes one a few minutes after its start" if plan.every_s is not None else "backup.every is off"
        yield Finding("note", AREA, f"there is none in {plan.to} yet; {made}", MAKE)
        return
    yield _aged(found[0], now)
    yield _checked(found[0], everything=everything)
    yield from _remembering(found, erasures)


def _aged(newest: Backup, now: datetime) -> Finding:
    said = f"the newest is of {newest.at.astimezone():%Y-%m-%d %H:%M}, {newest.path}"
    if now - newest.at > OLD:
        return Finding("warning", AREA, f"{said}: {(now - newest.at).days} days ago", f"{MAKE}, and see whether backup.every is off")
    return Finding("ok", AREA, said)


def _checked(newest: Backup, *, everything: bool) -> Finding:
    try:
        if everything:
            unpack.read(newest.path, unpack.Nowhere())
        else:
            unpack.head(newest.path)
    except (BadInput, OSError) as broken:
        return Finding("error", AREA, str(broken), f"delete it and {MAKE}; look at the disk that it lies on")
    return Finding(
        "ok", AREA, "it has every byte that it was made with" if everything else "it was verified when it was made (--all reads it again)"
    )


def _remembering(found: tuple[Backup, ...], erasures: int) -> Iterator[Finding]:
    """What was erased since is in them still: no eraser reaches into an archive."""
    heads = [(each, shelf.head_of(each)) for each in found]
    older = [each for each, head in heads if _erasures(head) < erasures]
    if older:
        text = f"{len(older)} of {len(found)} were made before something was erased, and still hold it"
        yield Finding("note", AREA, text, f"{MAKE} and delete those up to {older[0].path.name}, if it must be gone for good")


def _erasures(head: Head | None) -> int:
    return head.journal.erasures if head is not None and head.journal is not None else 0
