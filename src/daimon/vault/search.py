"""Finds known values in a text, fast where there are none.

The text is folded (`codings.py`) and cut into blocks of eight characters at every fourth place; any run that is long enough to count
holds one of them whole. All blocks of all forms stand in one set, so that a clean text costs one pass over its blocks and no more. Only
where a block is known, the run around it is measured, character by character, and counts if it is long enough.

Forms of 8 to 10 folded characters, and those that repeat themselves, are looked for one by one and whole; values below SHORTEST as whole
words.
"""

import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from daimon.vault.codings import BLOCK, SHORTEST, SIGNS, STRIDE, SURE, WORDS, Fold, Form, Literal, forms, in_bytes

MOST_GAP = 64
"""Characters that do not count may stand between two that do, so many at most."""
LONGEST_TAIL = 16_384
FEW = 16
"""So many forms are looked for one by one in less time than all blocks of a text take."""
LEAST_MIDDLE = 6


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    name: str


class Search:
    def __init__(self, values: Iterable[tuple[str, str]]) -> None:
        """Names and values."""
        given = [(name, value) for name, value in values if value]
        made = [(name, form) for name, value in given if len(value) >= SHORTEST for form in forms(value)]
        self._layers = tuple(
            _Layer(fold, [(name, form) for name, form in made if isinstance(form, Form) and form.fold is fold])
            for fold in (WORDS, SIGNS)
            if any(isinstance(form, Form) and form.fold is fold for _, form in made)
        )
        self._literals = [(name, form) for name, form in made if isinstance(form, Literal)]
        self._written = "\0".join(literal.written for _, literal in self._literals)
        self._words = [
            (name, value, re.compile(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])")) for name, value in given if len(value) < SHORTEST
        ]
        self.is_empty = not given

    def spans(self, text: str) -> list[Span]:
        """Where known values stand, in order; none touches another."""
        data = in_bytes(text)
        found = [*self._in_words(text), *self._in_literals(text)]
        for layer in self._layers:
            found += layer.spans(text, data)
        return _merged(found)

    def unfinished(self, text: str) -> int:
        """How many characters at the end may be the beginning of a known value, or belong to one that goes on."""
        tail = text[-LONGEST_TAIL:]
        cut = min(self._open_literal(tail), self._open_word(tail), *(layer.open_run(tail) for layer in self._layers))
        for span in reversed(self.spans(tail)):
            if span.start < cut < span.end:
                cut = span.start
        return len(tail) - cut

    def _in_literals(self, text: str) -> Iterator[Span]:
        for name, literal in self._literals:
            offset = len(literal.written) - literal.enough  # every run that is long enough holds the middle
            middle = literal.written[offset : literal.enough]
            if not middle:
                offset, middle = 0, literal.written
            start = text.find(middle)
            while start >= 0:
                left, right = _extended(text, literal.written, start, offset)
                if right - left >= literal.enough:
                    yield Span(left, right, name)
                start = text.find(middle, start + 1)

    def _in_words(self, text: str) -> Iterator[Span]:
        for name, value, pattern in self._words:
            if value in text:
                yield from (Span(found.start(), found.end(), name) for found in pattern.finditer(text))

    def _open_literal(self, text: str) -> int:
        i = len(text)
        while i and text[i - 1 :] in self._written:
            i -= 1
        return i

    def _open_word(self, text: str) -> int:
        ends = [len(text) - n for _, value, _ in self._words for n in range(1, len(value) + 1) if text.endswith(value[:n])]
        return min((i for i in ends if i == 0 or not text[i - 1].isalnum()), default=len(text))


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, folded, and where each character of it stood."""

    whole: str
    folded: bytes
    places: Sequence[int]

    def joins(self, i: int) -> bool:
        """Is what stands before i near enough to belong to it?"""
        return self.places[i] - self.places[i - 1] <= MOST_GAP + 1


class _Layer:
    """All forms that are folded alike."""

    def __init__(self, fold: Fold, named: list[tuple[str, Form]]) -> None:
        self._fold = fold
        self._whole = [(name, form) for name, form in named if not _may_be_in_parts(form)]
        in_parts = [(name, form) for name, form in named if _may_be_in_parts(form)]
        self._blocks: dict[int, list[tuple[str, Form, int]]] = {}
        for name, form in in_parts:
            for i in _offsets(form):
                self._blocks.setdefault(_block(form, i), []).append((name, form, i))
        self._known = frozenset(self._blocks)
        middles = [form.folded[len(form.folded) - form.enough : form.enough] for _, form in in_parts]
        self._are_signs_enough = len(middles) <= FEW and all(len(middle) >= LEAST_MIDDLE for middle in middles)
        self._signs = [form.folded for _, form in self._whole] + (middles if self._are_signs_enough else [])
        self._all = b"\n".join(form.folded for _, form in named)

    def spans(self, text: str, data: bytes) -> Iterator[Span]:
        folded = self._fold.of(data)
        if not self._is_clean(folded):
            seen = _Text(text, folded, self._fold.places(data))
            yield from self._wholly(seen)
            yield from self._in_blocks(seen)

    def open_run(self, text: str) -> int:
        """Where the run begins that the text ends with."""
        data = in_bytes(text)
        seen = _Text(text, self._fold.of(data), self._fold.places(data))
        size = first = len(seen.folded)
        if not size or len(text) - 1 - seen.places[-1] > MOST_GAP:
            return len(text)
        while first > 1 and seen.joins(first - 1):
            first -= 1
        run = _longest(lambda n: seen.folded[size - n :] in self._all, size - first + 1)
        return seen.places[size - run] if run else len(text)

    def _is_clean(self, folded: bytes) -> bool:
        if any(map(folded.__contains__, self._signs)):
            return False
        return self._are_signs_enough or all(self._known.isdisjoint(_cut(folded, start)) for start in (0, STRIDE))

    def _wholly(self, text: _Text) -> Iterator[Span]:
        for name, form in self._whole:
            start = text.folded.find(form.folded)
            while start >= 0:
                yield from _measured(text, name, form, start, 0)
                start = text.folded.find(form.folded, start + len(form.folded))

    def _in_blocks(self, text: _Text) -> Iterator[Span]:
        done: set[tuple[int, int]] = set()  # a run that counts, told by its form and where that would begin, is measured once
        for first in (0, STRIDE):
            for i, block in enumerate(_cut(text.folded, first)):
                for name, form, offset in self._blocks.get(block, ()):
                    place = first + i * BLOCK
                    if (id(form), place - offset) not in done:
                        spans = list(_measured(text, name, form, place, offset))
                        done.update([(id(form), place - offset)] if spans else ())
                        yield from spans


def _may_be_in_parts(form: Form) -> bool:
    """Is it found by its blocks? A form that repeats itself would be found in too many ways."""
    return form.enough >= SURE and len({_block(form, i) for i in _offsets(form)}) == len(_offsets(form))


def _block(form: Form, i: int) -> int:
    return int.from_bytes(form.folded[i : i + BLOCK], sys.byteorder)


def _longest(is_known: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` that is known; with a number, all smaller ones are."""
    low, high = 0, 1
    while high <= most and is_known(high):
        low, high = high, high * 2
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_known(middle) else (low, middle)
    return low


