"""How much text the parser is given.

The parser takes a time that grows with the square of the signs in a text that is no shell, and its stack with the nesting: enough of them
would hold up whoever waits, or end the process that reads. So a text with too many is not parsed. Where long here-documents are what
makes it long, as when a file is written, they are left out, unless a shell might read them: what they hold is then unknown.
"""

import re
from collections.abc import Iterator

from daimon.policy.shell.words import UNKNOWN

LONGEST, MOST_SIGNS = 100_000, 4_000
_SIGNS = re.compile(r"[|&;()<>$`{}\[\]\"'\\=!]")
_DOCUMENT = re.compile(r"<<-?[ \t]{0,9}(['\"\\]?)(\w{1,99})")
LONGEST_LINE = 1_000
_SHELL = re.compile(r"\b(?:eval|source|xargs|ssh|(?:ba|da|z|k|a|c|fi)?sh)\b")


def is_short(text: str) -> bool:
    return len(text) <= LONGEST and sum(1 for _ in _SIGNS.finditer(text)) <= MOST_SIGNS


def shortened(text: str) -> str | None:
    """The text as the parser may have it; None: it may not."""
    if is_short(text):
        return text
    shorter = "\n".join(_without_documents(text.split("\n")))
    return shorter if is_short(shorter) else None


def _without_documents(lines: list[str]) -> Iterator[str]:
    """One pass: a document whose end is missing is looked for once."""
    left, missing = iter(range(len(lines))), set[str]()
    for place in left:
        yield lines[place]
        found = _DOCUMENT.search(lines[place][:LONGEST_LINE])
        if found is None or found[2] in missing or _SHELL.search(lines[place][:LONGEST_LINE]):
            continue
        end = next((at for at in range(place + 1, len(lines)) if lines[at].strip("\t") == found[2]), None)
        if end is None:
            missing.add(found[2])
        elif found[1] or not any(sign in line for line in lines[place + 1 : end] for sign in "$`"):
            yield UNKNOWN
            for _ in range(place + 1, end):
                next(left)
