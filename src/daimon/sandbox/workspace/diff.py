"""What is different between two views of one tree.

Only paths that a layer of one side alone touches are looked at, and, where such a layer hides a directory, everything below it on both
sides. Files of the owner's are hashed only where there is a question. That a file was written and is the same again is no change.
"""

import difflib
from collections.abc import Iterator

from daimon.abi.workspace import Change, Entry
from daimon.sandbox.workspace.lines import split
from daimon.sandbox.workspace.stack import Sheet, Source, View

LARGEST_FILE, LARGEST_TEXT, MOST_LINES = 256 << 10, 4 << 20, 5_000


def changes(before: View, after: View) -> tuple[Change, ...]:
    """Sorted by path."""
    return tuple(change for path in sorted(touched(before, after)) if (change := _change(before, after, path)) is not None)


def touched(before: View, after: View) -> set[str]:
    apart = _apart(before, after)
    found = {path for sheet in apart for path in sheet.manifest.items}
    hidden = {path for sheet in apart for path, item in sheet.manifest.items.items() if item.covers}
    for path in hidden:
        found.update(below for view in (before, after) if view.is_directory(path) for below in view.below(path))
    return found


def _apart(before: View, after: View) -> list[Sheet]:
    """The layers that the two do not share at their lower ends."""
    one, other = [*before.sheets], [*after.sheets]
    while one and other and one[-1].name == other[-1].name:
        one.pop()
        other.pop()
    return one + other


def _change(before: View, after: View, path: str) -> Change | None:
    old, new = before.source(path), after.source(path)
    if _is_surely_same(old, new):
        return None
    found = Change(path, before.hashed(path, old) if old else None, after.hashed(path, new) if new else None)
    return None if is_same(found.before, found.after) else found


def _is_surely_same(old: Source | None, new: Source | None) -> bool:
    if old is None or new is None:
        return old is new
    return (old.sheet and old.sheet.name) == (new.sheet and new.sheet.name)


def is_same(one: Entry | None, other: Entry | None) -> bool:
    """A file that cannot be read is like no other."""
    if one is not None and one.kind == "file" and not one.hash:
        return False
    return one == other


def text(before: View, after: View, found: tuple[Change, ...]) -> str:
    """As unified text; what is left out is said."""
    pieces: list[str] = []
    size = 0
    for number, change in enumerate(found):
        piece = "".join(_text(before, after, change))
        if size + len(piece) > LARGEST_TEXT:
            pieces.append(f"[{len(found) - number} more paths changed; the text would be longer than {LARGEST_TEXT} characters]\n")
            break
        pieces.append(piece)
        size += len(piece)
    return "".join(pieces)


def _text(before: View, after: View, change: Change) -> Iterator[str]:
    old_name = f"a/{change.path}" if change.before else "/dev/null"
    new_name = f"b/{change.path}" if change.after else "/dev/null"
    if said := _in_words(change):
        yield f"{change.what}: {change.path} ({said})\n"
        return
    if change.before and change.after and change.before.mode != change.after.mode:
        yield f"mode of {change.path}: {change.before.mode:o} -> {change.after.mode:o}\n"
    old, new = _lines(before, change.path, change.before), _lines(after, change.path, change.after)
    if isinstance(old, str) or isinstance(new, str):
        reason = old if isinstance(old, str) else new
        yield f"--- {old_name}\n+++ {new_name}\n[not shown: {reason}]\n"
        return
    for line in difflib.unified_diff(old, new, old_name, new_name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _in_words(change: Change) -> str:
    """For what has no lines."""
    sides = [side for side in (change.before, change.after) if side is not None]
    if all(side.kind == "file" for side in sides):
        return ""
    said = [f"link to {side.hash}" if side.kind == "link" else f"{side.kind}, mode {side.mode:o}" for side in sides]
    return " -> ".join(said)


def _lines(view: View, path: str, entry: Entry | None) -> list[str] | str:
    """Or why there are none."""
    if entry is None:
        return []
    if entry.size > LARGEST_FILE:
        return f"{entry.size} bytes, more than {LARGEST_FILE}"
    try:
        with view.file(path) as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as failure:
        return f"cannot be read, {failure.strerror or 'gone'}"
    if b"\0" in data:
        return "binary"
    lines = split(data.decode("utf-8", "surrogateescape"))
    return lines if len(lines) <= MOST_LINES else f"{len(lines)} lines, more than {MOST_LINES}"
