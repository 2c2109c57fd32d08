"""Reads an archive that anybody may have made, to look at it or to unpack it.

Nothing in it is believed. A member is a file, a directory, a link or a whiteout, has a plain path below `home/`, comes once and after its
directory; links stand only where agents work, and nothing is ever written through one, because each directory on the way is opened
without following any; a hard link names a file that came before it; a whiteout stands in the tree of a layer. No claimed size makes
anybody reserve memory. In the end all must be what the manifest says, no more and no less.

Whatever is wrong is `BadInput`, a sentence on what and where. Ownership is given back by root alone; bits that let a program run as
somebody else never are.
"""

import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, Protocol, cast

from daimon.abi.errors import BadInput
from daimon.backup import manifest
from daimon.backup.inventory import LAYER, TREES
from daimon.backup.manifest import Entry, Head, Kind, Manifest
from daimon.backup.pack import forget_members

PIECE = 1 << 20
MOST_MEMBERS = 5_000_000
KINDS: dict[bytes, Kind] = {
    tarfile.REGTYPE: "file", tarfile.LNKTYPE: "file", tarfile.DIRTYPE: "directory", tarfile.SYMTYPE: "link", tarfile.CHRTYPE: "whiteout",
}  # fmt: skip


class Sink(Protocol):
    """Where members go."""

    def directory(self, path: str, info: tarfile.TarInfo) -> None: ...

    def file(self, path: str, info: tarfile.TarInfo, pieces: Iterator[bytes]) -> None: ...

    def hard_link(self, path: str, to: str) -> None: ...

    def link(self, path: str, info: tarfile.TarInfo) -> None: ...

    def whiteout(self, path: str, info: tarfile.TarInfo) -> None: ...


class Nowhere:
    """For a look: every byte is read, none is written."""

    def directory(self, path: str, info: tarfile.TarInfo) -> None: ...

    def file(self, path: str, info: tarfile.TarInfo, pieces: Iterator[bytes]) -> None:
        for _ in pieces:
            pass

    def hard_link(self, path: str, to: str) -> None: ...

    def link(self, path: str, info: tarfile.TarInfo) -> None: ...

    def whiteout(self, path: str, info: tarfile.TarInfo) -> None: ...


def head(file: Path) -> Head:
    """Only the beginning. Raises BadInput, OSError."""
    with _opened(file) as tar:
        return _head(tar)


def read(file: Path, sink: Sink) -> Manifest:
    """All of it. Raises BadInput, OSError."""
    with _opened(file) as tar:
        found = _head(tar)
        reading = _Reading(tar, sink)
        told = reading.members()
        if told.head != found:
            raise BadInput("its beginning and its end are of two backups")
        reading.require_as(told)
        return told


@dataclass(slots=True)
class _Reading:
    tar: tarfile.TarFile
    sink: Sink
    seen: dict[str, Entry] = field(default_factory=dict)

    def members(self) -> Manifest:
        while (info := self.tar.next()) is not None:
            forget_members(self.tar)
            if info.name == manifest.LAST:
                told = manifest.manifest_of(_bytes(self.tar, info, manifest.MOST_LAST))
                self._require_end()
                return told
            self._member(info)
        raise BadInput("it was cut off, or is damaged: its list of files is missing")

    def _require_end(self) -> None:
        """To the last byte: the sum that gzip keeps of all of it stands there."""
        if self.tar.next() is not None:
            raise BadInput("something follows its end")
        rest = cast("IO[bytes]", self.tar.fileobj).read(PIECE)
        if len(rest) == PIECE or rest.strip(b"\0"):
            raise BadInput("something follows its end")

    def _member(self, info: tarfile.TarInfo) -> None:
        path = _path(info.name)
        kind = self._checked(path, info)
        digest, size = "", 0
        match kind:
            case "directory":
                self.sink.directory(path, info)
            case "whiteout":
                self.sink.whiteout(path, info)
            case "link":
                digest = hashlib.sha256(os.fsencode(info.linkname)).hexdigest()
                self.sink.link(path, info)
            case "file" if info.type == tarfile.LNKTYPE:
                first = self._linked(path, info)
                digest, size = first.hash, first.size
                self.sink.hard_link(path, _path(info.linkname))
            case "file":
                running = hashlib.sha256()
                self.sink.file(path, info, _pieces(self.tar, info, running))
                digest, size = running.hexdigest(), info.size
        self.seen[path] = Entry(manifest.quoted(path), kind, size, digest)

    def _checked(self, path: str, info: tarfile.TarInfo) -> Kind:
        kind = KINDS.get(info.type)
        if kind is None or info.sparse is not None:
            raise BadInput(f"{_shown(path)} is neither a file nor a directory nor a link")
        if path in self.seen or len(self.seen) >= MOST_MEMBERS:
            raise BadInput(f"{_shown(path)} is in it twice" if path in self.seen else f"it has more than {MOST_MEMBERS} members")
        if path and not self._is_directory(path.rpartition("/")[0]):
            raise BadInput(f"{_shown(path)} does not lie in a directory that is in it")
        if not path and kind != "directory":
            raise BadInput("the home in it is no directory")
        if kind == "link" and path.partition("/")[0] not in TREES:
            raise BadInput(f"{_shown(path)} is a link, where none can be")
        if kind == "whiteout" and not _may_be_whiteout(path, info):
            raise BadInput(f"{_shown(path)} is a device")
        return kind

    def _is_directory(self, path: str) -> bool:
        return path in self.seen and self.seen[path].kind == "directory"

    def _linked(self, path: str, info: tarfile.TarInfo) -> Entry:
        first = self.seen.get(_path(info.linkname))
        if first is None or first.kind != "file":
            raise BadInput(f"{_shown(path)} is linked with {_shown(info.linkname)}, which is no file in it")
        return first

    def require_as(self, told: Manifest) -> None:
        listed = {manifest.unquoted(entry.path): entry for entry in told.entries}
        for path in listed.keys() - self.seen.keys():
            raise BadInput(f"{_shown(path)} is in its list, but not in it")
        for path, entry in self.seen.items():
            if path not in listed:
                raise BadInput(f"{_shown(path)} is in it, but not in its list")
            if listed[path] != entry:
                raise BadInput(f"{_shown(path)} is not what it was when the backup was made")


@contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    """Whatever the libraries say of a broken file is said in our words."""
    with file.open("rb") as packed:
        try:
            stream = _Bounded(gzip.GzipFile(fileobj=packed, mode="rb"))
            with tarfile.TarFile(fileobj=cast("IO[bytes]", stream), mode="r", encoding="utf-8", errors="surrogateescape") as tar:
                yield tar
        except BadInput as bad:
            raise BadInput(f"{file} cannot be restored: {bad}") from None
        except EOFError:
            raise BadInput(f"{file} cannot be restored: it was cut off") from None
        except (tarfile.TarError, gzip.BadGzipFile, zlib.error) as bad:
            what = "is no backup of Daimon" if packed.tell() <= PIECE and not _is_gzip(file) else "is damaged"
            raise BadInput(f"{file} cannot be restored: it {what} ({bad})") from None
        except (ValueError, OverflowError, RecursionError) as bad:  # numbers in headers that are none
            raise BadInput(f"{file} cannot be restored: it is damaged ({type(bad).__name__}: {bad})") from None


class _Bounded:
    """A file for the library that reads tar: it asks for as much as a header claims, which may be anything."""

    def __init__(self, inner: gzip.GzipFile) -> None:
        self._inner = inner

    def read(self, size: int) -> bytes:
        if not 0 <= size <= 2 * PIECE:
            raise BadInput(f"a header in it claims {size} bytes for itself")
        return self._inner.read(size)

    def tell(self) -> int:
        return self._inner.tell()

    def seek(self, to: int) -> int:
        return self._inner.seek(to)


def _head(tar: tarfile.TarFile) -> Head:
    first = tar.next()
    if first is None or first.name != manifest.HEAD:
        raise BadInput("it is no backup of Daimon")
    return manifest.head_of(_bytes(tar, first, manifest.MOST_HEAD))


def _bytes(tar: tarfile.TarFile, info: tarfile.TarInfo, most: int) -> bytes:
    if info.type != tarfile.REGTYPE or info.sparse is not None or info.size > most:
        raise BadInput(f"{_shown(info.name)} in it is no file, or larger than {most} bytes")
    return b"".join(_pieces(tar, info, hashlib.sha256()))


def _pieces(tar: tarfile.TarFile, info: tarfile.TarInfo, running: "hashlib._Hash") -> Iterator[bytes]:
    file = cast("BinaryIO", tar.extractfile(info))
    left = info.size
    while left > 0:
        piece = file.read(min(PIECE, left))
        if not piece:
            raise BadInput("it was cut off")
        running.update(piece)
        left -= len(piece)
        yield piece


def _path(name: str) -> str:
    """Below the home. Nothing that leads elsewhere, in whichever way."""
    top, _, path = name.partition("/")
    parts = path.split("/") if path else []
    if top != manifest.TOP or name.endswith("/") or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise BadInput(f"{_shown(name)} is no path below {manifest.TOP}/")
    if len(os.fsencode(name)) > 4_000 or any(len(os.fsencode(part)) > 255 for part in parts):
        raise BadInput(f"{_shown(name)} is too long for a path")
    return path


def _may_be_whiteout(path: str, info: tarfile.TarInfo) -> bool:
    match = LAYER.fullmatch(path)
    return match is not None and (match[3] or "").startswith("tree/") and (info.devmajor, info.devminor) == (0, 0)


def _shown(path: str) -> str:
    return ascii(path[:120])


def _is_gzip(file: Path) -> bool:
    with file.open("rb") as found:
        return found.read(2) == b"\x1f\x8b"
