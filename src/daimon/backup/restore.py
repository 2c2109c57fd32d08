"""Puts a backup in the place of a home, as a whole.

    read to its end → unpacked beside the home → compared → devices are signed out → the two change places → the old one gets a name that
    says what it is

Invariant: at `HOME` is always a whole home, the old one or the new one. The exchange is one step of the file system; where that cannot be
had (some network file systems), there are two steps, and a crash just between them leaves `HOME` missing and both beside it. Nothing of an
old home is ever deleted: it is kept as `HOME.before-restore-TIME`. Backups that lie in it move over to the new home, since they are not
part of any state.

What is being unpacked is called `HOME.restoring-…` and holds a file `restore.unfinished` until it was compared. So whatever a crash leaves
can be told apart: with that file it is rubbish, without it it is a home.

The old home is locked meanwhile, so nobody runs on it. It knows nothing of what happened in the world since the backup was made: what was
waiting then waits again.
"""

import ctypes
import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from daimon.abi.errors import BadInput, Misconfigured, NoSpace, NotFound
from daimon.abi.ports import Clock
from daimon.backup import devices, tree, unpack, verify
from daimon.backup.inventory import BACKUPS, LOCK, UNFINISHED
from daimon.backup.making import FULL, MARGIN
from daimon.backup.manifest import Manifest
from daimon.machine.files import force
from daimon.machine.home import Home

EMPTY = frozenset({"lock", LOCK})
"""A home with nothing but these has no data."""
AT_FDCWD, RENAME_EXCHANGE = -100, 2
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Restored:
    home: Path
    manifest: Manifest
    aside: Path | None
    """Where the old home is. None: there was none."""
    signed_out: int = 0
    """Browsers, phones and programs that were in when the backup was made."""


def has_data(home: Home) -> bool:
    """Is there anything that somebody could miss?"""
    try:
        return bool({entry.name for entry in home.path.iterdir()} - EMPTY)
    except FileNotFoundError:
        return False
    except OSError as failure:
        raise Misconfigured(f"the home {home.path} cannot be read: {failure.strerror}; choose another with --home") from None


def examine(file: Path) -> Manifest:
    """Every byte of an archive, without writing one. Raises BadInput, NotFound."""
    try:
        return unpack.read(file, unpack.Nowhere())
    except FileNotFoundError:
        raise NotFound(f"there is no file {file}") from None
    except OSError as failure:
        raise Misconfigured(f"{file} cannot be read: {failure.strerror}") from None


def restore(file: Path, home: Home, clock: Clock, *, may_replace: bool = False) -> Restored:
    """Blocks. Raises BadInput, HomeBusy, NoSpace, Misconfigured, NotFound; then the home is as it was."""
    told = examine(file)
    place = Path(os.path.realpath(home.path))
    _require_place(place, told, is_allowed=may_replace or not has_data(home))
    lock = home.lock() if place.is_dir() else None
    try:
        staged = place.with_name(f"{place.name}.restoring-{os.getpid()}")
        try:
            _unpacked(file, staged, told)
            signed_out = devices.sign_out(staged / "journal.db", clock.now())
        except BaseException:
            with suppress(OSError):
                tree.remove(staged)
            raise
        (staged / UNFINISHED).unlink()
        force(staged)
        return Restored(place, told, _exchanged(staged, place, clock.now()), signed_out)
    finally:
        if lock is not None:
            os.close(lock)


def _require_place(place: Path, told: Manifest, *, is_allowed: bool) -> None:
    if not is_allowed:
        raise BadInput(f"{place} holds data already; choose another --home, or move it aside by restoring with --replace")
    if place.exists() and not place.is_dir():
        raise Misconfigured(f"the home {place} is not a directory; choose another with --home")
    if os.path.ismount(place):
        raise Misconfigured(
            f"{place} is a mount point and cannot be exchanged as a whole; restore into a directory below it "
            f"(--home {place / 'home'}) and start Daimon with that home"
        )
    above = place.parent
    try:
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.statvfs(above)
    except OSError as failure:
        raise Misconfigured(f"{above} cannot be made: {failure.strerror}; choose another --home") from None
    if (free := found.f_bavail * found.f_frsize) < told.bytes + MARGIN:
        raise NoSpace(f"{above} has {free / 1e6:,.0f} MB free, and the home in this backup takes {told.bytes / 1e6:,.0f} MB; make room")


def _unpacked(file: Path, staged: Path, told: Manifest) -> None:
    try:
        made = tree.Tree(staged)
        try:
            (staged / UNFINISHED).touch(mode=0o600)
            if unpack.read(file, made) != told:
                raise BadInput(f"{file} changed while it was read")
            made.finish()
            made.force()
        finally:
            made.close()
        verify.compare(staged, told)
    except OSError as failure:
        if failure.errno in FULL:
            raise NoSpace(
                f"the disk became full while {file.name} was unpacked; the home is as it was. Make room, then try again"
            ) from None
        raise Misconfigured(f"{file.name} cannot be unpacked beside the home: {failure.strerror}; the home is as it was") from failure


def _exchanged(staged: Path, place: Path, now: datetime) -> Path | None:
    if not place.exists():
        staged.rename(place)
        force(place.parent)
        return None
    _swap(staged, place)
    force(place.parent)
    if not {entry.name for entry in staged.iterdir()} - EMPTY:
        tree.remove(staged)
        return None
    if (staged / BACKUPS).is_dir() and not (place / BACKUPS).exists():
        (staged / BACKUPS).rename(place / BACKUPS)
    aside = _free_name(place, now)
    staged.rename(aside)
    force(place.parent)
    return aside


def _swap(staged: Path, place: Path) -> None:
    if _libc.renameat2(AT_FDCWD, os.fsencode(staged), AT_FDCWD, os.fsencode(place), RENAME_EXCHANGE) == 0:
        return
    if (number := ctypes.get_errno()) not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
        raise Misconfigured(f"{place} cannot be exchanged: {os.strerror(number)}; it is as it was, and the new one is {staged}")
    old = staged.with_name(f"{staged.name}.old")
    place.rename(old)
    staged.rename(place)
    old.rename(staged)


def _free_name(place: Path, now: datetime) -> Path:
    aside = place.with_name(f"{place.name}.before-restore-{now:%Y%m%dT%H%M%SZ}")
    while aside.exists():
        aside = aside.with_name(f"{aside.name}+")
    return aside
