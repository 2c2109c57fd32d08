"""Paths that would run by themselves on the owner's machine, or tell one of his programs what to run.

The same as what is pinned for a box (`sandbox/pins.py`): at the top of the workspace those, and of each repository of git further down its
hooks, its settings, and where it points; a bare one is known by its parts. They are not applied unless the owner says so.
"""

from daimon.sandbox.pins import PINS
from daimon.sandbox.repositories import BARE, GIT, GIT_PINS
from daimon.sandbox.workspace.stack import View

_TOP = frozenset(pin for pin in PINS if not pin.endswith("/"))
_INNER = frozenset(pin.partition("/")[2] for pin in GIT_PINS if not pin.endswith("/"))


def is_program(path: str, view: View) -> bool:
    """In a tree as this view shows it. Case does not count: on some disks it makes no difference."""
    exact, parts = path.split("/"), path.lower().split("/")
    if any("/".join(parts[:number]) in _TOP for number in range(1, len(parts) + 1)):
        return True
    for number, name in enumerate(parts):
        way = "/".join(exact[:number])
        if name == GIT and not view.is_directory("/".join(exact[: number + 1])):
            return True  # a file or link of that name points to settings elsewhere
        if name in _INNER and (parts[number - 1] == GIT if number else False):
            return True
        if name in _INNER and view.is_directory(way) and set(view.names(way)) >= BARE:
            return True
    return False
