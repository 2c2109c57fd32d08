"""A text in the owner's own editor: $VISUAL, else $EDITOR. It lies in a file for the owner alone, and is gone when the editor has ended."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from daimon.abi.errors import BadInput


def edited(text: str, name: str) -> str:
    """Raises BadInput where there is no editor, it failed, or nothing was left."""
    line = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not (command := shlex.split(line)):
        raise BadInput("no editor is known; set EDITOR, such as EDITOR=nano")
    with tempfile.TemporaryDirectory(prefix="daimon-") as place:
        file = Path(place) / name
        file.write_text(text, encoding="utf-8")
        try:
            code = subprocess.run([*command, str(file)], check=False).returncode  # noqa: S603 - the owner's own choice
        except OSError as failure:
            raise BadInput(f"the editor {line!r} cannot be started: {failure.strerror}; set EDITOR to another") from None
        changed = file.read_text(encoding="utf-8", errors="replace")
    if code != 0:
        raise BadInput(f"the editor {line!r} ended with {code}; nothing was changed")
    if not changed.strip():
        raise BadInput("the text is empty now; nothing was changed")
    return changed
