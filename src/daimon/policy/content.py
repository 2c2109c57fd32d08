"""Free text on its way out: does it hold anything that acts, or that hides something?

Ordinary words may be a stranger's; that is what summaries are made of. What may not come from anywhere but the owner or a trusted field
is *active* content: links, addresses, account and telephone numbers, codes, and text that looks encoded or spelled out. Disguises are
undone first (odd dots, invisible characters, `dot`, `[.]`, `hxxp`), and what is left must be accounted for: it stands in the known texts,
or it counts.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterable

from daimon.policy.words import folded

_INVISIBLE = re.compile(r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_DOTS = re.compile(r"[\u3002\uff0e\uff61\u2024\u2027\u00b7\u2022\u2219\u22c5\u0701\u0702\ua4f8\U00010a50]")
_BRACKETED_DOT = re.compile(r"\s{0,9}[\[({<]\s{0,9}(?:dot|punkt|point|\.)\s{0,9}[\])}>]\s{0,9}", re.IGNORECASE)
_SPOKEN_DOT = re.compile(r"(?<=\w)[\s_-]{1,9}dot[\s_-]{1,9}(?=\w)", re.IGNORECASE)
_LOOSE_DOT = re.compile(r"(?<=\w)\s+\.\s*(?=\w)")
_SPOKEN_AT = re.compile(r"\s{0,9}[\[({<]\s{0,9}at\s{0,9}[\])}>]\s{0,9}", re.IGNORECASE)
_HIDDEN = re.compile(
    r"[\U000e0000-\U000e01ef\U0001f130-\U0001f189\u115f\u1160\u2800\u3164\uffa0]"
    r"|[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]{2,}"
)
"""Letters that only programs read, and those in boxes; or a row of what nobody sees. One between two letters is how some scripts and
pictures are written."""
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:[ t]\d\d:\d\d(?::\d\d)?)?\b|\b\d\d?:\d\d\b")

_KINDS = (
    re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+"),
    re.compile(r"\bhxxps?\S*|\bwww\b\S*"),
    re.compile(r"\b(?:[^\W_](?:[^\W_]|-){0,62}\.){1,8}[^\W\d_]{2,24}(?:[/:?#]\S*)?(?!\w)"),
    re.compile(r"(?<!\S)\S+@\S+"),
    re.compile(r"\bxn--\S+"),
    re.compile(r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]){10,}\b"),
    re.compile(r"(?<!\w)\+?(?:\d[ ().,/-]{0,2}){7,}(?!\w)"),
    re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"),
    re.compile(r"\b(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{6,}\b"),
    re.compile(r"\b(?:[^\W_]\b[\W_]{1,3}){5,}"),
    re.compile(r"\b(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|null|oh)\b[\s,.-]*){4,}"),
    re.compile(r"[a-z0-9+/=_]{26,}|(?<![\w-])[^\W_]{26,}"),
    re.compile(r"[%&\\]\S{0,20}?[0-9a-f]{2}\S{0,20}?[%&\\]\S*"),
)
"""Looked for in folded text: addresses of the web, of mail, of accounts, of telephones; codes; letters and digits one by one."""
_MIXED = re.compile(r"(?<![\w/+=-])(?=[A-Za-z0-9+/=_-]*[a-z][A-Z][A-Za-z0-9+/=_-]*[a-z0-9][A-Z])[A-Za-z0-9+/=_-]{10,}")
"""Looked for in the text as it is: base64 goes up and down in the middle of words."""

LONGEST = 20_000
"""A longer text is not looked through, and so counts as active. No pattern here may take more than a second for one of this length."""


def active(text: str, known: Iterable[str]) -> str:
    """The first thing in the text that acts or hides something and stands in none of the known texts; empty if there is none."""
    if len(text) > LONGEST:
        return f"{len(text):,} characters"
    if hidden := _HIDDEN.search(text):
        return hidden.group().encode("ascii", "backslashreplace").decode()
    shown = undisguised(text)
    low, accounted = _DATE.sub(" ", shown.casefold()), [undisguised(each).casefold() for each in known]
    for kind in _KINDS:
        for found in kind.finditer(low):
            token = found.group().strip(" \t\r\n.,;:!?)('\"")
            if token and not any(_stands(token, each) for each in accounted):
                return token
    for found in _MIXED.finditer(shown):
        if not any(_stands(found.group().casefold(), each) for each in accounted):
            return found.group()
    return _foreign(text)


def undisguised(text: str) -> str:
    bare = _DOTS.sub(".", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))
    for pattern, instead in ((_BRACKETED_DOT, "."), (_SPOKEN_DOT, "."), (_LOOSE_DOT, "."), (_SPOKEN_AT, "@")):
        bare = pattern.sub(instead, bare)
    return bare


def _stands(token: str, text: str) -> bool:
    return re.search(rf"(?<![\w@]){re.escape(token)}(?!\w|[.-]\w)", text) is not None


def coded(text: str, read: Iterable[str]) -> str:
    """A word that is one of those that were read, backwards or with its letters shifted by half the alphabet; empty if there is none.

    A courtesy, no proof: words can hide more than that. What they may reach is decided elsewhere."""
    have = set(re.findall(r"[^\W_]{5,}", " ".join(folded(each) for each in read)))
    word: str
    for word in re.findall(r"[^\W_]{5,}", folded(text)):
        if word not in have and (codecs.encode(word, "rot13") in have or word[::-1] in have):
            return word
    return ""


def _foreign(text: str) -> str:
    """A word of letters from two scripts is a disguise."""
    word: str
    for word in re.findall(r"[^\W\d_]{3,}", unicodedata.normalize("NFKC", text)):
        scripts = {unicodedata.name(letter, "?").split(" ")[0] for letter in word}
        if len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1:
            return word
    return ""


def covers(known: Iterable[str], text: str) -> str:
    """The first word of the text that stands in none of the known texts; empty if all do."""
    have = " ".join(folded(each) for each in known)
    word: str
    for word in re.findall(r"(?<!['’])[^\W_]+|(?<=['’])[^\W_]{2,}", folded(text)):  # the s of it's is no word
        if re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", have) is None and word not in _GLUE:
            return word
    return ""


_GLUE = frozenset(("a", "i", "an", "the", "at", "in", "on", "of", "for", "to", "from", "with", "and", "or", "is", "by", "as", "be", "it"))
