"""A plot: one hostile skill or server, what it tries, and what would count as harm.

Each is played in a den of its own. What the plot itself finds wrong it returns; what is wrong whoever did it is looked for by `judge.py`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from lab.den import Den

Play = Callable[[Den, str], Awaitable[list[str]]]
"""With the mark that stands in all its words. Gives the harm that it saw."""


@dataclass(frozen=True, slots=True)
class Plot:
    name: str
    effect: str
    """What would be harm."""
    play: Play
    gone: str = ""
    """What is removed afterwards: `skill:NAME` or `mcp:NAME`. Empty: nothing of it was ever let in."""
    settings: str = ""
    """Of the home; `{evil}` and `{place}` are put in."""
    is_read: bool = False
    """Does it prove something only if the model had its words before it?"""
    reaches: tuple[str, ...] = field(default=())
    """What may come to `api.test`, since the owner granted it."""
    is_quick: bool = False
    """Is it one of the few that are played in a hurry?"""
