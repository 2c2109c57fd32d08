"""What was typed before, for the arrow keys.

The file holds one entry after the other as they would be typed: a backslash at the end of a line says that the entry goes on in the next.
Each is added when it is entered, so that it survives a closed terminal, and two chats at once do not overwrite each other. It is the
owner's alone (0600). Where it cannot be read or written there is no history, and no complaint.
"""

import os
import readline
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

LONGEST = 2_000
"""Entries that are kept from one chat to the next."""


class History:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = ""

    def load(self) -> None:
        readline.set_auto_history(False)
        with suppress(OSError):
            entries = list(_entries(self._path.read_text("utf-8", "replace").splitlines()))
            for entry in entries[-LONGEST:]:
                readline.add_history(entry)
                self._last = entry
            if len(entries) > LONGEST:
                self._shorten(entries[-LONGEST:])

    def add(self, entry: str) -> None:
        if entry == self._last:
            return
        self._last = entry
        readline.add_history(entry)
        with suppress(OSError):
            _write(self._path, os.O_APPEND, [entry])

    def _shorten(self, entries: list[str]) -> None:
        beside = self._path.with_name(f"{self._path.name}.new")
        _write(beside, os.O_TRUNC, entries)
        beside.replace(self._path)


def _write(path: Path, how: int, entries: Iterable[str]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        os.write(descriptor, "".join(map(_as_typed, entries)).encode())
    finally:
        os.close(descriptor)


def _as_typed(entry: str) -> str:
    text = entry.replace("\n", "\\\n")
    return f"{text} \n" if text.endswith("\\") else f"{text}\n"


def _entries(lines: Iterable[str]) -> Iterator[str]:
    begun: list[str] = []
    for line in lines:
        if line.endswith("\\"):
            begun.append(line[:-1])
        else:
            yield "\n".join([*begun, line])
            begun = []
