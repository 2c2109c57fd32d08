"""Two edits of one text become one, if they do not touch.

Each side is a list of hunks: lines of the origin that it replaces by others. Hunks of both sides that overlap, or that lie next to each
other, are one edit only if they say the same; otherwise there is no answer, and nobody guesses one.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_LINES = 5_000
"""Finding what is the same takes time with the square of them, in the worst of cases; and somebody hostile may choose the case."""


@dataclass(frozen=True, slots=True)
class Hunk:
    start: int
    end: int
    lines: tuple[str, ...]


def split(text: str) -> list[str]:
    """Each line with its end; the last one may have none."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def merged(origin: str, ours: str, theirs: str) -> str | None:
    """None: they touch, or there are too many lines to tell in good time."""
    before = split(origin)
    sides = split(ours), split(theirs)
    if max(len(before), *map(len, sides)) > MOST_LINES:
        return None
    one, other = (_hunks(before, side) for side in sides)
    together = _together(one, other)
    if together is None:
        return None
    made: list[str] = []
    at = 0
    for hunk in together:
        made += [*before[at : hunk.start], *hunk.lines]
        at = hunk.end
    return "".join([*made, *before[at:]])


def _hunks(before: list[str], after: list[str]) -> list[Hunk]:
    codes = SequenceMatcher(None, before, after, autojunk=len(before) > 2_000).get_opcodes()
    return [Hunk(start, end, tuple(after[first:last])) for tag, start, end, first, last in codes if tag != "equal"]


def _together(one: list[Hunk], other: list[Hunk]) -> list[Hunk] | None:
    made: list[Hunk] = []
    for hunk in sorted({*one, *other}, key=lambda hunk: (hunk.start, hunk.end)):
        if made and hunk.start <= made[-1].end:
            return None
        made.append(hunk)
    return made
