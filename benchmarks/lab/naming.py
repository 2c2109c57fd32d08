"""Other names for the same things: tools, arguments and fields of results, as Daimon sees them.

`Plain` leaves every name as it is. `Scrambled` is a bijection onto meaningless identifiers: if a verdict changes under it, some rule has
looked at a name. Data is never renamed. A key of a result is a field's name if it is written like one; "Le Marais Boutique" is not.
"""

import random
import re
from typing import Protocol

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
    """Arguments and fields share their names, as they do in the original: `recipient` of a call is `recipient` of a record."""

    is_plain = False

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._known: dict[str, str] = {}
        self._taken: set[str] = set()

    def tool(self, name: str) -> str:
        return self._renamed("tool " + name)

    def argument(self, name: str) -> str:
        return self._renamed(name)

    def field(self, name: str) -> str:
        return self._renamed(name) if _FIELD.fullmatch(name) else name

    def _renamed(self, name: str) -> str:
        if name not in self._known:
            while (new := "".join(self._random.choices("bcdfghjklmnpqrstvwxz", k=8))) in self._taken:
                pass
            self._taken.add(new)
            self._known[name] = new
        return self._known[name]


def naming(seed: int | None) -> Naming:
    return Plain() if seed is None else Scrambled(seed)
