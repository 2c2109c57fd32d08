"""From lines that a program found to words that a model is told: read from the tree, with context, cut."""

import os
from collections.abc import Iterable
from itertools import groupby

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Hit, Query
from daimon.sandbox.files.content import read_at
from daimon.sandbox.files.searching import Spotted
from daimon.sandbox.files.tree import Tree

MOST_OF_LINE, MOST_CHARACTERS = 300, 40_000
REACH = 8_192
"""Context is looked for so far before and behind a line."""


def told(tree: Tree, spotted: Iterable[Spotted], query: Query) -> tuple[list[Hit], bool]:
    """The words of as many lines as may be told, and whether there are more. What cannot be opened any more is left out."""
    hits, room = list[Hit](), MOST_CHARACTERS
    for path, group in groupby(spotted, key=lambda one: one.path):
        try:
            opened, _, real = tree.open_file(path)
        except ToolFailed:
            continue
        try:
            if real != path:
                continue
            for one in group:
                if len(hits) >= query.most or room < 0:
                    return hits, True
                hit = _hit(opened, one, query.context)
                room -= len(hit.text) + len(path)
                hits.append(hit)
        finally:
            os.close(opened)
    return hits, False


def _hit(opened: int, one: Spotted, context: int) -> Hit:
    if not context:
        data = read_at(opened, one.offset, MOST_OF_LINE * 4)
        return Hit(one.path, one.line, _cut(data.split(b"\n", 1)[0]), one.line)
    begin = max(one.offset - REACH, 0)
    before = read_at(opened, begin, one.offset - begin).split(b"\n")[:-1] if one.offset else []
    before = before[1:] if begin and len(before) <= context else before  # the first one may be half a line
    behind = read_at(opened, one.offset, REACH).split(b"\n")
    behind = behind[:-1] if len(behind) > 1 and not behind[-1] else behind
    before, behind = before[-context:], behind[: context + 1]
    return Hit(one.path, one.line - len(before), "\n".join(_cut(line) for line in (*before, *behind)), one.line)


def _cut(line: bytes) -> str:
    text = line.rstrip(b"\r").decode(errors="replace")
    return text if len(text) <= MOST_OF_LINE else f"{text[:MOST_OF_LINE]}…"
