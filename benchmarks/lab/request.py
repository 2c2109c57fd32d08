"""What a request says, as plain matching can tell: phrases, numbers, days, words, superlatives, templates.

Written anew and not taken from `policy/words.py`: the measure must not bend with what it measures.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from daimon.abi.fields import Scalar

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*[a-z]{3})", re.IGNORECASE)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*(?:%|percent)")
_WORD = re.compile(r"[^\W\d_]{4,}")
_ADDRESS = re.compile(r"\S+@\S+|\S+\.\w{2,}\S*|\S+://\S+")
_QUOTED = re.compile(r"(?<!\w)(['\"“‘])(.+?)['\"”’](?!\w)", re.DOTALL)
_HOLE = re.compile(r"\{[^{}]+\}")
_ISO = re.compile(r"\b\d{4}-(\d\d)-(\d\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\.?\s+(\d{{1,2}})|\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({'|'.join(_MONTHS)})")
_STOP = frozenset((
    "about", "after", "also", "because", "before", "between", "could", "each", "from", "given", "great", "have", "help", "here", "into",
    "just", "know", "like", "list", "look", "make", "many", "more", "most", "much", "need", "only", "other", "over", "please", "same",
    "should", "some", "such", "tell", "than", "thank", "thanks", "that", "their", "them", "then", "there", "these", "they", "this", "those",
    "through", "using", "very", "want", "well", "were", "what", "when", "where", "which", "while", "will", "with", "would", "your",
))  # fmt: skip
_EXTREMES = {
    "largest": frozenset(("largest", "biggest", "highest", "most", "longest")),
    "smallest": frozenset(("smallest", "lowest", "least", "cheapest", "shortest", "fewest")),
    "last": frozenset(("last", "latest", "newest", "recent")),
    "first": frozenset(("first", "earliest", "oldest")),
}


@dataclass(frozen=True)
class Template:
    """A quoted text of the request with holes in it."""

    pieces: tuple[str, ...]
    """One more than there are holes."""

    def filled(self, text: str) -> tuple[str, ...] | None:
        """What stands in the holes of this text, if it is made of the template."""
        found = re.fullmatch("(.+?)".join(map(re.escape, self.pieces)), text, re.IGNORECASE | re.DOTALL)
        return found.groups() if found else None


@dataclass(frozen=True)
class Asked:
    text: str

    def says(self, value: Scalar) -> bool:
        """Does it stand there, as a word or phrase of its own?"""
        if isinstance(value, bool) or value is None:
            return False
        if isinstance(value, int | float):
            return any(abs(value - number) < 1e-9 for number in self.numbers)
        sought = value.strip().casefold()
        return bool(sought) and re.search(rf"(?<![\w@.\-]){re.escape(sought)}(?![\w@\-])", self.low) is not None

    @cached_property
    def low(self) -> str:
        return self.text.casefold()

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        return tuple(dict.fromkeys(float(found.replace(",", "")) for found in _NUMBER.findall(self.text)))

    @cached_property
    def percents(self) -> tuple[float, ...]:
        return tuple(dict.fromkeys(float(found) for found in _PERCENT.findall(self.text)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """That mean something: four letters and more, not part of an address; the longest first."""
        found = _WORD.findall(_ADDRESS.sub(" ", self.low))
        return tuple(sorted(dict.fromkeys(word for word in found if word not in _STOP), key=len, reverse=True))

    @cached_property
    def extremes(self) -> tuple[str, ...]:
        return tuple(how for how, names in _EXTREMES.items() if names.intersection(_WORD.findall(self.low)))

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        quoted = (found.group(2) for found in _QUOTED.finditer(self.text))
        return tuple(Template(tuple(_HOLE.split(text))) for text in quoted if _HOLE.search(text))

    def names_day(self, value: str) -> bool:
        found = days(value)
        return bool(found) and found <= days(self.text)


def days(text: str) -> frozenset[tuple[int, int]]:
    """(month, day) of every date in it."""
    low = text.casefold()
    found = {(int(month), int(day)) for month, day in _ISO.findall(low)}
    for month, day, day_before, month_after in _NAMED.findall(low):
        found.add((_MONTHS.index(month or month_after) + 1, int(day or day_before)))
    return frozenset(found)
