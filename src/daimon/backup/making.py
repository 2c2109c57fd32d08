"""Makes a backup of a home, which may be running: copies, packs, unpacks again, compares, and only then gives it its name.

    room? → databases copied → packed into a draft → forced to disk → unpacked beside → compared → named

Invariant: a file that has the name of a backup was restored once, and came back whole. A failure on the way leaves no file; a kill leaves
a draft and a scratch directory, named after the home, which its next backup to the same place removes. One backup of a home is made at a
time: `backup.lock` is held meanwhile, and the system drops it when the process dies.

The scratch directory is in the home, because the home's file system can hold all that is in a home, or where backups go if there is more
room. Layers of workspaces may be thinned out while they are packed: then all begins again, a few times.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from daimon import __version__
from daimon.abi.errors import BadInput, DaimonError, HomeBusy, JournalDamaged, JournalFull, Misconfigured, NoSpace, NotFound
from daimon.abi.ports import Clock
from daimon.backup import copies, state, tree, unpack, verify
from daimon.backup.inventory import INDEX, LOCK, SCRATCH, WHOLE, Inventory, Scope
from daimon.backup.manifest import FORMAT, REBUILDABLE, Head, Journal, Manifest
from daimon.backup.pack import Pack
from daimon.backup.shelf import tag_of
from daimon.machine.files import force
from daimon.machine.home import Home
from daimon.sandbox.workspace import place

TRIES = 3
MARGIN = 32 << 20
FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Made:
    path: Path
    size: int
    """Of the archive."""
    manifest: Manifest


class _Moved(Exception):
    """Layers went while they were packed."""


def make(home: Home, to: Path, clock: Clock, scope: Scope = WHOLE) -> Made:
    """`to`: the name that it gets, which nothing has yet. Blocks. Raises NotFound, NoSpace, HomeBusy, Misconfigured, JournalFailed."""
    _require_place(home, to)
    draft = to.with_name(f".daimon-{tag_of(home.path)}.part")
    with _alone(home), _told(to), _gone_afterwards(draft):
        scratch = _room(home, to, scope)
        with _gone_afterwards(scratch):
            told = _packed(_Job(home, to, scope, clock), draft, scratch)
            _prove(draft, scratch, told)
            size = draft.stat().st_size
            draft.rename(to)
            force(to.parent)
    return Made(to, size, told)


def prove(file: Path, scratch: Path) -> Manifest:
    """Restores an archive into a new directory, looks whether it is all there, and removes it again. Raises BadInput, NoSpace, OSError."""
    with _told(file), _gone_afterwards(scratch):
        told = unpack.read(file, unpack.Nowhere())
        _require_room(scratch.parent, told.bytes)
        _prove(file, scratch, told)
    return told


def _prove(file: Path, scratch: Path, told: Manifest) -> None:
    restored = tree.Tree(scratch)
    try:
        found = unpack.read(file, restored)
        restored.finish()
    finally:
        restored.close()
    if found != told:
        raise BadInput(f"{file} holds another backup than was written")
    verify.compare(scratch, told)
    verify.opens(scratch)


@dataclass(frozen=True, slots=True)
class _Job:
    home: Home
    to: Path
    scope: Scope
    clock: Clock


def _packed(job: _Job, draft: Path, scratch: Path) -> Manifest:
    for _ in range(TRIES):
        with suppress(_Moved):
            return _pack(job, draft, scratch)
    raise Misconfigured("layers of workspaces went while they were copied, each time; try again when agents rest, or --without-workspaces")


def _pack(job: _Job, draft: Path, scratch: Path) -> Manifest:
    home, inventory = job.home, Inventory(job.home.path, job.scope, skipped=job.to.parent)
    scratch.mkdir(mode=0o700)
    with _gone_afterwards(scratch):
        before = state.of(home)
        journal = _copied(home, inventory, scratch)
        head = Head(FORMAT, __version__, job.clock.now(), str(home.path), job.scope.workspaces, before, journal)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as out:
            pack = Pack(out)
            pack.begin(head)
            _fill(pack, home, inventory, scratch)
            told = pack.end(head, (*inventory.left_out, *pack.changed))
            out.flush()
            os.fsync(out.fileno())
            os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # so that it is verified as the disk has it
    for family, name in inventory.layers or ():
        if not (home.path / "workspaces" / family / name).is_dir():
            raise _Moved
    return told


def _copied(home: Home, inventory: Inventory, scratch: Path) -> Journal | None:
    """Into files with plain names, in the order of the inventory. One that is damaged and can be rebuilt is left out."""
    journal = None
    for name in inventory.databases():
        copied = scratch / name.replace("/", "+")
        try:
            journal = copies.copy(home.path / name, copied) or journal
            verify.require_whole(copied, home.path / name)
        except JournalDamaged as damaged:
            if name not in REBUILDABLE:
                raise
            copied.unlink(missing_ok=True)
            inventory.unusable.add(name)
            inventory.left_out.append(f"{name}: {damaged}; it is rebuilt from the journal")
    index = scratch / INDEX.replace("/", "+")
    inventory.layers = copies.layers_in(index) if index.exists() else frozenset()
    return journal


def _fill(pack: Pack, home: Home, inventory: Inventory, scratch: Path) -> None:
    pending = inventory.databases()
    with place.opened(os.path.realpath(home.path)) as top:
        for found in inventory.walk():
            pack.add(top, found)
            for name in [each for each in pending if each.rpartition("/")[0] == found.path and found.kind == "directory"]:
                pack.add_copy(name, scratch / name.replace("/", "+"), (home.path / name).stat().st_mode & 0o777)
                pending.remove(name)


def _require_place(home: Home, to: Path) -> None:
    if not home.path.is_dir() or not any(home.path.iterdir()):
        raise NotFound(f"there is nothing in {home.path} to back up yet; choose another --home")
    if to.exists():
        raise BadInput(f"{to} is there already; backups are never written over, choose another name")
    if not to.parent.is_dir():
        raise Misconfigured(f"{to.parent} is no directory; make it, or choose another with --to")


def _room(home: Home, to: Path, scope: Scope) -> Path:
    """Where it is unpacked again. What an earlier one left is removed first. Raises NoSpace."""
    places = (home.path / SCRATCH, to.parent / f".daimon-{tag_of(home.path)}.scratch")
    for scratch in places:
        tree.remove(scratch)
    needed = Inventory(home.path, scope, skipped=to.parent).estimate()
    _require_room(to.parent, needed)
    for scratch in places:
        shared = needed if os.stat(scratch.parent).st_dev == os.stat(to.parent).st_dev else 0
        if _free(scratch.parent) >= needed + shared + MARGIN:
            return scratch
    raise NoSpace(
        f"a backup may take {_mb(needed)} and as much again to be verified, and {home.path} has {_mb(_free(home.path))} free, "
        f"{to.parent} {_mb(_free(to.parent))}; make room, choose another disk with --to, or leave out what agents work on "
        "(--without-workspaces)"
    )


def _require_room(directory: Path, needed: int) -> None:
    if (free := _free(directory)) < needed + MARGIN:
        raise NoSpace(f"{directory} has {_mb(free)} free, and this may take {_mb(needed + MARGIN)}; make room, or choose another disk")


def _free(directory: Path) -> int:
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    descriptor = os.open(home.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise HomeBusy(f"another backup of {home.path} is being made; wait for it") from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _gone_afterwards(path: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):
            if path.is_dir():
                tree.remove(path)
            else:
                path.unlink(missing_ok=True)


@contextmanager
def _told(to: Path) -> Iterator[None]:
    """A full disk in one sentence; what does not come back as it was is no backup."""
    try:
        yield
    except JournalFull:
        raise NoSpace(f"the disk became full while {to.name} was made; nothing is left of it. Make room, then try again") from None
    except OSError as failure:
        if failure.errno in FULL:
            raise NoSpace(f"the disk became full while {to.name} was made; nothing is left of it. Make room, then try again") from None
        raise
    except BadInput as broken:
        raise DaimonError(f"{to.name} did not come back as it was when it was restored for a test, so it is not kept: {broken}") from None
