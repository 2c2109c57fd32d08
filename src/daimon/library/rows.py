"""The index of the library: one JSON file that says which version of which skill counts, and what the owner said of it.

    {"format": 1, "skills": [{"name": "read-feeds", "version": "9f2c…", "source": "/home/me/read-feeds", …}]}

It is replaced as a whole and forced to disk: what it does not name is not installed, whatever lies beside it.
"""

from dataclasses import dataclass
from pathlib import Path

from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalDamaged, Misconfigured
from daimon.abi.plain import Moment
from daimon.abi.skill import Requires
from daimon.machine import files

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    version: str
    source: str
    revision: str = ""
    at: Moment
    approved: Requires | None = None
    """What the owner said yes to, with this version. None: nothing yet."""
    is_vouched: bool = False
    is_disabled: bool = False
    is_leaving: bool = False
    """It is being removed."""


@dataclass(frozen=True, slots=True)
class _Index:
    format: int
    skills: tuple[Row, ...]


def read(path: Path) -> dict[str, Row]:
    """Raises Misconfigured."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as failure:
        raise Misconfigured(f"{path} cannot be read: {failure.strerror}") from None
    try:
        found = decode(_Index, data)
    except JournalDamaged as broken:
        raise Misconfigured(f"{path} cannot be read: {broken}; put it back from a backup, or move it away and install again") from None
    if found.format > FORMAT:
        raise Misconfigured(f"{path} has format {found.format}, and this Daimon knows {FORMAT}; use a newer one")
    return {row.name: row for row in found.skills}


def write(path: Path, rows: dict[str, Row]) -> None:
    """Raises OSError, and then nothing has changed."""
    files.replace(path, encode(_Index, _Index(FORMAT, tuple(row for _, row in sorted(rows.items())))), 0o600)
