"""A letter: a message of the delivery benchmark that can be told from all others wherever it is seen.

    say telegram-3-17 long 120          what is handed in: the 17th letter to the third place, to be answered in 120 paragraphs
    telegram-3-17.0 …                   what is answered: every paragraph, and the name of every file, carries a mark

So whoever reads a place sees which parts of which letters are there, how often, and in which order.
"""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["short", "long", "file"]
ORDER = re.compile(r"say ([a-z]+)-(\d+)-(\d+) (short|long|file) (\w+)")
MARK = re.compile(r"([a-z]+)-(\d+)-(\d+)\.(\d+)(?!\d)")
WORDS = "and some words more, so that it takes a while to read all of them."


@dataclass(frozen=True, slots=True)
class Letter:
    channel: str
    place: int
    n: int
    kind: Kind = "short"
    more: str = "0"
    """How many paragraphs, or the hash of the file."""

    @property
    def name(self) -> str:
        return f"{self.channel}-{self.place}-{self.n}"

    @property
    def order(self) -> str:
        """What is handed in."""
        return f"say {self.name} {self.kind} {self.more}"

    @property
    def marks(self) -> tuple[int, ...]:
        """What must be seen of it."""
        return tuple(range({"short": 1, "file": 2, "long": int(self.more) if self.kind == "long" else 0}[self.kind]))

    @property
    def text(self) -> str:
        paragraphs = self.marks if self.kind == "long" else (0,)
        return "\n\n".join(f"{self.name}.{k} {WORDS}" for k in paragraphs)

    @property
    def file_name(self) -> str:
        return f"{self.name}.1.txt"


def ordered(text: str) -> Letter | None:
    found = ORDER.search(text)
    if found is None:
        return None
    channel, place, n, kind, more = found.groups()
    return Letter(channel, int(place), int(n), kind, more)  # type: ignore[arg-type]
