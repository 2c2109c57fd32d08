"""Files of a workspace, as tools see them: what was read, what was written, what changed since.

Paths are relative to the top of the tree, parts joined by `/`; `/workspace/NAME/...`, as the box calls it, is taken too. Names that are no
text are carried as surrogates inside; `shown` and `meant` turn them into `\\xNN` for people and models, and back.

A `Files` belongs to one session of one agent: it remembers what that session has read, and in which version, so that it can say what
somebody else changed meanwhile and refuse to write over it. All of its methods raise ToolFailed.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, NewType, Protocol

from daimon.abi.tool import Call
from daimon.abi.workspace import Kind

Version = NewType("Version", str)
"""A short hash of the content. Of a file too large to be read whole: of its size, time and number, beginning with `~`."""

Unit = Literal["lines", "bytes"]
Trace = Literal["done", "not done", "unclear"]
"""Whether something happened, told from what is there now."""


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a file to read. Lines count from 1, bytes from 0."""

    offset: int = 1
    limit: int = 2_000
    unit: Unit = "lines"


ALL = Window()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Text of a file, or a part of it."""

    path: str
    version: Version
    text: str
    encoding: str
    size: int
    part: str = ""
    """Such as "lines 1–400 of 2,113"; empty: this is all."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    path: str
    version: Version
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """What is no text, or not to be shown."""

    path: str
    version: Version
    kind: str
    size: int
    hash: str = ""
    """SHA-256 in hex; empty: too large."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str
    all: bool = False
    """Wherever it is found; otherwise it must be found exactly once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    path: str
    what: Literal["added", "changed", "unchanged", "removed"]
    version: Version
    diff: str = ""
    """Unified, cut where it is long. Of a new file: empty, since whoever wrote it knows it."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    name: str
    kind: Kind
    size: int = 0
    target: str = ""
    """Of a link: where it points."""


@dataclass(frozen=True, slots=True)
class Listing:
    path: str
    items: tuple[Item, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    paths: tuple[str, ...]
    left_out: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    pattern: str
    path: str = "."
    glob: str = ""
    """Which files; without a `/` it is about names at any depth. Empty: all."""
    is_literal: bool = False
    ignores_case: bool = False
    context: int = 0
    """Lines before and after."""
    most: int = 100


@dataclass(frozen=True, slots=True)
class Hit:
    path: str
    line: int
    """Where `text` begins: with context, that is before the line that was found."""
    text: str
    found_at: int
    """The line that was found."""


@dataclass(frozen=True, slots=True)
class Hits:
    hits: tuple[Hit, ...]
    engine: Literal["ripgrep", "python"]
    has_more: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    source: str
    target: str
    was_copied: bool = False


@dataclass(frozen=True, slots=True)
class Deleted:
    path: str
    count: int


@dataclass(frozen=True, slots=True)
class Handle:
    """A file that the session has read or written, and the version that it knows."""

    path: str
    version: Version


@dataclass(frozen=True, slots=True)
class Glance:
    """What a person sees of a file, beside what would become of it."""

    state: Literal["there", "missing", "unreadable"]
    """`unreadable`: it is no text, there is too much of it, or the agent's role may not read it."""
    text: str = ""


class Files(Protocol):
    async def read(self, path: str, window: Window = ALL) -> Page | Picture | Binary: ...

    async def write(self, path: str, content: str, expects: str = "", *, overwrite: bool = False) -> Written:
        """The whole file, in one step. `expects` is the version that it must be at. `overwrite`: even if somebody else changed it since
        this session read it."""
        ...

    async def edit(self, path: str, replacements: Sequence[Replacement]) -> Written:
        """All of them in their order, or none."""
        ...

    async def patch(self, patch: str) -> tuple[Written, ...]:
        """A unified diff of one or several files: all of it, or nothing."""
        ...

    async def list(self, path: str = ".") -> Listing: ...

    async def find(self, pattern: str, path: str = ".") -> Found: ...

    async def search(self, query: Query) -> Hits: ...

    async def move(self, source: str, target: str, *, overwrite: bool = False) -> Moved: ...

    async def delete(self, path: str, *, recursive: bool = False) -> Deleted: ...

    async def make_directory(self, path: str) -> None:
        """With those above it; one that is there already is fine."""
        ...

    async def exists(self, path: str) -> bool: ...

    async def was_edited(self, path: str, replacements: Sequence[Replacement]) -> Trace: ...

    async def was_patched(self, patch: str) -> Trace: ...

    def open_files(self) -> tuple[Handle, ...]: ...

    def changed(self) -> tuple[str, ...]:
        """Files that somebody else changed since this session knew them; each change is told once."""
        ...


class FilesOf(Protocol):
    def files(self, call: Call) -> AbstractAsyncContextManager[Files]:
        """The files of the agent's session that a call belongs to. Raises ToolFailed where there is no workspace."""
        ...


_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")


def shown(path: str) -> str:
    """A path as text that can be stored and sent: bytes that are no UTF-8 become `\\xNN`."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def meant(path: str) -> str:
    """What somebody means who was shown this."""
    return _BYTE.sub(lambda found: chr(0xDC00 + int(found[1], 16)), path) if "\\x" in path else path
