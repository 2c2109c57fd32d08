"""What of a result the model sees, and what is held: kept out of its window, under a handle.

A result is recorded whole. What the model is shown of it is made here, from the recorded outcome alone, so that a replay gives the same
bytes and a changed setting does not show later what was held before (`Happened.hold`).

With `strangers`, no word of a stranger is shown. Every text, number and flag whose label is not trusted gives way to a handle:

    {"held": "h:TURN:INTENT.3", "is": "text", "from": "mail", "characters": 3000}

Names of fields are words too: in an object whose label is not trusted, only names are shown that a label names (`/*/subject`); the rest of
it is held together as `(other)`, or the whole object if no name is known. What is left is shape: how many entries, how long a text is, to
one digit. The label of what is shown is the join of what is really shown, so the model's context stays clean.

With `long`, texts of strangers beyond `LONG` characters are held and nothing else; that spares the window, and the label stays as it was.

A handle names the intent by its key, which a fork copies, and counts the held values of its outcome. What may be had for a handle, and by
whom, is decided in `kernel/held.py`.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from daimon.abi.fields import DEEPEST, label_at, leaves, parts
from daimon.abi.ids import Key, StepRef
from daimon.abi.judgement import Held
from daimon.abi.label import Author, Label, Origin, join
from daimon.abi.message import Text, ToolResult
from daimon.abi.step import Happened

LONG = 2_000
MOST_HANDLES = 1_000
"""A result with more to hold is held as one."""
OTHER = "(other)"
EXPLAINED = """What others wrote is held back from you. In its place you see {"held": "h:…"}: a handle. Pass it on as an argument of a tool,
or as {{h:…}} inside of a longer argument or of your answer: the words take its place there, and you do not see them. To learn something
about them, use the tool `examine`."""
_HANDLE = re.compile(r"h:([a-z]\w{1,60}:\d{1,9})\.(\d{1,6})", re.ASCII)
_INSIDE = re.compile(r"\{\{(" + _HANDLE.pattern + r")\}\}", re.ASCII)
_PLAIN = re.compile(r"[a-z][a-z_]{0,31}", re.ASCII)
"""A code or a kind of source, as programs write them."""


def shown(key: Key, outcome: Happened) -> ToolResult:
    """What the model sees. The key is that of the intent."""
    return _split(key, outcome)[0]


def held(key: Key, outcome: Happened) -> tuple[Held, ...]:
    """What it does not, in the order of the handles."""
    return _split(key, outcome)[1]


def handles(value: JsonValue) -> Iterator[str]:
    """All that are named in it: a text that is one, or one in braces inside of a longer text."""
    for leaf in leaves(value):
        if isinstance(leaf.value, str):
            yield from [leaf.value] if _HANDLE.fullmatch(leaf.value) else (found[1] for found in _INSIDE.finditer(leaf.value))


def place(handle: str) -> tuple[StepRef, int]:
    """The intent that it names, and which of the held values, from 1."""
    found = _HANDLE.fullmatch(handle)
    if found is None:
        raise ValueError(f"{handle!r} is no handle")
    return StepRef.parse(found[1]), int(found[2])


def filled(value: JsonValue, known: dict[str, Held]) -> JsonValue:
    """With each known handle replaced by what it stands for. What takes its place is not looked at again."""
    match value:
        case dict():
            return {name: filled(inner, known) for name, inner in value.items()}
        case list():
            return [filled(inner, known) for inner in value]
        case str() if value in known:
            return known[value].text
        case str():
            return _INSIDE.sub(lambda found: known[found[1]].text if found[1] in known else found[0], value)
        case _:
            return value


def is_fit_to_show(label: Label) -> bool:
    return label.is_trusted or label.is_limited


@dataclass(slots=True)
class _Shelf:
    """What was put aside of one result."""

    key: Key
    held: list[Held] = field(default_factory=list)

    def put(self, value: JsonValue, label: Label) -> JsonValue:
        if len(self.held) == MOST_HANDLES:
            raise _TooMany
        kept = Held(f"h:{self.key}.{len(self.held) + 1}", value, label)
        self.held.append(kept)
        return {"held": kept.handle, "is": _kind(value), "from": _source(label), "characters": _about(len(kept.text))}


class _TooMany(Exception):
    """More to hold than there are handles for."""


def _split(key: Key, outcome: Happened) -> tuple[ToolResult, tuple[Held, ...]]:
    result = outcome.result
    if outcome.hold == "never" or is_fit_to_show(result.label):
        return result, ()
    return _long(key, result) if outcome.hold == "long" else _veiled(key, result)


# -- all words of strangers --------------------------------------------------------------------------------------------


def _veiled(key: Key, result: ToolResult) -> tuple[ToolResult, tuple[Held, ...]]:
    body, shelf = _body(result), _Shelf(key)
    veil = _Veil(shelf, {} if "truncated" in body else result.labels, result.label)
    shape = Label.of(Origin(Author.SERVICE, "kernel"), readers=result.label.readers)
    try:
        seen = _veiled_body(body, veil)
    except _TooMany:
        shelf, veil.labels_shown = _Shelf(key), []
        seen = {"ok": not result.is_error, "data": shelf.put(body, result.label)}
    if attachments := len(result.parts) - 1:
        seen["attachments_not_shown"] = attachments
    return ToolResult(result.call, result.tool, (_text(seen),), result.is_error, join([*veil.labels_shown, shape])), tuple(shelf.held)


def _veiled_body(body: dict[str, JsonValue], veil: "_Veil") -> dict[str, JsonValue]:
    error = body.get("error")
    if not isinstance(error, dict):
        return body | {"data": veil.over(body.get("data"), ())}
    code = error.get("code")
    plain = code if isinstance(code, str) and _PLAIN.fullmatch(code) else "failed"
    return {
        "ok": False,
        "error": {"code": plain, "message": veil.over(error.get("message"), ()), "retryable": error.get("retryable") is True},
    }


@dataclass(slots=True)
class _Veil:
    shelf: _Shelf
    labels: dict[str, Label]
    whole: Label
    labels_shown: list[Label] = field(default_factory=list)

    def over(self, value: JsonValue, path: tuple[str, ...]) -> JsonValue:
        label = label_at(self.labels, path, self.whole)
        if value is None or value in ("", [], {}):
            return value
        if len(path) == DEEPEST:
            return self.shelf.put(value, self.whole)
        if isinstance(value, dict):
            return self._over_object(value, path, label)
        if isinstance(value, list):
            return [self.over(inner, (*path, str(i))) for i, inner in enumerate(value)]
        if is_fit_to_show(label):
            self.labels_shown.append(label)
            return value
        return self.shelf.put(value, label)

    def _over_object(self, value: dict[str, JsonValue], path: tuple[str, ...], label: Label) -> JsonValue:
        if is_fit_to_show(label):
            self.labels_shown.append(label)
            return {name: self.over(inner, (*path, name)) for name, inner in value.items()}
        named = {name: self.over(inner, (*path, name)) for name, inner in value.items() if self._is_named(path, name)}
        rest: dict[str, JsonValue] = {name: inner for name, inner in value.items() if name not in named}
        if not rest:
            return named
        inside = join([label, *(label_at(self.labels, leaf.path, self.whole) for leaf in leaves(rest, path))])
        kept = self.shelf.put(rest, inside)
        return named | {OTHER: kept} if named else kept

    def _is_named(self, path: tuple[str, ...], name: str) -> bool:
        """Does a label name it? Then the name is the tool's word, not the stranger's."""
        for pattern in self.labels:
            want = parts(pattern)
            if len(want) > len(path) and want[len(path)] == name and all(w in ("*", p) for w, p in zip(want, path, strict=False)):
                return True
        return False


# -- long texts of strangers -------------------------------------------------------------------------------------------


def _long(key: Key, result: ToolResult) -> tuple[ToolResult, tuple[Held, ...]]:
    body, shelf = _body(result), _Shelf(key)
    labels = {} if "truncated" in body else result.labels

    def cut(value: JsonValue, path: tuple[str, ...]) -> JsonValue:
        match value:
            case dict() if len(path) < DEEPEST:
                return {name: cut(inner, (*path, name)) for name, inner in value.items()}
            case list() if len(path) < DEEPEST:
                return [cut(inner, (*path, str(i))) for i, inner in enumerate(value)]
            case str() if len(value) > LONG and not is_fit_to_show(label := label_at(labels, path, result.label)):
                return shelf.put(value, label)
            case _:
                return value

    try:
        seen = body | {"data": cut(body.get("data"), ())} if "data" in body else body
    except _TooMany:
        shelf = _Shelf(key)
        seen = {"ok": True, "data": shelf.put(body, result.label)}
    if not shelf.held:
        return result, ()
    return ToolResult(result.call, result.tool, (_text(seen), *result.parts[1:]), result.is_error, result.label, result.labels), tuple(
        shelf.held
    )


# -- pieces ------------------------------------------------------------------------------------------------------------


def _body(result: ToolResult) -> dict[str, JsonValue]:
    """What the kernel wrote for the model (`kernel/render.py`)."""
    first = result.parts[0] if result.parts else None
    text = first.text if isinstance(first, Text) else ""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    return body if isinstance(body, dict) else {"ok": not result.is_error, "data": text, "truncated": True}


def _text(body: dict[str, JsonValue]) -> Text:
    return Text(json.dumps(body, ensure_ascii=False))


def _kind(value: JsonValue) -> str:
    match value:
        case bool():
            return "yes_no"
        case int() | float():
            return "number"
        case dict():
            return "object"
        case list():
            return "list"
        case _:
            return "text"


def _source(label: Label) -> str:
    """The kind of place that it comes from. No more: an address may be a sentence."""
    for origin in label.origins:
        kind = origin.source.partition(":")[0]
        if origin.author in (Author.STRANGER, Author.AGENT) and _PLAIN.fullmatch(kind):
            return kind
    return "elsewhere"


def _about(characters: int) -> int:
    """Rounded up to one digit: an exact length would be a number of the stranger's choosing."""
    size = int("1" + "0" * (len(str(characters)) - 1))
    return -(-characters // size) * size
