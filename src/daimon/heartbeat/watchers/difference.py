"""What is new in a text, short enough to be read: lines that came and lines that went. Pure."""

import difflib
from hashlib import sha256

MOST_KEPT = 20_000
"""Characters of a text that are kept for the next look."""
MOST_TOLD = 4_000
_MOST_LINES = 1_000
_LONGEST_LINE = 500


def mark(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def difference(old: str, new: str) -> str:
    """As `+` and `-` lines with one line around them. Of what was not kept only that it changed can be said."""
    lines = list(difflib.unified_diff(_lines(old), _lines(new), lineterm="", n=1))[2:]
    told = "\n".join(lines)
    if not told:
        return "it changed behind what is kept of it"
    return told if len(told) <= MOST_TOLD else f"{told[:MOST_TOLD]}\n… the change is longer …"


def _lines(text: str) -> list[str]:
    return [line[:_LONGEST_LINE] for line in text[:MOST_KEPT].splitlines()[:_MOST_LINES]]
