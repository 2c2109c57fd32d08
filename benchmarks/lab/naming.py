"""Other names for the same things: tools, arguments and fields of results, as Daimon sees them.

`Plain` leaves every name as it is. `Scrambled` is a bijection onto meaningless identifiers: if a verdict changes under it, some rule has
looked at a name. Data is never renamed. A key of a result is a field's name if it is written like one; "Le Marais Boutique" is not.
"""

import hashlib
import re
from typing import Protocol

_LETTERS = "bcdfghjklmnpqrstvwxz"
_FIELD = re.compile(r"[a-z][a-z0-9_]*")


class Naming(Protocol):
    @property
    def is_plain(self) -> bool: ...
    def tool(self, name: str) -> str: ...
    def argument(self, name: str) -> str: ...
    def field(self, name: str) -> str: ...


class Plain:
    is_plain = True

    def tool(self, name: str) -> str:
        return name

    def argument(self, name: str) -> str:
        return name

    def field(self, name: str) -> str:
        return name


class Scrambled:
    """Arguments and fields share their names, as they do in the original: `recipient` of a call is `recipient` of a record.

    A new name depends on the seed and the old name alone, so that all who need it come to the same one."""

    is_plain = False

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def tool(self, name: str) -> str:
        return self._renamed("tool " + name)

    def argument(self, name: str) -> str:
        return self._renamed(name)

    def field(self, name: str) -> str:
        return self._renamed(name) if _FIELD.fullmatch(name) else name

    def _renamed(self, name: str) -> str:
        digest = hashlib.sha256(f"{self._seed} {name}".encode()).digest()
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:12])


def naming(seed: int | None) -> Naming:
    return Plain() if seed is None else Scrambled(seed)
