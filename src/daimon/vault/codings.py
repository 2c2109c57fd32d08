"""How a known value may be written: plain, reversed, in base64, hex, percent and other escapes.

Texts and values are compared *folded*: only ASCII letters and digits stay, in lower case. So line breaks, spaces, zero-width characters,
quotes and backslashes between characters, another case, `+/` against `-_` in base64 and its padding make no difference. What does make
one is a letter or a digit that an escape brings in (`%2B`, `\\u002b`, `&amp;`): each usual escape is a form of its own. A value with few
letters and digits is folded less: its punctuation stays.

Invariant: every form says how much of it in a row is `enough`, and a run of 60 % of a value (12 characters at least) holds that much of
each form that was made of it. What leaves too little either way, as a value in another script, is compared as it is written (`Literal`).

It does not know codings of codings (base64 of hex), nor encryption, nor values that are cut into pieces with words between them.
"""

import base64
import html
import json
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil
from urllib.parse import quote

SHORTEST = 8
"""Characters. Below this a value is looked for as a whole word and in no coding."""
LEAST_RUN = 12
SHARE = 0.6
BLOCK = 8
STRIDE = 4
SURE = BLOCK + STRIDE - 1
"""A run so long holds a whole block of 8 folded characters that begins at a multiple of 4, wherever it lies."""
LOWER = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in range(256))


@dataclass(frozen=True, slots=True)
class Fold:
    """What stays of a text when it is compared."""

    kept: frozenset[int]
    dropped: bytes

    def of(self, data: bytes) -> bytes:
        return data.translate(LOWER, self.dropped)

    def places(self, data: bytes) -> list[int]:
        """Where each character that stays stands."""
        return [i for i, byte in enumerate(data) if byte in self.kept]


def _keeping(characters: str) -> Fold:
    kept = frozenset(characters.encode())
    return Fold(kept, bytes(byte for byte in range(256) if byte not in kept))


WORDS = _keeping(string.ascii_letters + string.digits)
# Without the question mark: it stands for all that Latin-1 does not have, such as characters of no width.
SIGNS = _keeping("".join(sign for sign in string.printable if not sign.isspace() and sign not in "\"'\\?"))
Coding = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Form:
    fold: Fold = field(repr=False)
    written: str = field(repr=False)
    folded: bytes = field(repr=False)
    enough: int
    """So many folded characters in a row are a find."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Compared as it is written, character by character."""

    written: str = field(repr=False)
    enough: int


def in_bytes(text: str) -> bytes:
    """A byte for each character: what stands outside of Latin-1 is a question mark."""
    return text.encode("latin-1", "replace")


def run_of(value: str) -> int:
    """So many characters of it in a row count as the value."""
    return min(len(value), max(LEAST_RUN, ceil(SHARE * len(value))))


def forms(value: str) -> tuple[Form | Literal, ...]:
    """Of a value that is not shorter than SHORTEST."""
    made = [*_by_characters(value), *_in_base64(value)]
    folded = {(form.fold, form.folded): form for form in reversed(made) if isinstance(form, Form)}
    literals = {form.written: form for form in made if isinstance(form, Literal)}
    return (*reversed(folded.values()), *literals.values())


def _by_characters(value: str) -> Iterator[Form | Literal]:
    for coding in _CODINGS:
        yield from _made([coding(character) for character in value], run_of(value))
    for coding in (str, _in_json):  # arguments of a call come as JSON while they come
        yield from _made([coding(character) for character in reversed(value)], run_of(value))


def _made(pieces: list[str], run: int) -> Iterator[Form | Literal]:
    """`run` pieces in a row are to be found."""
    written = "".join(pieces)
    for fold in (WORDS, SIGNS):
        sizes = [len(fold.of(in_bytes(piece))) for piece in pieces]
        least, whole = _least(sizes, run), sum(sizes)
        if whole >= SHORTEST:
            yield Form(fold, written, fold.of(in_bytes(written)), max(least, SURE) if whole >= SURE else whole)
        if least >= SURE or (whole >= SHORTEST and run == len(pieces)):
            return
    yield Literal(written, _least([len(piece) for piece in pieces], run))


def _least(sizes: list[int], run: int) -> int:
    ends = list(accumulate(sizes, initial=0))
    return min(ends[i + run] - ends[i] for i in range(len(sizes) - run + 1))


def _in_base64(value: str) -> Iterator[Form | Literal]:
    """For each of the three places where it may begin within a group; what depends on its neighbours is left out."""
    data = value.encode("utf-8", "surrogatepass")
    run = len(data) * run_of(value) // len(value)
    for before, spoilt in ((0, 0), (1, 2), (2, 3)):
        whole = base64.b64encode(bytes(before) + data).decode()[spoilt : (before + len(data)) * 8 // 6]
        yield from _made(list(whole), len(whole) if run == len(data) else min(len(whole), (8 * run - 10) // 6))


def _percent(safe: str) -> Coding:
    return lambda character: quote(character, safe, errors="surrogatepass")


def _all_bytes(mark: str) -> Coding:
    return lambda character: "".join(f"{mark}{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def _units(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[i]:02x}{data[i + 1]:02x}" for i in range(0, len(data), 2))


def _in_json(character: str) -> str:
    return json.dumps(character)[1:-1]


def _odd(coding: Coding) -> Coding:
    """Letters and digits stay as they are."""
    return lambda character: character if character.isascii() and character.isalnum() else coding(character)


_CODINGS: tuple[Coding, ...] = (
    str,
    _percent(""),
    _percent("/"),
    _percent("-_.!~*'()"),
    _percent("-_.!~*'();,/?:@&=+$#"),
    _in_json,
    _odd(_units),
    _units,
    html.escape,
    _odd(lambda character: f"&#{ord(character)};"),
    _odd(lambda character: f"&#x{ord(character):x};"),
    lambda character: f"&#{ord(character)};",
    lambda character: f"&#x{ord(character):x};",
    lambda character: repr(character)[1:-1],
    _all_bytes(""),
    _all_bytes("\\x"),
)
