"""A tree, opened for one operation: what is named in it becomes a path without links, and that is opened without links.

Links are followed by hand, part by part: read, go on from where the link lies, never above the top. An absolute link into the workspace,
as the box calls it, counts as below. The path that comes out is checked against the role's and then opened by a call that fails if a link
has got in meanwhile; then it is looked at anew, a few times. So what is opened is below the top and is what was granted, whoever
moves things meanwhile. The tree is opened for every operation, because it may be exchanged between two.
"""

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

from daimon.abi.errors import ToolFailed
from daimon.sandbox.files import paths
from daimon.sandbox.files.failures import named, told
from daimon.sandbox.files.opening import DIRECTORY, FOLDER, PLACE, READ, open_below
from daimon.sandbox.files.rights import Rights
from daimon.sandbox.ground import Ground

MOST_LINKS, TRIES = 40, 8


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a file is written. Whoever gets one closes it."""

    folder: int
    name: str
    path: str
    """Without links."""
    opened: int | None
    """What is there, to read; None: nothing is."""

    def about(self) -> os.stat_result | None:
        if self.opened is None:
            return None
        about = os.fstat(self.opened)
        _must_be_file(about, self.path)
        return about

    def close(self) -> None:
        os.close(self.folder)
        if self.opened is not None:
            os.close(self.opened)


class Tree:
    __slots__ = ("_granted", "_name", "_place", "_rights", "top")

    def __init__(self, ground: Ground, granted: paths.Granted) -> None:
        self._place, self._name, self._granted = ground.place, ground.name, granted
        self._rights = Rights(ground.user)
        self.top = -1

    def __enter__(self) -> "Tree":
        try:  # with our own rights: the directory in which the tree appears may be closed to its owner
            self.top = open_below(self._place, self._name, FOLDER)
        except OSError as error:
            raise ToolFailed("no_workspace", f"the workspace {named(self._name)} cannot be opened: {error.strerror}") from error
        try:
            self._rights.__enter__()
        except BaseException:
            os.close(self.top)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._rights.__exit__(None, None, None)
        os.close(self.top)

    def open_file(self, path: str) -> tuple[int, os.stat_result, str]:
        """A plain file to read, with what it is and the path that it really has. Never waits for anything."""
        opened, real = self._open(path, READ)
        try:
            about = os.fstat(opened)
            _must_be_file(about, real)
        except BaseException:
            os.close(opened)
            raise
        return opened, about, real

    def open_directory(self, path: str) -> tuple[int, str]:
        """To list it. Names may be seen everywhere in the workspace, as in the box."""
        return self._open(path, DIRECTORY, must_be_granted=False)

    def spot(self, path: str, *, makes_folders: bool) -> "Spot":
        """Where a write to this path ends: over links to what they lead to. It need not be there."""
        wanted = paths.parts(path, self._name)
        is_plain = ".." not in wanted
        for _ in range(TRIES):
            real = wanted if is_plain else self._followed(wanted, path)
            if not real:
                raise ToolFailed("is_directory", "this is the top of the workspace, not a file")
            if is_plain and not self._granted.may_write("/".join(real)):
                is_plain = False
                continue
            self.grant_write("/".join(real))
            try:
                return self._spot(real, makes_folders)
            except OSError as error:
                if not _may_be_link(error, is_plain):
                    raise told(error, path, "write") from error
                is_plain = False
        raise ToolFailed("unstable", f"cannot write {named(path)}: links on the way keep changing; try again", retryable=True)

    def _spot(self, real: list[str], makes_folders: bool) -> "Spot":
        folder = (self.made if makes_folders else self.folder)(real[:-1])
        try:
            return Spot(folder, real[-1], "/".join(real), open_below(folder, real[-1], READ))
        except FileNotFoundError:
            return Spot(folder, real[-1], "/".join(real), None)
        except BaseException:
            os.close(folder)
            raise

    def folder(self, real: list[str]) -> int:
        """A directory by its path without links."""
        return open_below(self.top, "/".join(real) or ".", FOLDER)

    def made(self, real: list[str]) -> int:
        """The same, made with those above it if it is not there. Whoever asks has seen to the grant."""
        try:
            return self.folder(real)
        except FileNotFoundError:
            return self._made(real)

    def _made(self, real: list[str]) -> int:
        at = open_below(self.top, ".", FOLDER)
        for name in real:
            try:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=at)
                deeper = open_below(at, name, FOLDER)
            finally:
                os.close(at)
            at = deeper
        return at

    def grant_write(self, real: str) -> str:
        if not self._granted.may_write(real):
            raise self._granted.refusal(real, "write")
        return real

    def entry(self, path: str) -> str:
        """The path of a directory's entry: links on the way are followed, but a link itself is meant as what it is."""
        wanted = paths.parts(path, self._name)
        if not wanted or wanted[-1] == "..":
            raise ToolFailed("bad_path", f"{named(path)} names no entry of a directory; name it without .. at the end")
        return "/".join([*self._followed(wanted[:-1], path), wanted[-1]])

    def kind(self, real: str) -> os.stat_result | None:
        """What is at a path without links; None: nothing."""
        try:
            place = open_below(self.top, real or ".", PLACE)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise told(error, real, "look at") from error
        try:
            return os.fstat(place)
        finally:
            os.close(place)

    def resolve(self, path: str) -> list[str]:
        return self._followed(paths.parts(path, self._name), path)

    def _open(self, path: str, flags: int, *, must_be_granted: bool = True) -> tuple[int, str]:
        wanted = paths.parts(path, self._name)
        is_plain = ".." not in wanted
        for _ in range(TRIES):
            real = "/".join(wanted if is_plain else self._followed(wanted, path))
            if must_be_granted and not self._granted.may_read(real):
                if not is_plain:
                    raise self._granted.refusal(real, "read")
                is_plain = False  # there may be links in it that lead to where it is granted
                continue
            try:
                return open_below(self.top, real or ".", flags), real
            except OSError as error:
                if not _may_be_link(error, is_plain):
                    raise told(error, path, "open") from error
                is_plain = False
        raise ToolFailed("unstable", f"cannot open {named(path)}: links on the way keep changing; try again", retryable=True)

    def _followed(self, wanted: list[str], path: str) -> list[str]:
        left, real, links = wanted[::-1], list[str](), 0
        while left:
            part = left.pop()
            if part == "..":
                if not real:
                    raise ToolFailed("outside", f"{named(path)} leads out of the workspace")
                real.pop()
                continue
            target = self._link("/".join([*real, part]), path)
            if target is None:
                real.append(part)
                continue
            links += 1
            if links > MOST_LINKS:
                raise ToolFailed("link_loop", f"{named(path)} leads over more than {MOST_LINKS} links; they may point at each other")
            if target.startswith("/"):
                target, real = self._inside(target, path), []
            left += [each for each in target.split("/") if each not in ("", ".")][::-1]
        return real

    def _link(self, real: str, path: str) -> str | None:
        """Where a link points; None for what is no link, or not there."""
        try:
            place = open_below(self.top, real, PLACE)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EAGAIN):
                return None  # whoever opens the whole path will notice
            raise told(error, path, "open") from error
        try:
            return os.readlink("", dir_fd=place) if stat.S_ISLNK(os.fstat(place).st_mode) else None
        finally:
            os.close(place)

    def _inside(self, target: str, path: str) -> str:
        try:
            return paths.below(target, self._name)
        except ToolFailed:
            raise ToolFailed("outside", f"{named(path)} is or goes over a link to {named(target)}, outside of the workspace") from None


def _may_be_link(error: OSError, is_plain: bool) -> bool:
    """A link where a directory is wanted is "not a directory" to the kernel, as a file is."""
    return error.errno in (errno.ELOOP, errno.EAGAIN) or (is_plain and error.errno == errno.ENOTDIR)


def _must_be_file(about: os.stat_result, path: str) -> None:
    mode = about.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise ToolFailed("is_directory", f"{named(path)} is a directory; list it instead")
    kind = "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
    raise ToolFailed("not_a_file", f"{named(path)} is a {kind}, not a file")
