"""Long texts for a screen: cleaned, then cut, with a word on how much there is.

The order matters: a secret that is cut in two is no longer recognised.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from daimon.abi.label import Label

Clean = Callable[[str], str]
MOST_TEXT = 20_000
MOST_MESSAGE = 6_000


@dataclass(frozen=True, slots=True)
class Piece:
    title: str
    text: str
    sort: Literal["text", "json", "diff"] = "text"
    label: Label | None = None
    size: int = 0
    """Characters there are; more than `text` has, if it was cut."""
    is_cut: bool = False


def cut(piece: Piece, clean: Clean, most: int = MOST_TEXT) -> Piece:
    text = clean(piece.text)
    return Piece(piece.title, text[:most], piece.sort, piece.label, len(text), len(text) > most)


def pretty(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
