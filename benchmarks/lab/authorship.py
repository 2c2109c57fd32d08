"""A result of a foreign tool as Daimon's: plain JSON, and whose words each leaf of it holds.

The harness says who wrote each *text* of a result, with the field that it stood in. A leaf has the label of the fragment with the same
field and text; where several fit, the least trusted one counts, and where none does, a stranger wrote it. A null holds nobody's words.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import BaseModel, JsonValue

from daimon.abi.fields import pointer
from daimon.abi.label import Author, Label, Origin, join
from lab.harness import Harness
from lab.naming import Naming

Path = tuple[str | int, ...]
"""Keys and indices: unlike in a pointer, the two can be told apart."""


@dataclass(frozen=True, slots=True)
class Leaf:
    path: Path
    field: str
    """The nearest key above it that is written like a name."""
    text: str
    """As the harness writes it."""
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Told:
    """A result that Daimon can be given."""

    data: JsonValue
    labels: dict[str, Label]
    by_path: dict[Path, Label]


def tell(harness: Harness, tool: str, raw: Any, me: str, made_under: Label, naming: Naming) -> Told:
    """`made_under` is what the call was decided under: what an agent wrote carries it."""
    authors: dict[tuple[str, str], set[str]] = defaultdict(set)
    for fragment in harness.fragments(tool, raw, 1, me):
        authors[fragment.field, fragment.text].add(fragment.author)
    source = f"tool:{naming.tool(tool)}"
    by_path = {}
    for leaf in leaves(raw):
        if leaf.value is not None:
            found = [_label(author, leaf.field in harness.structural, made_under, source) for author in authors[leaf.field, leaf.text]]
            by_path[leaf.path] = least_trusted(found or [Label.of(Origin(Author.STRANGER, source))])
    is_foul = not all(label.is_trusted for label in by_path.values()) and not harness.tool(tool).trusted_output
    labels = patterns({_renamed(path, naming): label for path, label in by_path.items()})
    labels[""] = Label.of(Origin(Author.STRANGER if is_foul else Author.SERVICE, source))
    return Told(plain(raw, naming), labels, by_path)


def _label(author: str, is_structural: bool, made_under: Label, source: str) -> Label:
    match author:
        case "user":
            return Label.of(Origin(Author.OWNER, source))
        case "service":
            return Label.of(Origin(Author.SERVICE, source))
        case "other" | "agent" if is_structural:
            return Label.of(Origin(Author.SERVICE, source))
        case "agent":
            return made_under
        case _:
            return Label.of(Origin(Author.STRANGER, source))


def least_trusted(labels: list[Label]) -> Label:
    if all(label.is_trusted for label in labels):
        return join(labels)
    return join(label for label in labels if not label.is_trusted)


def leaves(value: Any, path: Path = (), field: str = "") -> Iterator[Leaf]:
    """In the order in which the harness walks."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            is_name = isinstance(key, str) and key.isidentifier()
            yield from leaves(inner, (*path, str(key)), key if is_name else field)
    elif isinstance(value, list | tuple | set):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, i), field)
    else:
        yield Leaf(path, field, _text(value), _scalar(value))


def plain(value: Any, naming: Naming) -> JsonValue:
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if isinstance(value, Mapping):
        return {naming.field(str(key)): plain(inner, naming) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(inner, naming) for inner in value]
    return _scalar(value)


def _scalar(value: Any) -> str | int | float | bool | None:
    if isinstance(value, Enum):
        return _scalar(value.value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")[:16]
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _renamed(path: Path, naming: Naming) -> Path:
    return tuple(naming.field(part) if isinstance(part, str) else part for part in path)


def patterns(by_path: Mapping[Path, Label]) -> dict[str, Label]:
    """Items of lists under one `*` where their labels agree; where they do not, it says the worst, and those that are better are named."""
    groups: dict[str, dict[str, Label]] = defaultdict(dict)
    for path, label in by_path.items():
        starred = pointer(tuple("*" if isinstance(part, int) else part for part in path))
        groups[starred][pointer(tuple(map(str, path)))] = label
    found: dict[str, Label] = {}
    for starred, named in groups.items():
        if starred:
            found[starred] = worst = least_trusted(list(named.values()))
            found |= {each: label for each, label in named.items() if label != worst}
    return found
