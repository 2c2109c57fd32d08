"""Reading a file for a model: text in parts, images as such, of all else what it is."""

import hashlib
import os
from dataclasses import dataclass

from daimon.abi.files import Binary, Page, Picture, Version, Window
from daimon.sandbox.files import page, text
from daimon.sandbox.files.content import MOST, UNSTABLE, Content, Stamp, read_at, version_by_stat, whole
from daimon.sandbox.files.tree import Tree

MOST_OF_PICTURE = 3 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Read:
    result: Page | Picture | Binary
    stamp: Stamp


def read(tree: Tree, path: str, window: Window, most: int) -> Read:
    opened, about, real = tree.open_file(path)
    try:
        if about.st_size > MOST:
            return Read(_large(opened, about, real, window), Stamp.of(about))
        content = whole(opened, about, real, most)
        return Read(_told(content, real, window), Stamp.of(content.about))
    finally:
        os.close(opened)


def _told(content: Content, path: str, window: Window) -> Page | Picture | Binary:
    data, version = content.data, content.version
    media = text.picture(data)
    if media and len(data) <= MOST_OF_PICTURE and window.unit == "lines":
        return Picture(path=path, version=version, media_type=media, data=data)
    found = None if media else text.decoded(data)
    unstable = () if content.is_stable else (UNSTABLE,)
    if found is None:
        notes = (*unstable, f"an image of more than {MOST_OF_PICTURE:,} bytes is not shown") if media else unstable
        digest = hashlib.sha256(data).hexdigest()
        return Binary(path=path, version=version, kind=text.kind(data), size=len(data), hash=digest, notes=notes)
    part = page.lines(found.text, window) if window.unit == "lines" else _bytes(data, window, found.encoding)
    notes = (*((found.note,) if found.note else ()), *part.notes, *unstable)
    return Page(path=path, version=version, text=part.text, encoding=found.encoding, size=len(data), part=part.said, notes=notes)


def _bytes(data: bytes, window: Window, encoding: str) -> page.Part:
    start = min(max(window.offset, 0), len(data))
    return page.bytes_of(data[start : start + min(window.limit, page.MOST_CHARACTERS)], start, len(data), encoding)


def _large(opened: int, about: os.stat_result, path: str, window: Window) -> Page | Binary:
    """One that is too large to be read whole: its bytes can be seen, its lines not counted."""
    version, size, head = version_by_stat(about), about.st_size, read_at(opened, 0, text.HEAD)
    note = f"it has {size:,} bytes, more than the {MOST:,} that are read by lines: say which bytes, or search it"
    encoding = _large_encoding(head)
    if not encoding:
        return Binary(path=path, version=version, kind=text.kind(head), size=size, notes=(note,))
    start = 0 if window.unit == "lines" else min(max(window.offset, 0), size)
    limit = min(page.MOST_CHARACTERS if window.unit == "lines" else window.limit, page.MOST_CHARACTERS)
    part = page.bytes_of(read_at(opened, start, limit), start, size, encoding)
    return Page(path=path, version=Version(version), text=part.text, encoding=encoding, size=size, part=part.said, notes=(note,))


def _large_encoding(head: bytes) -> str:
    """By its beginning, whose end may be half a character."""
    found = next((found for cut in range(4) if (found := text.decoded(head[: len(head) - cut])) is not None), None)
    return "" if found is None else found.encoding
