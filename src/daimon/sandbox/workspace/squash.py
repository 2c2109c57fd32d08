"""Many layers become one, by links.

The new layer says of each path what the topmost of the old ones says. Whiteouts stay, since the base may have what they hide. A directory
that the old layers hid in part, by an opaque one or by something else further down, is opaque in the new one. What the manifests
remember of the base is the oldest memory of each path. What is linked must never be written again: files of layers that somebody may
still write into are copied, and such layers are only taken when there is no other way.
"""

from collections.abc import Mapping

from daimon.sandbox.workspace import layer, place
from daimon.sandbox.workspace.build import Builder, Piece
from daimon.sandbox.workspace.layer import Item
from daimon.sandbox.workspace.manifest import Manifest
from daimon.sandbox.workspace.rows import Layer
from daimon.sandbox.workspace.shelf import Shelf
from daimon.sandbox.workspace.stack import Sheet

AT = 64
"""So many layers are squashed."""


def sealed_end(stack: tuple[str, ...], rows: Mapping[str, Layer]) -> tuple[str, ...]:
    """The lowest layers, up to the first that somebody may write into."""
    end = len(stack)
    while end and rows[stack[end - 1]].sealed:
        end -= 1
    return stack[end:]


def shortened(stack: tuple[str, ...], rows: Mapping[str, Layer]) -> tuple[str, ...]:
    """With what a squash made in the place of what it was made of."""
    for row in rows.values():
        if row.replaces and stack[-len(row.replaces) :] == row.replaces:
            return (*stack[: -len(row.replaces)], row.name)
    return stack


def shortest(stack: tuple[str, ...], rows: Mapping[str, Layer]) -> tuple[str, ...]:
    """Also where what a squash made was squashed again."""
    while (short := shortened(stack, rows)) != stack:
        stack = short
    return stack


def squash(shelf: Shelf, old: tuple[Sheet, ...], name: str) -> None:
    """On disk for good when it returns."""
    made = union(old)
    first = {path: sheet for sheet in reversed(old) for path in sheet.manifest.items}
    with place.opened(old[0].tree) as top:
        mode = place.about(top, "")
    assert mode is not None
    shelf.make(name, mode.st_mode & 0o7777)
    builder = Builder(shelf.tree(name), lambda _: 0o755, shelf.owner())
    with place.opened(shelf.tree(name)) as top:
        for path in sorted(made.items):
            _put(builder, top, path, made.items[path], first[path])
    if not all(sheet.is_sealed for sheet in old):
        made.items = shelf.live(name, is_hashed=True).manifest.items  # what was copied may have changed since it was listed
    shelf.adopt(name, made)
    layer.sync(shelf.path(name))


def _put(builder: Builder, top: int, path: str, item: Item, sheet: Sheet) -> None:
    match item.kind:
        case "whiteout":
            builder.whiteout(top, path)
        case "directory":
            builder.directory(top, path, item.mode, is_opaque=item.is_opaque)
        case _:
            builder.put(top, path, Piece(item.entry(), sheet.tree, path, may_link=sheet.is_sealed))


def union(old: tuple[Sheet, ...]) -> Manifest:
    """Topmost first."""
    made = Manifest()
    pending: list[tuple[str, tuple[Sheet, ...]]] = [("", old)]
    while pending:
        where, sheets = pending.pop()
        for name in {name for sheet in sheets for name in sheet.manifest.children(where)}:
            path = f"{where}/{name}" if where else name
            item, parts = _joined(path, sheets)
            made.items[path] = item
            if parts:
                pending.append((path, parts))
    for sheet in old:
        made.base.update(sheet.manifest.base)
    return made


def _joined(path: str, sheets: tuple[Sheet, ...]) -> tuple[Item, tuple[Sheet, ...]]:
    """What is there, and of which layers it is put together if it is a directory."""
    found = [(sheet, sheet.manifest.items[path]) for sheet in sheets if path in sheet.manifest.items]
    top = found[0][1]
    if top.kind != "directory":
        return top, ()
    parts: list[Sheet] = []
    for sheet, item in found:
        if item.kind != "directory":
            return Item("directory", top.mode, is_opaque=True), tuple(parts)
        parts.append(sheet)
        if item.is_opaque:
            return Item("directory", top.mode, is_opaque=True), tuple(parts)
    return top, tuple(parts)
