"""Words of a sentence as a table can match them, without losing where they stood.

`spell` turns a text into words: lower case, contractions opened, typos mended against a vocabulary. Each word keeps the span of the text
that it came from, so a slot is cut from what the person wrote and never from what was made of it.

A word is mended only if it starts like the one it is taken for, is one slip away (two from a word of eight letters on; of a short word
only swapped letters count) and no other word is as near. Inflections stay as they are, and so do the real words that whoever calls lists:
a wrong mend makes `forget` of `forgot`.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

_RUN = re.compile(r"[^\s,;!?“”\"]+")
_EDGE = ".:()[]{}<>'*_-–—…"
_SHORT = 4
_LONG = 8


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int
    is_mended: bool = False


def spell(text: str, aliases: Mapping[str, str], vocabulary: Collection[str] = (), keep: Collection[str] = ()) -> list[Word]:
    """A colon that ends a word is a word of its own: it tells `note: …` from `note …`."""
    words: list[Word] = []
    for run in _RUN.finditer(text):
        raw = run.group().lower().replace("’", "'")
        plain = raw.strip(_EDGE)
        if plain:
            opened = aliases.get(plain, plain)
            mended = opened if opened != plain or plain in keep else mend(plain, vocabulary)
            words.extend(Word(part, run.start(), run.end(), mended != opened) for part in mended.split())
        if raw.endswith(":"):
            words.append(Word(":", run.end() - 1, run.end()))
    return words


def joined(words: list[Word]) -> str:
    """Every word followed by one blank: what patterns are matched against."""
    return "".join(f"{word.text} " for word in words)


def mend(word: str, vocabulary: Collection[str]) -> str:
    if len(word) < _SHORT or not word.isalpha() or _is_form(word, vocabulary):
        return word
    near = [known for known in vocabulary if known[0] == word[0] and len(known) >= _SHORT and _is_near(word, known)]
    if len(near) > 1:
        near = [known for known in near if sorted(known) == sorted(word)]
    return near[0] if len(near) == 1 else word


def _is_form(word: str, vocabulary: Collection[str]) -> bool:
    """A word of the vocabulary or an inflection of one, as in `reminds`, `deleted`, `cancelling`: nothing to mend."""
    stems = {word.removesuffix(ending) for ending in ("s", "d", "ed", "ing", "er", "n")}
    return any(stem in vocabulary for stem in stems | {f"{word}s"})


def _is_near(word: str, known: str) -> bool:
    if len(known) == _SHORT:
        return sorted(known) == sorted(word) and distance(word, known, 1) == 1
    slips = 2 if len(known) >= _LONG else 1
    return distance(word, known, slips) <= slips


def distance(a: str, b: str, limit: int) -> int:
    """How many letters were added, lost, changed or swapped with their neighbour; anything over the limit is `limit + 1`."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return min(row[-1], limit + 1)


def cut(text: str, start: int, end: int) -> str:
    """The stretch of text from one word to another as it was written, with what hangs on its end but without closing punctuation."""
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end].rstrip(".,!?;:").strip()
