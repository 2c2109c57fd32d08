"""What a backup says of itself. It stands in the archive twice: the head as its first member, everything as its last.

    daimon-backup.json   the head: format, who made it and when, what the journal held
    home/…               the files, as they are called in the home
    manifest.json        the head again, each file with its size and hash, and what was left out

The last member is written when all else is there, so an archive without it was cut off. Names are written as in an address (%20), because
a name may be any bytes and JSON may not. A format that is not known is refused, whoever wrote it.
"""

import os
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

from pydantic import ValidationError

from daimon.abi.codec import adapter, encode
from daimon.abi.errors import BadInput

FORMAT = 1
HEAD, TOP, LAST = "daimon-backup.json", "home", "manifest.json"
MOST_HEAD = 1 << 20
MOST_LAST = 512 << 20
Kind = Literal["file", "directory", "link", "whiteout"]
REBUILDABLE = ("memory.db",)
"""Nothing in these is the only copy: without them a start takes longer, and that is all."""


@dataclass(frozen=True, slots=True)
class Journal:
    """What it held at the moment of the copy."""

    position: int
    events: int
    turns: int
    steps: int
    erasures: int
    open_turns: int
    """Those that a start will go on with."""
    waiting: int
    """Messages that were not sent yet."""


@dataclass(frozen=True, slots=True)
class Head:
    format: int
    version: str
    """Of Daimon."""
    made_at: datetime
    home: str
    has_workspaces: bool
    state: str
    """Equal in two backups: nothing happened between them."""
    journal: Journal | None
    """None: there was none yet."""


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    """Below the home; empty: the home itself."""
    kind: Kind
    size: int = 0
    hash: str = ""
    """Of what is in a file, or of where a link points."""


@dataclass(frozen=True, slots=True)
class Manifest:
    head: Head
    entries: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()
    """Sentences: what is not in it, and why."""
    rebuildable: tuple[str, ...] = REBUILDABLE

    @property
    def bytes(self) -> int:
        return sum(entry.size for entry in self.entries)


def written(kind: type[Head] | type[Manifest], value: Head | Manifest) -> bytes:
    return encode(kind, value)


def head_of(data: bytes) -> Head:
    """Raises BadInput."""
    _require_known(data)
    try:
        found: Head = adapter(Head).validate_json(data)
    except ValidationError as bad:
        raise BadInput(f"its head cannot be read: {bad.errors(include_url=False)[0]['msg']}") from None
    return found


def manifest_of(data: bytes) -> Manifest:
    """Raises BadInput."""
    try:
        found: Manifest = adapter(Manifest).validate_json(data)
    except ValidationError as bad:
        raise BadInput(f"its list of files cannot be read: {bad.errors(include_url=False)[0]['msg']}") from None
    return found


def _require_known(data: bytes) -> None:
    """Before anything else is looked at: another format may have other fields."""
    try:
        told = adapter(dict[str, object]).validate_json(data)
    except ValidationError:
        raise BadInput("its head is not JSON") from None
    number = told.get("format")
    if number == FORMAT:
        return
    if isinstance(number, int) and number > FORMAT:
        raise BadInput(
            f"it has format {number}, this release knows up to {FORMAT}: Daimon {told.get('version')} wrote it. Update, then restore"
        )
    raise BadInput(f"it has format {number!r:.40}, which no release of Daimon wrote")


def quoted(path: str) -> str:
    return quote(os.fsencode(path))


def unquoted(path: str) -> str:
    return os.fsdecode(unquote_to_bytes(path))
