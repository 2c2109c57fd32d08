"""The files of a skill, as bytes: what may be among them, and which version they are. Pure.

Whoever brings a skill (a folder, a repository, an archive) brings a `Bundle` and asks `Packing` about every path and size before it keeps
a byte. So what a path may be is said once: plain relative names, no two that a file system could take for one, no links, within limits. A
version is a hash over paths, whether a file may be run, and contents; dates and owners do not count.
"""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.invisible import visible

MOST_FILES = 500
MOST_BYTES = 32 << 20
MOST_FILE_BYTES = 16 << 20
LONGEST_PATH, LONGEST_NAME, DEEPEST = 240, 120, 12
_LEFT_OUT = frozenset({".git", "__pycache__", ".DS_Store", "__MACOSX"})
"""What version control, Python and other systems leave in directories: no part of a skill."""


@dataclass(frozen=True, slots=True)
class File:
    data: bytes
    is_executable: bool = False


Bundle = Mapping[str, File]
"""By path, parts joined by `/`."""


def version_of(bundle: Bundle) -> str:
    digest = hashlib.sha256()
    for path, file in sorted(bundle.items()):
        name = path.encode("utf-8")
        digest.update(b"%d:%b:%d:%d:" % (len(name), name, file.is_executable, len(file.data)))
        digest.update(file.data)
    return digest.hexdigest()


def is_left_out(path: str) -> bool:
    return not _LEFT_OUT.isdisjoint(path.split("/")) or path.endswith(".pyc")


@dataclass(slots=True)
class Packing:
    """A bundle that is being made. `admit` comes before the first byte of a file is read, `add` after the last."""

    whence: str
    """For messages."""
    files: dict[str, File] = field(default_factory=dict)
    _folded: dict[str, str] = field(default_factory=dict)
    _bytes: int = 0

    def admit(self, path: str, size: int) -> None:
        """Raises BadInput, TooLarge."""
        if fault := _fault_of(path):
            raise BadInput(f"{self.whence} holds {shown(path)}: {fault}. Nothing was installed")
        self._require_apart(path)
        if len(self.files) >= MOST_FILES:
            raise TooLarge(f"{self.whence} holds more than {MOST_FILES} files; a skill is smaller. Nothing was installed")
        if size > MOST_FILE_BYTES or self._bytes + size > MOST_BYTES:
            most = f"{MOST_BYTES >> 20} MB in all, {MOST_FILE_BYTES >> 20} MB a file"
            raise TooLarge(f"{self.whence}: with {shown(path)} of {size:,} bytes it is larger than a skill may be ({most})")

    def add(self, path: str, file: File) -> None:
        self.admit(path, len(file.data))
        self.files[path] = file
        self._bytes += len(file.data)
        for part in _lines_of(path):
            self._folded.setdefault(_folded(part), part)

    def _require_apart(self, path: str) -> None:
        """On some disks `Read.me` and `read.me` are one file: the second would replace the first after somebody looked at it."""
        for part in _lines_of(path):
            taken = self._folded.get(_folded(part), part)
            if taken != part or (part == path and part in self.files):
                raise BadInput(f"{self.whence} holds both {shown(taken)} and {shown(part)}, which some disks take for one; rename one")
            if (part != path and part in self.files) or (part == path and _folded(part) in self._folded and part not in self.files):
                raise BadInput(f"{self.whence} holds {shown(part)} as a file and as a directory; rename one")


def shown(path: str) -> str:
    """For messages: a stranger chose it."""
    text = path if len(path) <= LONGEST_PATH else f"{path[:80]}…"
    return ascii(text)


def _lines_of(path: str) -> list[str]:
    """The path, and each directory above it."""
    parts = path.split("/")
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold()


def _fault_of(path: str) -> str:
    parts = path.split("/")
    if "\0" in path or "\\" in path or visible(path) != (path, 0) or not path.isprintable():
        return "a name with signs that nobody sees, or a backslash; rename it"
    if path.startswith("/") or (len(path) > 1 and path[1] == ":"):
        return "a path from the root of a disk; it must be relative to the skill"
    if any(part in ("", ".", "..") for part in parts):
        return "a path that leads out of the skill, or nowhere; write it plainly"
    if len(path.encode("utf-8", "replace")) > LONGEST_PATH or any(len(part.encode("utf-8", "replace")) > LONGEST_NAME for part in parts):
        return f"a name of more than {LONGEST_NAME} bytes, or a path of more than {LONGEST_PATH}; shorten it"
    if len(parts) > DEEPEST:
        return f"a path of more than {DEEPEST} parts; make it shorter"
    return "" if path.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in path) else "a name that is no UTF-8; rename it"
