"""What a server says, as it may be shown to a person: without signs that nobody sees, on one line, and not longer than need be. Pure."""

from daimon.abi.invisible import visible
from daimon.abi.plain import clean


def shown(text: str, most: int) -> str:
    """On one line."""
    words = " ".join(visible(clean(text))[0].split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def kept(text: str, most: int) -> str:
    """With its lines."""
    seen, _ = visible(clean(text))
    return seen if len(seen) <= most else f"{seen[: most - 1]}…"
