"""JSON as small models write it: with single quotes, Python's words and trailing commas, or without the last brackets.

Nothing is guessed: what is changed can be meant in one way only, and what still cannot be read is left alone. Brackets are closed
only where something else says that the text is whole: half of a call may be another call. All of it takes time in proportion to
the text, since it is done on the event loop.
"""

import json
import re

from pydantic import JsonValue

MOST_REPAIRED = 64 * 1024
"""Characters. What is longer is read as it is, or not at all."""
_DOUBLE, _SINGLE = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', r"'(?:[^'\\]|\\.)*+(?:'|\\?\Z)"
"""A string, also one without an end: else a search for it would begin again at each of its quotes."""
_ODD = re.compile(rf"(?P<double>{_DOUBLE})|(?P<single>{_SINGLE})|(?P<word>\b(?:True|False|None)\b)|,(?=\s*+[}}\]])", re.DOTALL)
_MARK = re.compile(rf"{_DOUBLE}|[{{}}\[\]]", re.DOTALL)
_IN_SINGLE = re.compile(r'\\.|"', re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_CLOSING = {"{": "}", "[": "]"}
_BEGINNINGS = ("{", "[", '"', "'")


class Unreadable(ValueError):
    pass


def loads(text: str) -> JsonValue:
    """Raises Unreadable."""
    try:
        return _read(text)
    except Unreadable:
        return _read(_repaired(text))


def loads_whole(text: str) -> JsonValue:
    """Of a text that is known to be at its end: brackets that are still open are closed. Raises Unreadable."""
    try:
        return loads(text)
    except Unreadable:
        return _read(_closed(_repaired(text)))


def _read(text: str) -> JsonValue:
    try:
        return json.loads(text, strict=False, parse_constant=_refuse)  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        raise Unreadable(text[:100]) from None


def _refuse(word: str) -> JsonValue:
    raise ValueError(f"{word} is not a number that JSON knows")


def _repaired(text: str) -> str:
    if len(text) > MOST_REPAIRED or not text.lstrip().startswith(_BEGINNINGS):
        raise Unreadable(text[:100])
    return _ODD.sub(_plain, text)


def _plain(odd: re.Match[str]) -> str:
    piece = odd[0]
    match odd.lastgroup:
        case "double":
            return piece
        case "single":
            return f'"{_IN_SINGLE.sub(_requoted, piece[1:-1])}"' if len(piece) > 1 and piece.endswith("'") else piece
        case "word":
            return _WORDS[piece]
        case _:
            return ""


def _requoted(mark: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(mark[0], mark[0])


def _closed(text: str) -> str:
    awaited: list[str] = []
    for mark in _MARK.finditer(text):
        if mark[0] in _CLOSING:
            awaited.append(_CLOSING[mark[0]])
        elif awaited and mark[0] == awaited[-1]:
            awaited.pop()
    return text + "".join(reversed(awaited))
