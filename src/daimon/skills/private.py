"""What belongs to one person or one case, taken out of a text: what is left can be told again.

Secrets go first, by the redactor: known values and what is shaped like one. Then, by shape: addresses of mail and network, numbers of
phones, accounts and cards, ids, streets, names behind a title; and by value the names that the home knows (people, channels, memory). Each
gives way to a word in angle brackets that says what stood there. Rules err towards taking out: a lesson that is too general is read and
corrected by the owner, one that says too much is copied on.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from daimon.abi.invisible import visible

LEAST_NAME = 2
_ON_ONE_LINE = str.maketrans("\n\r\t", "   ")
_SECRET = re.compile(r"\[(?:secret [^\[\]\n]{1,100}|redacted [a-z0-9-]{1,40})\]")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
_STREET_ENDS = r"(?:stra(?:ß|ss)e|str\.|gasse|allee|platz|weg|ufer|damm)"
_STREET_WORDS = r"(?:Street|St\.?|Road|Rd\.?|Avenue|Ave\.?|Lane|Ln\.?|Drive|Boulevard|Blvd\.?|Square|Court|Terrace|Close|Crescent)"
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[\w.+%'-]+@[\w-]+(?:\.[\w-]+)+", re.UNICODE), "<mail address>"),
    (re.compile(r"(?<=://)[^\s/@\"'<>]+@"), ""),
    (re.compile(r"(https?://[^\s?#\"'<>]*)[?#][^\s\"'<>]*"), r"\1"),
    (re.compile(r"(?<![\w@])@[\w.-]{2,}"), "<handle>"),
    (re.compile(r"(?:/home|/Users)/[^\s/\"']+"), "~"),
    (re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"), "<account number>"),
    (re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"), "<network address>"),
    (re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])"), "<network address>"),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{16,}\b"), "<id>"),
    (re.compile(rf"\b[\w-]*{_STREET_ENDS}\s+\d+\s?[a-z]?\b(?:,?\s*\d{{4,5}}\s+[\w-]+)?", re.IGNORECASE), "<street address>"),
    (re.compile(rf"\b\d+[a-z]?,?\s+(?:[A-Z][\w'-]+\s+){{1,3}}{_STREET_WORDS}"), "<street address>"),
    (re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Herrn|Frau|Mme|Monsieur|Madame)\.?\s+[A-ZÀ-Þ][\w'-]+(?:\s+[A-ZÀ-Þ][\w'-]+)?"), "<name>"),
)
_DIGITS = re.compile(r"(?<![\w<])\+?\(?\d(?:[\d\s()/.-]*\d)?")
_LEAST_DIGITS = 5
_AGAIN = re.compile(r"(<[a-z ]{1,20}>)(?:[\s,;]+\1)+")
"""Several in a row are told as one."""


@dataclass(frozen=True)
class Privacy:
    """What this home keeps to itself."""

    clean: Callable[[str], str]
    """The redactor's."""
    names: frozenset[str] = frozenset()
    """Of people, by every name and sign under which the home knows them."""

    def general(self, text: str) -> str:
        """The text without what belongs to one person or one case, and without signs that nobody sees."""
        return self._general(visible(unicodedata.normalize("NFKC", text))[0].translate(_ON_ONE_LINE))

    def _general(self, text: str) -> str:
        text = _SECRET.sub("<secret>", self.clean(text))
        if self._known is not None:
            text = self._known.sub("<name>", text)
        for pattern, instead in _RULES:
            text = pattern.sub(instead, text)
        return _AGAIN.sub(r"\1", _DIGITS.sub(_number, text))

    def is_general(self, text: str) -> bool:
        """Is there nothing left to take out?"""
        return self._general(text) == text

    @cached_property
    def _known(self) -> re.Pattern[str] | None:
        names = sorted(set(_names(self.names)), key=lambda each: (-len(each), each))
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE) if names else None


def _names(given: Iterable[str]) -> Iterable[str]:
    """Each, and of a full name its parts: people are called by either."""
    for name in given:
        whole = unicodedata.normalize("NFKC", name).strip()
        yield from (each for each in {whole, *whole.split()} if len(each) > LEAST_NAME)


def _number(found: re.Match[str]) -> str:
    text = found[0]
    if _DATE.fullmatch(text.strip()) or sum(sign.isdigit() for sign in text) < _LEAST_DIGITS:
        return text
    return "<number>"
