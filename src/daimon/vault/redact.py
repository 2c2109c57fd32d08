"""The redactor: keeps secrets out of whatever is read by a model or a person, or is written down.

    known values    those that the vault holds, now or before, in any usual coding: always (`search.py`)
    shapes          what looks like a secret by rules that seldom err (`shapes.py`)

A known value becomes `[secret NAME]`, a shape `[redacted KIND]`. Cleaning is deterministic, and cleaning twice is cleaning once: what
stands in place of a secret is never looked at again, and nothing is found across it. Only names and kinds that are known count as such a
mark, so that nobody can hide a value by writing brackets around it.

Values are asked for at every call, and made ready for the search only when they changed.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from daimon.vault import shapes
from daimon.vault.search import Search

MOST_KEPT = 4_000_000
"""Characters of texts whose cleaned form is remembered: prompts hold the same texts again and again."""


@dataclass(frozen=True, slots=True)
class Known:
    """A value that must not be seen. One that was replaced is still known, under the same name."""

    name: str
    value: str = field(repr=False)


class SecretRedactor:
    def __init__(self, known: Callable[[], Iterable[Known]]) -> None:
        self._known = known
        self._values: tuple[Known, ...] = ()
        self._search = Search(())
        self._marks = _marks(())
        self._cleaned: OrderedDict[str, str] = OrderedDict()
        self._kept = 0
        self._version = 0

    @property
    def version(self) -> int:
        self._refresh()
        return self._version

    def clean(self, text: str) -> str:
        self._refresh()
        cleaned = self._cleaned.get(text)
        if cleaned is None:
            cleaned = _settled(lambda seen: shapes.without(self._without_known(seen)), text)
            self._keep(text, cleaned)
        return cleaned

    def clean_known(self, text: str) -> str:
        self._refresh()
        return _settled(self._without_known, text)

    def unfinished(self, text: str) -> int:
        self._refresh()
        return 0 if self._search.is_empty else self._search.unfinished(text)

    def _without_known(self, text: str) -> str:
        if self._search.is_empty or not self._search.spans(text):
            return text
        pieces = self._marks.split(text)  # every second one is a mark
        pieces[::2] = [self._replaced(piece) for piece in pieces[::2]]
        return "".join(pieces)

    def _replaced(self, text: str) -> str:
        for span in reversed(self._search.spans(text)):
            text = f"{text[: span.start]}[secret {span.name}]{text[span.end :]}"
        return text

    def _refresh(self) -> None:
        values = tuple(self._known())
        if values == self._values:
            return
        self._search = Search((known.name, known.value) for known in values)
        self._marks = _marks(known.name for known in values)
        self._cleaned.clear()
        self._kept, self._values = 0, values
        self._version += 1

    def _keep(self, text: str, cleaned: str) -> None:
        self._cleaned[text] = cleaned
        self._kept += len(text)
        while self._kept > MOST_KEPT:
            self._kept -= len(self._cleaned.popitem(last=False)[0])


def _settled(clean: Callable[[str], str], text: str) -> str:
    """Cleaned until nothing changes: a mark is an end of a word, so what stood beside a secret may be one now."""
    while (cleaned := clean(text)) != text:
        text = cleaned
    return text


def _marks(names: Iterable[str]) -> re.Pattern[str]:
    known = "|".join(re.escape(name) for name in sorted(set(names), key=len, reverse=True)) or "(?!)"
    kinds = "|".join(shapes.KINDS)
    return re.compile(rf"(\[secret (?:{known})\]|\[redacted (?:{kinds})\])")