def _offsets(form: Form) -> range:
    """Of the blocks by which a form is found. Every run that is long enough holds the middle; if that is long enough itself, it will do."""
    first = len(form.folded) - form.enough
    return range(first, first + STRIDE) if form.enough - first >= SURE else range(len(form.folded) - BLOCK + 1)


def _cut(folded: bytes, start: int) -> "array[int]":
    return array("Q", folded[start : start + (len(folded) - start) // BLOCK * BLOCK])


def _measured(text: _Text, name: str, form: Form, place: int, offset: int) -> Iterator[Span]:
    """The run of a form that holds this character of the text, if it is long enough."""
    folded, known = text.folded, form.folded
    left, i = place, offset
    while left and i and folded[left - 1] == known[i - 1] and text.joins(left):
        left, i = left - 1, i - 1
    right, j = place, offset
    while right < len(folded) and j < len(known) and folded[right] == known[j] and (right == place or text.joins(right)):
        right, j = right + 1, j + 1
    if right - left < form.enough:
        return
    start, end = text.places[left], text.places[right - 1] + 1
    before, after = _edges(form)
    if i == 0 and before and text.whole.endswith(before, 0, start):
        start -= len(before)
    if j == len(known) and after and text.whole.startswith(after, end):
        end += len(after)
    yield Span(start, end, name)


def _edges(form: Form) -> tuple[str, str]:
    """What is not folded before the first and after the last character that is."""
    kept = form.fold.places(in_bytes(form.written))
    return form.written[: kept[0]], form.written[kept[-1] + 1 :]


def _extended(text: str, known: str, place: int, offset: int) -> tuple[int, int]:
    left, i = place, offset
    while left and i and text[left - 1] == known[i - 1]:
        left, i = left - 1, i - 1
    right, j = place, offset
    while right < len(text) and j < len(known) and text[right] == known[j]:
        right, j = right + 1, j + 1
    return left, right


def _merged(spans: list[Span]) -> list[Span]:
    """Those that overlap or touch become one, with the name of the first and longest."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end, each.name)):
        if merged and span.start <= merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.name)
        else:
            merged.append(span)
    return merged
