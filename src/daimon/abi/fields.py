"""The single fields of a structured value: where they stand, and whose words each holds.

A *leaf* is a text, number, flag or null somewhere in JSON. It is addressed by a JSON pointer. Labels are kept by pointer *patterns*: `*`
stands for any one index or key, so that a list of a thousand mails needs one row a field. The most exact pattern decides; the pattern ""
speaks of all that no other names. Without any, the label of the whole value counts, which is the join of everything in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.label import Label

DEEPEST = 64
Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Leaf:
    path: tuple[str, ...]
    value: Scalar

    @property
    def field(self) -> str:
        """The nearest name above it that is not an index."""
        return next((part for part in reversed(self.path) if not part.isdecimal()), "")


def leaves(value: JsonValue, path: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """In order. What is nested deeper than anybody reads is left out."""
    if len(path) > DEEPEST:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, str(i)))
    else:
        yield Leaf(path, value)


def pointer(path: tuple[str, ...]) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)


def parts(text: str) -> tuple[str, ...]:
    """A pointer or pattern, taken apart."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])


def label_at(labels: Mapping[str, Label], path: tuple[str, ...], whole: Label) -> Label:
    """The label of what stands at this place: that of the longest pattern that leads to it, of equals the one with fewer stars."""
    best, found = (-1, 0), whole
    for pattern, label in labels.items():
        want = parts(pattern)
        if len(want) <= len(path) and all(w in ("*", p) for w, p in zip(want, path, strict=False)):
            rank = (len(want), -sum(w == "*" for w in want))
            if rank > best:
                best, found = rank, label
    return found
