"""A time as somebody said it, before anybody looked at a clock.

`timewords` finds moments in a text, `when` turns them into dates. Between them stands only this: pieces that hold numbers, and no words of
any language.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal


class DayPart(Enum):
    """A stretch of the day: the hour that it means alone, and the hours that fit in it."""

    MORNING = (9, range(12))
    AFTERNOON = (15, range(12, 19))
    EVENING = (19, range(16, 24))
    NIGHT = (20, range(18, 24))

    @property
    def hour(self) -> int:
        return self.value[0]

    @property
    def hours(self) -> range:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Offset:
    """From now: elapsed seconds, and days and months on the calendar."""

    seconds: int = 0
    days: int = 0
    months: int = 0


@dataclass(frozen=True, slots=True)
class Clock:
    hour: int
    minute: int = 0
    half: Literal["am", "pm", "24"] | None = None
    """None: one of two, as in `at 5`."""


@dataclass(frozen=True, slots=True)
class Midnight:
    pass


@dataclass(frozen=True, slots=True)
class DaysAhead:
    days: int


@dataclass(frozen=True, slots=True)
class Weekday:
    day: int
    """Monday is 0."""
    which: Literal["", "this", "next"] = ""


@dataclass(frozen=True, slots=True)
class Date:
    day: int
    month: int | None = None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Vague:
    """Words of time that are not one moment: `later`, `by friday`, `05/01`."""

    is_repeated: bool = False


Piece = Offset | Clock | Midnight | DayPart | DaysAhead | Weekday | Date | Vague
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Moment:
    pieces: tuple[Piece, ...]
    spans: tuple[Span, ...]
    """Where it stood in the text. More than one span: several times are named, and nobody can say which is meant."""

    @property
    def is_definite(self) -> bool:
        return len(self.spans) == 1 and not any(isinstance(piece, Vague) for piece in self.pieces)

    @property
    def is_repeated(self) -> bool:
        return any(isinstance(piece, Vague) and piece.is_repeated for piece in self.pieces)

    def cut_from(self, text: str) -> str:
        """What is left of the text without the time."""
        for start, end in reversed(self.spans):
            text = f"{text[:start].rstrip(' ,')} {text[end:].lstrip(' ,.')}"
        return text.strip(" ,.;!?")
