"""Writes an archive: a tar file, packed by gzip, one member after the other, never more than a few megabytes of it in memory.

Any tar unpacks it. Beyond plain tar there are, all in the form that GNU tar and star understand: dates to the nanosecond, attributes
(`user.overlay.opaque` is what makes a directory of a layer hide those below), whiteouts as what they are, character devices 0/0.

A file may change while it is read. A small one is read at once, and again if its date changed meanwhile; of a large one the bytes are
counted, so that the archive stays whole, and the list of what was left out says that it changed.
"""

import gzip
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, cast

from daimon.backup import manifest
from daimon.backup.inventory import TREES, Found
from daimon.backup.manifest import Entry, Head, Manifest
from daimon.sandbox.workspace import place

LEVEL = 1
"""Of gzip: most of what is here is packed already; more would cost minutes and win little."""
SMALL = 4 << 20
TRIES = 3
XATTR = "SCHILY.xattr."
TYPES = {"directory": tarfile.DIRTYPE, "link": tarfile.SYMTYPE, "whiteout": tarfile.CHRTYPE, "file": tarfile.REGTYPE}


class Pack:
    """One archive that is being written: `begin`, any number of `add` and `add_file`, `end`."""

    def __init__(self, out: BinaryIO) -> None:
        self._packed = gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=LEVEL, mtime=0)
        self._tar = tarfile.TarFile(
            fileobj=cast("IO[bytes]", self._packed), mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="surrogateescape"
        )
        self._links: dict[tuple[int, int], Entry] = {}
        self.entries: list[Entry] = []
        self.changed: list[str] = []
        """Large files that were written to while they were read."""

    def begin(self, head: Head) -> None:
        self._put(_plain(manifest.HEAD), manifest.written(Head, head))

    def add(self, top: int, found: Found) -> None:
        """From the home. What has gone since is left out without a word: it might have gone a moment before."""
        info = _info(found.path, found.seen, TYPES[found.kind])
        match found.kind:
            case "file":
                with suppress(FileNotFoundError, NotADirectoryError):
                    self._add_file(top, found, info)
                return
            case "link":
                with suppress(FileNotFoundError, NotADirectoryError):
                    info.linkname = place.target(top, found.path)
                    self._note(found.path, "link", 0, hashlib.sha256(os.fsencode(info.linkname)).hexdigest())
                    self._put(info)
                return
            case "directory":
                info.pax_headers = {**info.pax_headers, **_attributes(top, found.path)}
            case "whiteout":
                pass
        self._note(found.path, found.kind, 0, "")
        self._put(info)

    def add_copy(self, path: str, copied: Path, mode: int) -> None:
        """A database, from its copy."""
        with copied.open("rb") as file:
            info = _info(path, os.fstat(file.fileno()), tarfile.REGTYPE)
            info.mode = mode
            self._stream(path, info, file)

    def end(self, head: Head, left_out: tuple[str, ...]) -> Manifest:
        made = Manifest(head, tuple(self.entries), left_out)
        self._put(_plain(manifest.LAST), manifest.written(Manifest, made))
        self._tar.close()
        self._packed.close()
        return made

    def _add_file(self, top: int, found: Found, info: tarfile.TarInfo) -> None:
        known = self._links.get((found.seen.st_dev, found.seen.st_ino)) if found.seen.st_nlink > 1 else None
        if known is not None:
            info.type, info.linkname = tarfile.LNKTYPE, f"{manifest.TOP}/{manifest.unquoted(known.path)}"
            self._note(found.path, "file", known.size, known.hash)
            self._put(info)
            return
        if found.path.split("/")[0] in TREES:
            info.pax_headers = {**info.pax_headers, **_attributes(top, found.path)}
        with _followed(top, found.path) if _is_owners_link(top, found.path) else place.file(top, found.path) as file:
            self._take(found, info, file)
        if found.seen.st_nlink > 1:
            self._links[found.seen.st_dev, found.seen.st_ino] = self.entries[-1]

    def _take(self, found: Found, info: tarfile.TarInfo, file: io.FileIO) -> None:
        before = os.fstat(file.fileno())
        if before.st_size > SMALL:
            self._stream(found.path, info, file)
            if os.fstat(file.fileno()).st_mtime_ns != before.st_mtime_ns:
                self.changed.append(f"{found.path}: it was written to while it was read, and may be half of each moment")
            return
        data = _steady(file)
        info.size = len(data)
        self._note(found.path, "file", info.size, hashlib.sha256(data).hexdigest())
        self._put(info, data)

    def _stream(self, path: str, info: tarfile.TarInfo, file: BinaryIO | io.FileIO) -> None:
        info.size = os.fstat(file.fileno()).st_size
        counted = _Counted(file)
        self._tar.addfile(info, cast("IO[bytes]", counted))
        forget_members(self._tar)
        self._note(path, "file", info.size, counted.digest.hexdigest())

    def _put(self, info: tarfile.TarInfo, data: bytes = b"") -> None:
        info.size = len(data)
        self._tar.addfile(info, io.BytesIO(data) if data else None)
        forget_members(self._tar)

    def _note(self, path: str, kind: manifest.Kind, size: int, digest: str) -> None:
        self.entries.append(Entry(manifest.quoted(path), kind, size, digest))


class _Counted:
    """Exactly as many bytes as are asked for, whatever becomes of the file, and their hash."""

    def __init__(self, file: BinaryIO | io.FileIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size and (piece := self._file.read(size - len(data))):
            data += piece
        data += bytes(size - len(data))
        self.digest.update(data)
        return bytes(data)


def _steady(file: io.FileIO) -> bytes:
    """All of a small file, at one moment if one can be had."""
    data = b""
    for _ in range(TRIES):
        before = os.fstat(file.fileno())
        file.seek(0)
        data = file.read(2 * SMALL)
        after = os.fstat(file.fileno())
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, len(data)):
            break
    return data


def _info(path: str, seen: os.stat_result, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(f"{manifest.TOP}/{path}" if path else manifest.TOP)
    info.type, info.mode, info.uid, info.gid = kind, stat.S_IMODE(seen.st_mode), seen.st_uid, seen.st_gid
    seconds, nanoseconds = divmod(seen.st_mtime_ns, 10**9)
    info.mtime = seconds
    info.pax_headers = {"mtime": f"{seconds}.{nanoseconds:09}"}
    return info


def _plain(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode = 0o600
    return info


def _attributes(top: int, path: str) -> Mapping[str, str]:
    """Those that any user may set, and that layers need."""
    found = {}
    with suppress(OSError), place.above(top, path) as (above, name):
        held = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=above)
        try:
            for attribute in os.listxattr(held):
                if attribute.startswith("user."):
                    found[XATTR + attribute] = os.getxattr(held, attribute).decode("utf-8", "surrogateescape")
        finally:
            os.close(held)
    return found


def _is_owners_link(top: int, path: str) -> bool:
    """Outside of what agents work on, a link to a file counts as the file."""
    if path.split("/")[0] in TREES:
        return False
    seen = place.about(top, path)
    return seen is not None and stat.S_ISLNK(seen.st_mode)


@contextmanager
def _followed(top: int, path: str) -> Iterator[io.FileIO]:
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=top), "rb", buffering=0) as file:
        yield file


def forget_members(tar: tarfile.TarFile) -> None:
    """The library remembers every member that it ever saw; of a million that is a gigabyte."""
    tar.members = []  # type: ignore[attr-defined]
