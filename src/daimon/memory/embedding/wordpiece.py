"""From text to the numbers of a BERT vocabulary, as the uncased models were trained with.

    clean → CJK apart → accents off → lower case → punctuation apart → words → the longest pieces that the vocabulary has

All but the last step looks at one character at a time, so it is one table that fills itself as characters are seen. A word of which some
part is in no piece, or that is longer than `LONGEST_WORD`, becomes one `[UNK]`. Every string has a result: NULs and controls are left
out, so are halves of surrogate pairs.

Known difference from the reference: text that spells a special token (`[SEP]`) is ordinary text here, so that nobody can write one.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

LONGEST_WORD = 100
MOST_CHARACTERS = 20_000
"""Of one text. Some 250 pieces are taken, which are 1,000 characters of prose; the rest of a text of 50 MB is not even looked at."""
_CACHED_WORDS = 30_000
_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class Wordpiece:
    def __init__(self, vocabulary: Iterable[str]) -> None:
        """One piece a line, in the order of their numbers."""
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._first, self._last, self._unknown = (self._numbers[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._table = _Characters()
        self._pieces = lru_cache(_CACHED_WORDS)(self._cut)

    def tokens(self, text: str, most: int) -> list[int]:
        """At most so many, the first and the last one being the marks of a beginning and an end."""
        found: list[int] = [self._first]
        for word in text[:MOST_CHARACTERS].translate(self._table).split():
            found += self._pieces(word)
            if len(found) >= most:
                break
        return [*found[: most - 1], self._last]

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > LONGEST_WORD:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            end = len(word)
            while (number := self._numbers.get(word[start:end] if start == 0 else f"##{word[start:end]}")) is None:
                end -= 1
                if end == start:
                    return (self._unknown,)
            found.append(number)
            start = end
        return tuple(found)


class _Characters(dict[int, str]):
    """What becomes of a character, by its code point, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        self[code] = _become(code)
        return self[code]


def _become(code: int) -> str:
    character = chr(code)
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if code == 0xFFFD or category in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if character.isspace():
        return " "
    plain = [each.lower() for each in unicodedata.normalize("NFD", character) if unicodedata.category(each) != "Mn"]
    apart = [f" {each} " if _is_punctuation(each) else each for each in "".join(plain)]
    return f" {''.join(apart)} " if any(low <= code <= high for low, high in _CJK) else "".join(apart)


def _is_punctuation(character: str) -> bool:
    is_ascii_sign = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return is_ascii_sign or unicodedata.category(character).startswith("P")
