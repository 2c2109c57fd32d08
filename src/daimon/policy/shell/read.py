"""The way in: a command, as text or as words, and the reason why it never runs.

Reading is bounded: by characters, by nesting, by steps. What cannot be read within that is refused only if it could hide something
(`unread.py`). A gateway does not call this itself: it runs in a process of its own (`machine/child.py`), because the parser may crash.
"""

from collections.abc import Callable, Sequence

from daimon.abi.text import clean
from daimon.policy.shell.scene import Never, Scene, TooDeep
from daimon.policy.shell.walk import Walker
from daimon.policy.shell.words import UNKNOWN, readable
from daimon.policy.unread import unread

Pattern = tuple[str, ...]


def read(command: str | Sequence[str], never: Sequence[Pattern]) -> str:
    """Why this command, a line or its words, may not run; empty if it may."""
    return read_text(command, never) if isinstance(command, str) else read_words(command, never)


def read_text(text: str, never: Sequence[Pattern]) -> str:
    """Why this command line may not run; empty if it may."""
    return _caught(lambda: Walker(never).script(readable(clean(text)), UNKNOWN, Scene()), text)


def read_words(words: Sequence[str], never: Sequence[Pattern]) -> str:
    """The same for a command that is given as words and that no shell cuts."""
    given = [readable(clean(word)) for word in words]
    return _caught(lambda: Walker(never).words(given, Scene()), " ".join(given)) if given and given[0] else ""


def _caught(read: Callable[[], object], text: str) -> str:
    try:
        read()
    except Never as never:
        return clean(str(never))
    except (TooDeep, RecursionError):
        return unread(text)
    return ""
