"""What commands printed, complete, in files of the owner: `DIRECTORY/OWNER/ID`, and `ID.json` about it when it has ended.

A file holds the first half of what may be kept as it is; what comes after goes round in the second half, so that its end is always there,
and the middle of a long output is what is missing. So byte N of the output is at N, or at HALF + (N - HALF) % HALF.

When there are more than `in_all` bytes, the oldest files go. Nobody else on the machine may read them. Output of another agent or another
conversation is not found, whatever id is asked for: ids are looked up below the owner's own directory only.
"""

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from daimon.abi.errors import NotFound, ToolFailed
from daimon.abi.terminal import Excerpt
from daimon.sandbox.terminal.plain import rendered

EACH, IN_ALL = 64 << 20, 1 << 30
MOST_FILES = 4_096
_ID = re.compile(r"[a-z0-9][a-z0-9_.-]{0,79}")


@dataclass(frozen=True, slots=True)
class Piece:
    """Of an output. What was asked for may begin in the part that is missing; then it begins after it."""

    data: bytes
    start: int
    size: int
    """Of all that was printed."""
    missing: int = 0
    """Bytes in the middle that were not kept."""


@dataclass(slots=True)
class Keeping:
    """An output while it comes. A disk that is full ends the keeping, not the command."""

    id: str
    _path: Path | None
    """None: nothing is kept."""
    _half: int
    size: int = 0
    failed: str = ""
    _file: int = -1

    def add(self, data: bytes) -> None:
        view = memoryview(data)
        if self._path is None:
            view = view[:0]
        if len(view) > 2 * self._half:
            self.size += len(view) - 2 * self._half
            view = view[-2 * self._half :]
        while view and not self.failed:
            at = self.size if self.size < self._half else self._half + (self.size - self._half) % self._half
            room = (self._half if at < self._half else 2 * self._half) - at
            self._write(view[:room], at)
            self.size += min(room, len(view))
            view = view[room:]

    def _write(self, data: memoryview, at: int) -> None:
        assert self._path is not None
        try:
            if self._file < 0:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            while data:
                done = os.pwrite(self._file, data, at)
                data, at = data[done:], at + done
        except OSError as error:
            self.failed = f"it could not be kept: {error.strerror}"

    def finish(self) -> None:
        if self._file >= 0 and self._path is not None:
            os.close(self._file)
            self._file = -1
            with suppress(OSError):
                self._path.with_name(f"{self.id}.json").write_text(json.dumps({"size": self.size}))


@dataclass(frozen=True, slots=True)
class Kept:
    """The outputs of one owner."""

    directory: Path
    each: int = EACH
    in_all: int = IN_ALL
    _open: dict[str, Keeping] = field(default_factory=dict)

    @classmethod
    def of(cls, directory: Path, owner: str) -> "Kept":
        """`owner` is any text; its directory has a name that no text can lead out of."""
        return cls(directory / blake2b(owner.encode(errors="replace"), digest_size=12).hexdigest())

    def begin(self, wanted: str) -> Keeping:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._make_room()
        keeping = Keeping(wanted, self.directory / wanted, self.each // 2)
        self._open[wanted] = keeping
        return keeping

    def finish(self, keeping: Keeping) -> None:
        keeping.finish()
        self._open.pop(keeping.id, None)

    def read(self, wanted: str, start: int, length: int) -> Piece:
        """A negative start counts from the end. Raises NotFound."""
        path, half = self.directory / wanted, self.each // 2
        if not _ID.fullmatch(wanted) or wanted.endswith(".json"):
            raise NotFound(f"{wanted:.80} is no output of yours; the result of `run` names it when it is cut")
        if wanted in self._open and not self._open[wanted].size:
            return Piece(b"", 0, 0)
        try:
            with path.open("rb") as file:
                size = self._size(wanted, os.fstat(file.fileno()).st_size)
                missing = max(0, size - 2 * half)
                start = max(0, size + start) if start < 0 else min(start, size)
                if half <= start < half + missing:
                    start = half + missing
                end = min(size, start + length, half if start < half and missing else size)
                return Piece(_at(file.fileno(), start, end, half), start, size, missing)
        except OSError:
            raise NotFound(f"the output {wanted} is not there any more: the oldest are removed when there are many") from None

    def _size(self, wanted: str, on_disk: int) -> int:
        if wanted in self._open:
            return self._open[wanted].size
        try:
            return max(on_disk, int(json.loads((self.directory / f"{wanted}.json").read_text())["size"]))
        except (OSError, ValueError, KeyError, TypeError):
            return on_disk

    def _make_room(self) -> None:
        """The oldest of all owners go, so that one more of the largest size has room."""
        found = []
        for path in self.directory.parent.glob("*/*"):
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_mtime_ns, stat.st_size, path))
        total, number = sum(size for _, size, _ in found) + self.each, len(found)
        for _, size, path in sorted(found):
            if total <= self.in_all and number <= MOST_FILES:
                return
            number -= 1
            if path.name not in self._open:
                with suppress(OSError):
                    path.unlink()
                total -= size


@dataclass(frozen=True, slots=True)
class KeptOutputs:
    """Of all owners, as tools read them."""

    directory: Path
    _known: dict[str, Kept] = field(default_factory=dict)

    def of(self, owner: str) -> Kept:
        return self._known.setdefault(owner, Kept.of(self.directory, owner))

    def read(self, owner: str, output: str, start: int, length: int) -> Excerpt:
        try:
            piece = self.of(owner).read(output, start, length)
        except NotFound as missing:
            raise ToolFailed("not_found", str(missing)) from None
        return Excerpt(rendered(piece.data), piece.start, piece.start + len(piece.data), piece.size, piece.missing)


def _at(file: int, start: int, end: int, half: int) -> bytes:
    """The part from start to end, which lies in one half, or in both when nothing is missing."""
    found = bytearray()
    while start < end:
        at = start if start < half else half + (start - half) % half
        room = (half if at < half else 2 * half) - at
        data = os.pread(file, min(room, end - start), at)
        if not data:
            break
        found += data
        start += len(data)
    return bytes(found)
