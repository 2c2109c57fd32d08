"""Edits and patches of files: what is there is read, changed as text, and written back in its own encoding.

A patch of several files is made ready in memory first; nothing is written before every hunk fits. If a write then fails, what was written
before it is put back. Only a crash in between can leave some files changed and others not: whoever asks then hears that it is unclear.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Replacement, Trace, Written
from daimon.sandbox.files import editing, patching, text
from daimon.sandbox.files.content import MOST, Content, Large, Stamp
from daimon.sandbox.files.failures import named, told
from daimon.sandbox.files.patching import NOTHING, Change
from daimon.sandbox.files.tree import Spot, Tree
from daimon.sandbox.files.writing import Wrote, current, put, spot_of

SMALL = 4_096


def edit(tree: Tree, path: str, replacements: Sequence[Replacement], most: int) -> Wrote:
    with spot_of(tree, path) as spot:
        old = _there(spot, most)
        if most < MOST and len(old.data) > SMALL and not editing.may_hit(old.data, replacements):
            raise Large  # to say what comes nearest takes a while
        data = _changed(old, spot.path, lambda having: editing.replaced(having, replacements, spot.path))
        _must_fit(data, most)
        return put(spot, data, old)


def was_edited(tree: Tree, path: str, replacements: Sequence[Replacement], most: int) -> Trace:
    with spot_of(tree, path) as spot:
        having = _text(current(spot, most))
    return "unclear" if having is None else editing.trace(having, replacements)


@dataclass(frozen=True, slots=True)
class _Ready:
    spot: Spot
    old: Content | None
    data: bytes | None
    """None: it is to be removed."""


def patch(tree: Tree, words: str, most: int) -> tuple[Wrote, ...]:
    changes = sorted(patching.parsed(words), key=lambda change: change.source == NOTHING)  # directories are made last
    with ExitStack() as stack:
        ready = []
        for change in changes:
            spot = stack.enter_context(spot_of(tree, change.path, makes_folders=change.source == NOTHING))
            ready.append(_ready(change, spot, most))
        done: list[Wrote] = []
        try:
            for each in ready:
                done.append(_written(each))
        except BaseException:
            _take_back(tree, ready[: len(done)])
            raise
        return tuple(done)


def was_patched(tree: Tree, words: str, most: int) -> Trace:
    found: set[Trace] = set()
    for change in patching.parsed(words):
        having: str | None = None
        with suppress(ToolFailed), spot_of(tree, change.path) as spot:
            having = _text(current(spot, most))
        found.add(patching.trace(change, having))
    return found.pop() if len(found) == 1 else "unclear"


def _ready(change: Change, spot: Spot, most: int) -> _Ready:
    if change.source == NOTHING:
        if spot.opened is not None:
            raise ToolFailed("exists", f"the patch makes {named(spot.path)}, but it is there already; nothing was changed")
        return _Ready(spot, None, patching.applied(change, "").encode())
    old = _there(spot, most)
    data = _changed(old, spot.path, lambda having: patching.applied(change, having))
    _must_fit(data, most)
    return _Ready(spot, old, None if change.target == NOTHING else data)


def _written(each: _Ready) -> Wrote:
    if each.data is not None:
        return put(each.spot, each.data, each.old)
    assert each.old is not None
    try:
        os.unlink(each.spot.name, dir_fd=each.spot.folder)
    except OSError as error:
        raise told(error, each.spot.path, "remove") from error
    return Wrote(Written(path=each.spot.path, what="removed", version=each.old.version), Stamp.of(each.old.about))


def _take_back(tree: Tree, done: list[_Ready]) -> None:
    """As far as it goes: whoever made the first write fail may make this one fail too."""
    for each in done:
        with suppress(ToolFailed, OSError):
            if each.old is None:
                os.unlink(each.spot.name, dir_fd=each.spot.folder)
                continue
            with spot_of(tree, each.spot.path) as spot:
                put(spot, each.old.data, current(spot, MOST))


def _there(spot: Spot, most: int) -> Content:
    old = current(spot, most)
    if old is None:
        raise ToolFailed("not_found", f"there is no file {named(spot.path)} to change; write it whole")
    if not old.is_stable:
        raise ToolFailed("unstable", f"{named(spot.path)} is being written by somebody else just now; try again", retryable=True)
    return old


def _text(content: Content | None) -> str | None:
    found = None if content is None else text.decoded(content.data)
    return None if found is None else found.text


def _changed(old: Content, path: str, change: Callable[[str], str]) -> bytes:
    having = text.decoded(old.data)
    if having is None:
        raise ToolFailed("not_text", f"{named(path)} is {text.kind(old.data)}, not text; it can only be written whole")
    data = text.encoded(change(having.text), having.encoding)
    if data is None:
        raise ToolFailed("bad_text", f"{named(path)} is {having.encoding}, which lacks a character of the new text; write the file whole")
    return data


def _must_fit(data: bytes, most: int) -> None:
    if len(data) > MOST:
        raise ToolFailed("too_large", f"this would make {len(data):,} bytes, more than the {MOST:,} that a file may have here")
    if len(data) > most:
        raise Large
