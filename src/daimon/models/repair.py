"""JSON as small models write it: with single quotes, Python's words, trailing commas, and without the last brackets.

Nothing is guessed: what is changed can be meant in one way only, and what still cannot be read is left alone.
"""

import json
import re

from pydantic import JsonValue

_TOKEN = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*")|(?P<single>'(?:[^'\\]|\\.)*')|(?P<word>\b(?:True|False|None)\b)|(?P<mark>[{}\[\],])""", re.DOTALL
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_CLOSING = {"{": "}", "[": "]"}


class Unreadable(ValueError):
    pass


def loads(text: str) -> JsonValue:
    """Raises Unreadable."""
    for attempt in (text, _repaired(text)):
        try:
            return json.loads(attempt, strict=False, parse_constant=_refuse)  # type: ignore[no-any-return]
        except (ValueError, RecursionError):
            continue
    raise Unreadable(text[:100])


def _refuse(word: str) -> JsonValue:
    raise ValueError(f"{word} is not a number that JSON knows")


def _repaired(text: str) -> str:
    """A comma is written when something follows it, brackets that are still open are closed at the end."""
    written, comma, at = "", "", 0
    awaited: list[str] = []
    for token in _TOKEN.finditer(text):
        between = text[at : token.start()]
        written, comma = (written + comma + between, "") if between.strip() else (written + between, comma)
        at, piece = token.end(), token.group()
        if piece == ",":
            comma = ","
            continue
        if piece in _CLOSING:
            awaited.append(_CLOSING[piece])
        elif awaited and piece == awaited[-1]:
            awaited.pop()
            comma = ""
        written, comma = written + comma + _plain(piece, token.lastgroup or ""), ""
    return written + text[at:] + "".join(reversed(awaited))


def _plain(piece: str, kind: str) -> str:
    if kind == "single":
        return json.dumps(piece[1:-1].replace("\\'", "'"), ensure_ascii=False).replace("\\\\", "\\")
    return _WORDS.get(piece, piece)
