"""The key file: what providers want to see before they answer.

    keys.toml     [keys]
                  anthropic = "sk-ant-…"

Keys stand apart from the settings, so that daimon.toml can be shown, copied and kept in git. The file is for its owner alone: one
that others could read is refused, since the keys in it may be known already, and only the owner can say whether they are. A key is
never part of an error, not even a broken one. A name such as `env:ANTHROPIC_API_KEY` points at a variable of the environment
instead, and such a key is not written anywhere.
"""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from daimon.abi.errors import BadInput, Misconfigured
from daimon.machine import files

FROM_ENVIRONMENT = "env:"
HEAD = "# Keys of model providers, written by `daimon model add`. For your eyes only: keep it out of git.\n"
LONGEST = 8_192


class Keys:
    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> tuple[str, ...]:
        return tuple(self._read())

    def get(self, name: str) -> str | None:
        return self._read().get(name)

    def resolve(self, name: str, environment: Mapping[str, str]) -> str | None:
        """The key of this name, be it in the file or, with `env:`, in the environment. None: there is none."""
        if name.startswith(FROM_ENVIRONMENT):
            return environment.get(name.removeprefix(FROM_ENVIRONMENT), "").strip() or None
        return self.get(name)

    def put(self, name: str, key: str) -> None:
        self._change(name, usable(key))

    def remove(self, name: str) -> None:
        """A key that is not there is removed already."""
        if name in self._read():
            self._change(name, None)

    def _read(self) -> dict[str, str]:
        try:
            with self.path.open("rb") as file:
                self._check_mode(os.fstat(file.fileno()))
                data = file.read()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise Misconfigured(f"the keys in {self.path} cannot be read: {error.strerror}") from None
        return self._keys(data)

    def _check_mode(self, found: os.stat_result) -> None:
        mode = stat.S_IMODE(found.st_mode)
        if found.st_uid not in (os.geteuid(), 0):
            raise Misconfigured(f"{self.path} belongs to another user; it must be yours, since it holds keys")
        if mode & 0o077:
            raise Misconfigured(
                f"{self.path} holds keys and others may read it (mode {mode:04o}); close it with `chmod 600 {self.path}`, "
                "and if others use this machine, make new keys at your providers"
            )

    def _keys(self, data: bytes) -> dict[str, str]:
        try:
            tree: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        except tomllib.TOMLDecodeError as bad:
            raise Misconfigured(f"{self.path} is not valid TOML: {_place(bad)}") from None
        except (UnicodeDecodeError, RecursionError):
            raise Misconfigured(f"{self.path} is not valid TOML") from None
        keys = tree.get("keys", {})
        if tree.keys() - {"keys"} or not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
            raise Misconfigured(f'{self.path} must hold one table [keys] with lines such as anthropic = "…"')
        return keys

    def _change(self, name: str, key: str | None) -> None:
        """In its place, so that the owner's comments stay."""
        import tomlkit  # only who writes needs it

        self._read()  # what is not as it must be is refused
        document = tomlkit.parse(self.path.read_text(encoding="utf-8") if self.path.exists() else f"{HEAD}[keys]\n")
        keys = document.setdefault("keys", {})
        if key is None:
            del keys[name]
        else:
            keys[name] = key
        try:
            files.replace(self.path, tomlkit.dumps(document).encode(), 0o600)
        except OSError as error:
            raise Misconfigured(f"the keys in {self.path} cannot be written: {error.strerror}") from None


def usable(key: str) -> str:
    """The key without the blanks that copying brings. Raises BadInput for what cannot be one."""
    bare = key.strip()
    if not bare:
        raise BadInput("the key is empty")
    if len(bare) > LONGEST or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise BadInput("that is no key: it holds a blank, a line break or a character that no provider uses; copy it once more")
    return bare


def _place(bad: tomllib.TOMLDecodeError) -> str:
    """Where it broke, without the words that stand there."""
    where = str(bad).rpartition("(at ")[2].rstrip(")")
    return f"it breaks at {where}" if where else "it cannot be parsed"
