"""The way in: a command, as text or as words, and the reason why it never runs.

Reading is bounded: by characters, by nesting, by steps. What cannot be read within that is refused only if it could hide something, that
is, if it holds a shell, an interpreter, `eval` or a substitution; a long list of harmless commands passes.
"""

import re
from collections.abc import Callable, Sequence

from daimon.abi.plain import clean
from daimon.policy.shell.scene import Never, Scene, TooDeep
from daimon.policy.shell.walk import Walker
from daimon.policy.shell.words import UNKNOWN, readable

UNREADABLE = (
    "the command is too long or too deeply nested to be read, so nobody can say what it would run; "
    "put it into a file, or into smaller steps"
)
_HIDING = re.compile(r"\b(?:eval|source|xargs|(?:ba|da|z|k|a|c|fi)?sh|python[\d.]*|perl|ruby|node|php)\b|\$\(|`|<\(")

Pattern = tuple[str, ...]


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
        return UNREADABLE if _HIDING.search(text) else ""
    return ""
