"""Paths as words: their parts, and which of them a role grants. Nothing here looks at files.

A granted directory grants everything below. Patterns of a role are relative, their parts may hold `*`; absolute ones are not about the
workspace. What is asked about is a path without links, so that a link grants nothing that it leads to.
"""

import re
from collections.abc import Iterable
from fnmatch import translate

from daimon.abi.box import Role
from daimon.abi.errors import ToolFailed
from daimon.abi.files import meant
from daimon.sandbox.files.failures import named
from daimon.sandbox.spec import WORKSPACES

MOST_BYTES, MOST_OF_NAME = 4_096, 255
_ALL = (".", "*", "**")


def parts(path: str, name: str) -> list[str]:
    """Of a path that somebody named, `..` among them. `name` is that of the tree."""
    if "\0" in path:
        raise ToolFailed("bad_path", "a path cannot hold a NUL character")
    path = meant(path)
    try:
        size = len(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise ToolFailed("bad_path", f"{path.encode('utf-8', 'backslashreplace').decode()[:80]} holds half a character") from None
    if size > MOST_BYTES:
        raise ToolFailed("bad_path", f"a path of {size:,} bytes is longer than {MOST_BYTES:,}")
    if path.startswith("/"):
        path = below(path, name)
    return [part for part in path.split("/") if part not in ("", ".")]


def below(path: str, name: str) -> str:
    """What an absolute path means in the tree, as the box calls it."""
    top = f"{WORKSPACES}/{name}"
    if path == top or path.startswith(f"{top}/"):
        return path[len(top) + 1 :]
    raise ToolFailed("outside", f"{named(path)} is outside of the workspace; paths are relative to its top, or begin with {named(top)}")


class Granted:
    """What a role may read and write."""

    def __init__(self, role: Role) -> None:
        self.role = role.name
        self._write = _Patterns(role.write)
        self._read = _Patterns((*role.read, *role.write))
        self.reads_all = self._read.is_all

    def may_read(self, path: str) -> bool:
        return self._read.cover(path)

    def may_write(self, path: str) -> bool:
        return self._write.cover(path)

    def refusal(self, path: str, doing: str) -> ToolFailed:
        return ToolFailed("not_allowed", f"the role {self.role} may not {doing} {named(path)}; the owner can grant it in the role's paths")


class _Patterns:
    def __init__(self, patterns: Iterable[str]) -> None:
        wanted = [pattern for pattern in patterns if not pattern.startswith(("/", "~"))]
        self.is_all = any(pattern in _ALL for pattern in wanted)
        self._compiled = [[re.compile(translate(part)) for part in _of(pattern)] for pattern in wanted]

    def cover(self, path: str) -> bool:
        if self.is_all:
            return True
        having = _of(path)
        return any(
            len(having) >= len(wanted) and all(one.match(part) for one, part in zip(wanted, having, strict=False))
            for wanted in self._compiled
        )


def _of(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
