"""What an extension may add: the whole API for builders.

An extension is a Python module on the import path, named in `extensions` of daimon.toml, with one function:

    def extend(kit: Kit) -> None:
        kit.tools.append(my_tool)
        kit.models["mine"] = my_model
        kit.channels.append(my_channel)

It runs inside Daimon with all of its rights: install only what you trust.
"""

import importlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from daimon.abi.channel import Channel
from daimon.abi.errors import Misconfigured
from daimon.abi.model import Model
from daimon.abi.tool import Tool


@dataclass(frozen=True, slots=True)
class Kit:
    tools: list[Tool] = field(default_factory=list)
    models: dict[str, Model] = field(default_factory=dict)
    channels: list[Channel] = field(default_factory=list)


def load(names: Iterable[str]) -> Kit:
    kit = Kit()
    for name in names:
        try:
            module = importlib.import_module(name)
        except Exception as error:
            said = f"{_said(error)}{_hint(name, error)}"
            raise Misconfigured(f"the extension {name!r} (extensions in daimon.toml) cannot be imported: {said}") from error
        extend = getattr(module, "extend", None)
        if not callable(extend):
            raise Misconfigured(f"the extension {name!r} has no function `extend(kit)`")
        try:
            extend(kit)
        except Misconfigured:
            raise
        except Exception as error:
            raise Misconfigured(f"the extension {name!r} failed in `extend(kit)`: {_said(error)}") from error
    return kit


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"


def _hint(name: str, error: Exception) -> str:
    is_missing = isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]
    return "; PYTHONPATH must name the directory that holds it, for this command too" if is_missing else ""
