"""A policy file, cut into its policies, each with the line where it begins.

The engine says what is wrong, but not where; so each policy is read on its own. The cut is not trusted: a piece must be exactly one
policy to the engine, else the file is refused.

The engine follows nesting with its own stack, and one that overflows ends the whole process: nobody could catch it. So how deep a policy
goes is looked at before the engine sees it (`tangled`): by its brackets, and by how many operators it joins, which nest as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|;', re.DOTALL)
_NESTING = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|[(\[{]|[)\]}]|&&|\|\||[=!<>]=|[-+*.!<>]|\b(?:if|in|is|has|like)\b', re.DOTALL)
DEEPEST, MOST_JOINED = 40, 300


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


def tangled(text: str) -> str:
    """Why a policy is not given to the engine; empty: it is."""
    depth = deepest = joined = 0
    for found in _NESTING.finditer(text):
        match found[0][0]:
            case '"' | "/":
                pass
            case "(" | "[" | "{":
                depth += 1
                deepest = max(deepest, depth)
            case ")" | "]" | "}":
                depth -= 1
            case _:
                joined += 1
    if deepest > DEEPEST:
        return f"its brackets are {deepest} deep, at most {DEEPEST} are read"
    return (
        f"it joins {joined} parts with operators, at most {MOST_JOINED} are read; make several policies of it"
        if joined > MOST_JOINED
        else ""
    )


def _piece(text: str, start: int, end: int) -> Iterator[Piece]:
    """Nothing, where there is only space and comments."""
    begins = _begins(text, start, end)
    if begins < end:
        yield Piece(text[begins:end], text.count("\n", 0, begins) + 1)


def _begins(text: str, start: int, end: int) -> int:
    found = re.compile(r"(?:\s+|//[^\n]*)*").match(text, start, end)
    return start if found is None else found.end()
