"""Writing a file whole: beside it under another name, then renamed over it, so that a reader sees the old or the new and nothing between.

Before the rename it is looked at once more: who changed it after it was read here is not written over, but for the moment between that look
and the rename. Nothing is synced to disk: what makes a workspace durable is its checkpoints. The mode of a file that was there is kept,
its owner where that is possible; other names of the same file (hard links) keep the old content, and that is said. Who dies between has
left a file whose name begins with `.daimon-`.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Written
from daimon.sandbox.files import diff, text
from daimon.sandbox.files.content import MOST, Content, Large, Stamp, version, whole
from daimon.sandbox.files.failures import named, told
from daimon.sandbox.files.opening import create_below, rename_new
from daimon.sandbox.files.tree import Spot, Tree

TEMPORARY = ".daimon-"
PLAIN = 0o644


@dataclass(frozen=True, slots=True)
class Known:
    """What a write relies on: the version that was asked for, and the one that the session knows; empty: any."""

    expects: str = ""
    seen: Callable[[str], str] = lambda path: ""


@dataclass(frozen=True, slots=True)
class Wrote:
    result: Written
    stamp: Stamp
    before: str = ""
    """The version that was there; empty: none."""


@contextmanager
def spot_of(tree: Tree, path: str, *, makes_folders: bool = False) -> Iterator[Spot]:
    spot = tree.spot(path, makes_folders=makes_folders)
    try:
        yield spot
    finally:
        spot.close()


def current(spot: Spot, most: int) -> Content | None:
    """What is there; None: nothing."""
    about = spot.about()
    return None if about is None or spot.opened is None else whole(spot.opened, about, spot.path, most)


def write(tree: Tree, path: str, data: bytes, known: Known, most: int) -> Wrote:
    if len(data) > MOST:
        raise ToolFailed("too_large", f"{len(data):,} bytes are more than the {MOST:,} that a file may have here")
    if len(data) > most:
        raise Large
    with spot_of(tree, path, makes_folders=True) as spot:
        old = current(spot, most)
        if old is not None and old.data == data:
            return Wrote(Written(path=spot.path, what="unchanged", version=old.version), Stamp.of(old.about))
        _must_be_known(spot.path, old, data, known)
        return put(spot, data, old)


def put(spot: Spot, data: bytes, old: Content | None) -> Wrote:
    """Writes what is to be there instead of `old`."""
    try:
        about = _replaced(spot, data, old)
    except FileExistsError:
        raise ToolFailed("changed", f"{named(spot.path)} was made by somebody else meanwhile; read it first", retryable=True) from None
    except OSError as error:
        raise told(error, spot.path, "write") from error
    if old is None:
        return Wrote(Written(path=spot.path, what="added", version=version(data)), Stamp.of(about))
    notes = (f"it had {old.about.st_nlink} names; the others keep the old content",) if old.about.st_nlink > 1 else ()
    result = Written(path=spot.path, what="changed", version=version(data), diff=difference(old.data, data), notes=notes)
    return Wrote(result, Stamp.of(about), old.version)


def difference(old: bytes, new: bytes) -> str:
    before, after = text.decoded(old), text.decoded(new)
    if before is None or after is None:
        return f"{len(old):,} bytes became {len(new):,}; one of them is no text"
    return diff.unified(before.text, after.text)


def _must_be_known(path: str, old: Content | None, data: bytes, known: Known) -> None:
    having = "" if old is None else old.version
    if known.expects and known.expects != having:
        now = f"is at version {having}" if old else "is not there"
        raise ToolFailed("changed", f"{named(path)} {now}, not {known.expects}: it changed under you; {_apart(old, data)}")
    if (seen := known.seen(path)) and old is not None and seen != having and not known.expects:
        said = f"{named(path)} changed under you: you know version {seen}, it is at {having}; {_apart(old, data)}"
        raise ToolFailed("changed", said)


def _apart(old: Content | None, data: bytes) -> str:
    if old is None:
        return "somebody removed it, or it never was; write it without a version"
    before, after = text.decoded(old.data), text.decoded(data)
    apart = "" if before is None or after is None else f" (from it to what you wrote: {diff.summary(before.text, after.text)})"
    return f"read it again, then write{apart}, or say overwrite"


def _replaced(spot: Spot, data: bytes, old: Content | None) -> os.stat_result:
    name = f"{TEMPORARY}{secrets.token_hex(6)}"
    made = create_below(spot.folder, name)
    try:
        try:
            fill(made, data)
            about = _dress(made, old)
        finally:
            os.close(made)
        if old is None:
            rename_new((spot.folder, name), (spot.folder, spot.name))
        else:
            _must_be_same(spot, old)
            os.rename(name, spot.name, src_dir_fd=spot.folder, dst_dir_fd=spot.folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=spot.folder)
        raise
    return about


def fill(made: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(made, left) :]


def _dress(made: int, old: Content | None) -> os.stat_result:
    os.fchmod(made, PLAIN if old is None else old.about.st_mode & 0o777)
    about = os.fstat(made)
    if old is not None and (about.st_uid, about.st_gid) != (old.about.st_uid, old.about.st_gid):
        with suppress(PermissionError):
            os.fchown(made, old.about.st_uid, old.about.st_gid)
    return about


def _must_be_same(spot: Spot, old: Content) -> None:
    found: Stamp | None = None
    with suppress(FileNotFoundError):
        found = Stamp.of(os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False))
    if found != Stamp.of(old.about):
        raise ToolFailed("changed", f"{named(spot.path)} was changed by somebody else just now; read it again", retryable=True)
