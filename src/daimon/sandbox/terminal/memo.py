"""What shells know now, by workspace, in one small file: `{workspace: states}`.

A checkpoint holds what shells knew *before* a call. Should Daimon die after it, the call's outcome is on record, so what it left in its
shell must be there too. Whoever goes to another checkpoint writes down what was known there. A workspace that is not in the file, or a file
that cannot be read, says nothing; then the checkpoint's own counts.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue

FILE = "shells.json"


class Memo:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._all: dict[str, JsonValue] = {}
        with suppress(OSError, ValueError):
            found = json.loads(path.read_bytes())
            self._all = found if isinstance(found, dict) else {}

    def read(self, workspace: str) -> JsonValue:
        """None: nothing is known."""
        return self._all.get(workspace)

    def write(self, workspace: str, states: JsonValue) -> None:
        """On disk when it returns. Raises OSError."""
        if self._all.get(workspace) == states:
            return
        self._all[workspace] = states
        draft = self._path.with_name(f"{self._path.name}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w", encoding="utf-8") as file:
            json.dump(self._all, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
