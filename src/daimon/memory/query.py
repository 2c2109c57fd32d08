"""From what somebody typed to what FTS5 understands.

FTS5 has a language of its own (AND, NEAR, column filters, quotes). None of it may be reached from a question, neither to break it nor to
steer it: every word goes in as a quoted string, and the tokenizer makes of it what it made of the notes.

Words that say nothing ("what is the …") are left out: they would make "all words" find nothing and "any word" find everything. The list
is English; in other languages the ranking alone has to do that. A question of nothing else ("what do you know about me?") has no words
to look for, like an empty one.
"""

import re

_WORDS = 32
_CHARACTERS = 2000
_PREFIX_BYTES = 3
_POSSESSIVE = re.compile(r"['’]s\b")
_SILENT = frozenset(
    re.findall(
        r"\w+",
        """a about an and any are as at be been but by can did do does for from had has have he her his how i if in is it its know me my of
        on or our please remember she so some tell that the their them there they this to was we were what when where which who whose why
        will with would you your""",
    )
)


def words(text: str) -> list[str]:
    """The words to look for. FTS5 stops at a zero byte and cannot take half a surrogate pair, so neither gets there."""
    plain = text[:_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", " ")
    found = (word for word in _POSSESSIVE.sub("", plain).split() if any(letter.isalnum() for letter in word))
    return [word for word in found if word.strip(".,:;!?()\"'").lower() not in _SILENT][:_WORDS]


def all_of(words: list[str]) -> str:
    return " AND ".join(_quoted(word) for word in words)


def any_of(words: list[str]) -> str:
    """Any of the words, or one that begins with it: for compounds ("Zahnarzt" finds "Zahnarzttermin") and scripts without blanks.

    Very short beginnings would find everything. Counted in bytes, because one Chinese character says as much as a few Latin letters.
    """
    return " OR ".join(_quoted(word) + (" *" if len(word.encode()) >= _PREFIX_BYTES else "") for word in words)


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
