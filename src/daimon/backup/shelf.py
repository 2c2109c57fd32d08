"""The directory that backups lie in: what they are called, which there are, which of them go.

    daimon-20261116T031500Z.tar.gz                 made by hand: never removed by anybody but the owner
    daimon-auto-1f0c22ab-20261116T031500Z.tar.gz   made by the schedule of one home, which the letters stand for

A home removes its own alone: several may share a directory. A file has such a name only if it was restored once (`making.py`), so the
newest by name is the newest that is known to be good, and it always stays.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from daimon.abi.errors import BadInput
from daimon.backup import unpack
from daimon.backup.manifest import Head

STAMP = "%Y%m%dT%H%M%SZ"
NAME = re.compile(r"daimon-(?:auto-(?P<tag>[0-9a-f]{8})-)?(?P<at>\d{8}T\d{6}Z)\.tar\.gz")


@dataclass(frozen=True, slots=True)
class Keep:
    """The newest of each of the last days, weeks and months in which there were any."""

    daily: int = 7
    weekly: int = 4
    monthly: int = 6


@dataclass(frozen=True, slots=True)
class Backup:
    path: Path
    at: datetime
    size: int
    is_auto: bool


def tag_of(home: Path) -> str:
    return hashlib.sha256(os.fsencode(home)).hexdigest()[:8]


def name_for(at: datetime, tag: str = "") -> str:
    return f"daimon-{f'auto-{tag}-' if tag else ''}{at.astimezone(UTC).strftime(STAMP)}.tar.gz"


def listed(directory: Path, tag: str | None = None) -> tuple[Backup, ...]:
    """Newest first. `tag`: only those that the schedule of this home made."""
    found = []
    with suppress(FileNotFoundError):
        for path in directory.iterdir():
            match = NAME.fullmatch(path.name)
            if match is None or (tag is not None and match["tag"] != tag):
                continue
            with suppress(ValueError, FileNotFoundError):  # digits that are no date; one that was just removed
                at = datetime.strptime(match["at"], STAMP).replace(tzinfo=UTC)
                found.append(Backup(path, at, path.stat().st_size, match["tag"] is not None))
    return tuple(sorted(found, key=lambda each: (each.at, each.path.name), reverse=True))


def head_of(backup: Backup) -> Head | None:
    """None: it cannot be read."""
    try:
        return unpack.head(backup.path)
    except (BadInput, OSError):
        return None


def kept(times: Iterable[datetime], keep: Keep) -> frozenset[datetime]:
    """Which of them stay."""
    newest_first = sorted(set(times), reverse=True)
    stay = set(newest_first[:1])
    rules: Sequence[tuple[int, Callable[[datetime], tuple[int, ...]]]] = (
        (keep.daily, lambda at: (at.year, at.month, at.day)),
        (keep.weekly, lambda at: tuple(at.isocalendar()[:2])),
        (keep.monthly, lambda at: (at.year, at.month)),
    )
    for most, period in rules:
        newest_of: dict[tuple[int, ...], datetime] = {}
        for at in newest_first:
            newest_of.setdefault(period(at), at)
        stay.update(list(newest_of.values())[:most])
    return frozenset(stay)


def surplus(backups: Sequence[Backup], keep: Keep, most_bytes: int) -> tuple[Backup, ...]:
    """Those that go: what no rule keeps, then the oldest until the rest takes no more than allowed. Never the newest."""
    stay = kept((each.at for each in backups), keep)
    left = [each for each in backups if each.at in stay]
    while len(left) > 1 and sum(each.size for each in left) > most_bytes:
        left.pop()
    names = {each.path for each in left}
    return tuple(each for each in backups if each.path not in names)


def prune(directory: Path, tag: str, keep: Keep, most_bytes: int) -> tuple[Path, ...]:
    """Of the backups that the schedule of this home made. What was removed."""
    gone = surplus(listed(directory, tag), keep, most_bytes)
    for each in gone:
        each.path.unlink(missing_ok=True)
    return tuple(each.path for each in gone)
