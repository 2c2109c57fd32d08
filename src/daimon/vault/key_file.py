"""The key in a file beside the vault, mode 0600: what there is when nothing else was set up.

It keeps the secrets out of a copy of the vault alone, and out of whatever reads files by name; not out of the hands of whoever can read
both files.
"""

import base64
import secrets
from collections.abc import Callable
from pathlib import Path

from daimon.abi.errors import Misconfigured
from daimon.vault import private
from daimon.vault.seal import KEY_BYTES

Replace = Callable[[Path, bytes, int], None]
"""Puts data at a path with a mode, as a whole, and forces it to disk. Raises OSError, and then nothing has changed."""
_MOST_BYTES = 1_024
_WHAT = "the key of the vault"


class KeyFile:
    name = "file"
    work = 0

    def __init__(self, path: Path, replace: Replace) -> None:
        self._path = path
        self._replace = replace

    def material(self, place: str) -> bytes:
        try:
            text, _ = private.read(self._path, _MOST_BYTES, _WHAT)
        except FileNotFoundError:
            raise Misconfigured(f"{self._path}, {_WHAT}, is missing; put it back from a backup: nothing else opens the vault") from None
        try:
            key = base64.b64decode(text.strip(), validate=True)
        except ValueError:
            key = b""
        if len(key) != KEY_BYTES:
            raise Misconfigured(f"{self._path} is not {_WHAT} any more; put it back from a backup")
        return key

    def prepare(self) -> str:
        """One that is there is used on."""
        if not self._path.exists():
            made = base64.b64encode(secrets.token_bytes(KEY_BYTES)) + b"\n"
            try:
                self._replace(self._path, made, 0o600)
            except OSError as error:
                raise Misconfigured(f"{self._path} cannot be written: {error.strerror}; nothing was sealed") from None
        return ""

    def drop(self, place: str) -> None:
        self._path.unlink(missing_ok=True)
