"""Somebody's words inside ours: shown so that they cannot pass for ours.

What a stranger wrote may hold line breaks, quotation marks, letters that turn the direction of the text or that nobody can see. All of that
is written out. Between quotation marks stands what they wrote, and nothing else does.
"""

import re
import unicodedata

BARE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%+@:/~-]*", re.ASCII)
"""An address, a name, a number: nothing in it can be taken for our own words."""
SPACES = re.compile(r" {3,}")
NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Printable by their class, and yet nothing is seen."""
MOST_MARKS = 2
"""So many accents may stand on one letter."""


def escaped(text: str) -> str:
    """All on one line, with nothing in it that is not seen."""
    out: list[str] = []
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.combining(letter) else 0
        is_seen = letter.isprintable() and letter not in BLANK and unicodedata.category(letter) != "Me" and not _selects(letter)
        out.append(NAMED.get(letter) or (letter if is_seen and marks <= MOST_MARKS else _code(letter)))
    return SPACES.sub(lambda run: f" [{len(run[0])} spaces] ", "".join(out))


def quoted(text: str, most: int) -> str:
    """Between quotation marks; what is longer is cut, and says how long it is."""
    more = f" … ({len(text):,} characters)" if len(text) > most else ""
    return f'"{escaped(text[:most])}"{more}'


def name(text: str, most: int) -> str:
    """Without quotation marks where there is nothing to mistake."""
    return text if len(text) <= most and BARE.fullmatch(text) else quoted(text, most) + _foreign(text)


def prose(text: str, most: int) -> str:
    """Our own words, which may quote others: on one line, and cut."""
    line = escaped(" ".join(text.split())).replace('\\"', '"')
    return line if len(line) <= most else f"{line[:most].rstrip()}…"


def _selects(letter: str) -> bool:
    """A variation selector."""
    return "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"


def _foreign(text: str) -> str:
    """Letters that may look like others, in what ought to be a name."""
    strange = sorted({letter for letter in text if letter.isprintable() and not letter.isascii()})
    listed = ", ".join(f"U+{ord(letter):04X}" for letter in strange[:4])
    return f" [holds {listed}{' and others' if len(strange) > 4 else ''}]" if strange else ""


def _code(letter: str) -> str:
    number = ord(letter)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
