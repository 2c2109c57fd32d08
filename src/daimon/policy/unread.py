"""What becomes of a command that could not be read: too long, too deep, too slow, or the end of whoever read it.

It is refused only if it could hide something, that is, if it holds a shell, an interpreter, `eval` or a substitution; a long list of
harmless commands passes.
"""

import re

UNREADABLE = (
    "the command is too long or too deeply nested to be read, so nobody can say what it would run; "
    "put it into a file, or into smaller steps"
)
_HIDING = re.compile(r"\b(?:eval|source|xargs|(?:ba|da|z|k|a|c|fi)?sh|python[\d.]*|perl|ruby|node|php)\b|\$\(|`|<\(")


def unread(text: str) -> str:
    """Why it may not run; empty if it may."""
    return UNREADABLE if _HIDING.search(text) else ""
