"""keys.toml, where keys of model providers were before there was a vault: read once, so that they can move in.

    keys.toml     [keys]
                  anthropic = "sk-ant-…"

Whatever is wrong with it is said without a word of what stands in it.
"""

import tomllib
from pathlib import Path
from typing import Any

from daimon.abi.errors import Misconfigured
from daimon.vault import private

_MOST_BYTES = 1024 * 1024


def read(path: Path) -> dict[str, str]:
    """Raises FileNotFoundError, and Misconfigured."""
    data, _ = private.read(path, _MOST_BYTES, "a file of keys")
    try:
        tree: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
    except tomllib.TOMLDecodeError as bad:
        raise Misconfigured(f"{path} is not valid TOML: {_place(bad)}") from None
    except (UnicodeDecodeError, RecursionError):
        raise Misconfigured(f"{path} is not valid TOML") from None
    keys = tree.get("keys", {})
    if tree.keys() - {"keys"} or not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        raise Misconfigured(f'{path} must hold one table [keys] with lines such as anthropic = "…"')
    return keys


def _place(bad: tomllib.TOMLDecodeError) -> str:
    """Where it broke, without the words that stand there."""
    where = str(bad).rpartition("(at ")[2].rstrip(")")
    return f"it breaks at {where}" if where else "it cannot be parsed"
