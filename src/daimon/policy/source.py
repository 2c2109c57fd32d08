"""A policy file, cut into its policies, each with the line where it begins.

The engine says what is wrong, but not where; so each policy is read on its own. The cut is not trusted: a piece must be exactly one
policy to the engine, else the file is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|;', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    name: str
    """As an error calls it: the file's name."""
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    line: int


def pieces(text: str) -> Iterator[Piece]:
    start = 0
    for found in _TOKEN.finditer(text):
        if found[0] == ";":
            yield from _piece(text, start, found.end())
            start = found.end()
    yield from _piece(text, start, len(text))


def _piece(text: str, start: int, end: int) -> Iterator[Piece]:
    """Nothing, where there is only space and comments."""
    begins = _begins(text, start, end)
    if begins < end:
        yield Piece(text[begins:end], text.count("\n", 0, begins) + 1)


def _begins(text: str, start: int, end: int) -> int:
    found = re.compile(r"(?:\s+|//[^\n]*)*").match(text, start, end)
    return start if found is None else found.end()
