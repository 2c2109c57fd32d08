"""From what somebody typed to what the indexes understand.

FTS5 has a language of its own (AND, NEAR, column filters, quotes). None of it may be reached from a question, neither to break it nor to
steer it: every word goes in as a quoted string, and the tokenizer makes of it what it made of the items.

Words that say nothing ("what is the …") are left out: they would find everything, and FTS5 scores whatever it finds. The list is English;
in other languages the ranking alone has to do that. A question of nothing else ("what do you know about me?") has no words to look for,
like an empty one.

Names of speakers are left out too, where anything else is left: half of a dialogue has the name of who says it. Who is named counts
elsewhere (`ranking.py`).
"""

import re
from collections.abc import Collection, Iterable

_WORDS = 32
_CHARACTERS = 2000
_LONG, _DENSE_BYTES = 5, 3
_POSSESSIVE = re.compile(r"['’]s\b")
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b", re.IGNORECASE)
_EDGES = ".,:;!?()[]{}\"'“”‘’„«»…-"
_SILENT = frozenset(
    re.findall(
        r"\w+",
        """a about after all also am an and any are as at be because been before being but by can could did do does during for from get got
        had has have he her him his how i if in into is it its just kind know many me mention mentioned more most much my not of on or our
        please really remember said say she should so some tell than that the their them then there these they this to too up us very was
        way we well were what when where which who whom whose why will with would you your""",
    )
)
_SMALL_TALK = frozenset(
    re.findall(
        r"\w+",
        """bye cool course day evening fine go good great haha hallo hello help hey hi ja lol morgen morning nein nice night no now ok okay
        perfect sure thank thanks today welcome yeah yes danke guten tag""",
    )
)


def is_small_talk(words: list[str]) -> bool:
    """Nothing is meant by it that memory could help with."""
    return all(word.casefold() in _SMALL_TALK for word in words)


def words(text: str, names: Collection[str] = ()) -> list[str]:
    """The words to look for, each once. FTS5 stops at a zero byte and cannot take half a surrogate pair, so neither gets there."""
    found = {word.casefold(): word for word in _split(text) if word.casefold() not in _SILENT}
    known = {part for name in names for part in parts(name)}
    return list({folded: word for folded, word in found.items() if folded not in known}.values() or found.values())[:_WORDS]


def named(text: str, speakers: Iterable[str]) -> frozenset[str]:
    """Those of the speakers whom the text names, by any part of their name."""
    there = {word.casefold() for word in _split(text)}
    return frozenset(speaker for speaker in speakers if not there.isdisjoint(parts(speaker)))


def parts(name: str) -> frozenset[str]:
    """What somebody may be called by. A name that is an ordinary word ("Will") is not known for one."""
    return frozenset(part for word in _split(name) if len(part := word.casefold()) > 1 and part not in _SILENT)


def unnamed(text: str, names: Collection[str]) -> str:
    """The text without these names, for a comparison by meaning; the text itself where nothing else is left."""
    known = {part for name in names for part in parts(name)}
    kept = [word for word in text[:_CHARACTERS].split() if _bare(word).casefold() not in known]
    return " ".join(kept) if any(letter.isalnum() for word in kept for letter in word) else text[:_CHARACTERS]


def any_of(words: list[str]) -> str:
    """Any of the words, or one that begins with it: for compounds ("Zahnarzt" finds "Zahnarzttermin") and scripts without blanks.

    Short beginnings would find everything; but one Chinese character says as much as a few Latin letters.
    """
    return " OR ".join(_quoted(word) + (" *" if _may_begin(word) else "") for word in words)


def _may_begin(word: str) -> bool:
    return len(word) >= _LONG or (not word.isascii() and len(word.encode()) >= _DENSE_BYTES)


def _split(text: str) -> list[str]:
    plain = text[:_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", " ")
    bare = (_bare(word) for word in _ORDINAL.sub(r"\1", plain).split())
    return [word for word in bare if any(letter.isalnum() for letter in word)]


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).strip(_EDGES)


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
