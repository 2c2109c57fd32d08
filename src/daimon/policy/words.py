"""What the owner's words say: does a value, a date, a number stand in them?

Known good or nothing: a value counts only where it stands as a whole word or phrase. Reading free text any further is left to models; this
is plain matching that cannot be talked into anything.
"""

import re
import unicodedata
from functools import lru_cache

_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)|(?<![\w.,])\d+(?:\.\d+)?(?![\w]*[a-z]{3,})")
_PLACE = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b(?:[\w-]+\.)+[a-z]{2,24}(?:/\S*)?|\b(?=[A-Z0-9]*\d)[A-Z][A-Z0-9]{7,}\b")
_QUOTED = re.compile(r"(?<!\w)['\"`“‘]([^\W\d_]+)['\"`”’](?!\w)")
_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][^\W\d_]+")
_ISO = re.compile(r"\b\d{4}-(\d\d)-(\d\d)")
_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+(\d{{1,2}})\b|\b{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)\b")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b")
_WHEN = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d)?(?:t[\d:.]+)?|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|\b\d{{1,2}}:\d\d(?::\d\d)?\b"
    rf"|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}}\b)?"
    rf"|\b(?:{_MONTH}|in|since|year)\s+(?:19|20)\d\d\b|\b\d+(?:st|nd|rd|th)\b"
)
"""A date or a time of day: a number in it is none of its own."""
SHORTEST = 3
"""A shorter value stands in almost every text by chance."""


@lru_cache(256)
def folded(text: str) -> str:
    """Small letters, one kind of space, no tricks of Unicode. Not casefolded: that makes one of straße.de and strasse.de."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


@lru_cache(256)
def one_line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def says(text: str, value: str) -> bool:
    """Does the value stand in the text as a word or phrase of its own?"""
    sought = folded(value)
    if len(sought) < SHORTEST:
        return quotes(text, value)
    if len(sought) > len(whole := one_line(text)):
        return False
    # What follows may be a full stop, even one without a space behind it if a capital letter begins the next sentence.
    return re.search(rf"(?<![\w@.\-])(?i:{re.escape(sought)})(?![\w@\-])(?!\.[a-z0-9_])", whole) is not None


def names(text: str, value: str) -> bool:
    """Is the value a name in the text? A plain word is one only in quotes, or with a capital letter where no sentence begins."""
    if not says(text, value):
        return False
    if not folded(value).isalpha() or quotes(text, value):
        return True
    return any(found[0].isupper() for found in re.findall(rf"(?<=[\w,'’)] )(?i:{re.escape(folded(value))})(?!\w)", one_line(text)))


def quotes(text: str, value: str) -> bool:
    """Does the value stand in the text between quotation marks?"""
    sought = folded(value)
    return bool(sought) and any(f"{a}{sought}{b}" in folded(text) for a, b in ("''", '""', "``", "“”", "‘’", "«»", "„“"))


def places(text: str) -> frozenset[str]:
    """Whatever in it works as an address: of mail, of the web, of an account."""
    return frozenset(found.rstrip(".,;:!?") for found in _PLACE.findall(one_line(text)))


def named_in(text: str) -> frozenset[str]:
    """Words of it that name something: in quotes, or with a capital letter in the middle of a sentence."""
    line = one_line(text)
    return frozenset((*_QUOTED.findall(line), *_CAPITAL.findall(line)))


def numbers(text: str) -> frozenset[float]:
    """All but those of dates and times."""
    return frozenset(float(found.replace(",", "")) for found in _NUMBER.findall(_WHEN.sub(" when ", folded(text))))


@lru_cache(256)
def dates(text: str) -> frozenset[tuple[int, int]]:
    """(month, day) of every date in it. The year is often left out, so it does not count."""
    low = folded(text)
    found = {(int(month), int(day)) for month, day in _ISO.findall(low)}
    for a, b, c, d in _MONTH_DAY.findall(low):
        found.add((_MONTHS[a or c], int(b or d)))
    for day, month in _DAY_MONTH.findall(low):
        found.add((_MONTHS[month], int(day)))
    return frozenset(found)
