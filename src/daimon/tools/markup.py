"""HTML that may be anything, as a tree that can be walked; or as bare text, where it was made to hurt.

The parser mends what is broken, as browsers do. Two kinds of page make it work for minutes or fill the memory: tags inside of tags without
end, and formatting that is never closed and so begins anew in each paragraph. Both are counted before it begins, in one pass; a page that
has more of it than any honest one is only stripped of its tags.

It knows nothing of what a page means.
"""

import re
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

from daimon.tools.invisible import visible

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

MOST_BYTES = 2 * 1024 * 1024
MOST_DEPTH = 1_000
MOST_TAGS = 400_000
MOST_COPIES = 500_000
"""Paragraphs times formatting that is open: so many elements the parser may have to make of it."""
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,30})")
_VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
_CLOSED_BY_THEIR_LIKE = frozenset(["p", "li", "td", "th", "tr", "dt", "dd", "option", "optgroup", "thead", "tbody", "tfoot", "rp", "rt"])
_FORMATTING = frozenset(["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"])
_SILENT = re.compile(r"<(!--|script\b|style\b|template\b|noscript\b)")
_ENDS = {"!--": "-->"}
_ANY_TAG = re.compile(r"<[^<>]{0,5000}>")


@dataclass(frozen=True, slots=True)
class Tree:
    """`root` is None where the page was not parsed; then `text` is all there is of it."""

    root: "LexborHTMLParser | None"
    text: str = ""
    why: str = ""


def parsed(html: str) -> Tree:
    from selectolax.lexbor import LexborHTMLParser  # a library of its own: only where a page is read

    cut = html[:MOST_BYTES]
    if why := _harm(cut):
        return Tree(None, stripped(cut), why)
    return Tree(LexborHTMLParser(cut))


def stripped(html: str) -> str:
    bare = _ANY_TAG.sub(" ", _heard(html))
    return visible(" ".join(unescape(bare).split()))[0]


def _heard(html: str) -> str:
    """Without scripts and comments. One that does not end takes the rest along, as in browsers: so no character is looked at twice."""
    low, kept, at = html.lower(), list[str](), 0
    while found := _SILENT.search(low, at):
        kept.append(html[at : found.start()])
        close = _ENDS.get(found[1], f"</{found[1]}")
        end = low.find(close, found.end())
        if end < 0:
            return " ".join(kept)
        at = end + len(close)
    return " ".join((*kept, html[at:]))


def _harm(html: str) -> str:
    depth = deepest = formatting = most_open = tags = 0
    for found in _TAG.finditer(html):
        tags += 1
        name = found[2].lower()
        if name in _VOID or name in _CLOSED_BY_THEIR_LIKE:
            continue
        step = -1 if found[1] else 1
        depth = max(0, depth + step)
        deepest = max(deepest, depth)
        if name in _FORMATTING:
            formatting = max(0, formatting + step)
            most_open = max(most_open, formatting)
    if deepest > MOST_DEPTH:
        return f"its tags are nested {deepest:,} deep"
    if tags > MOST_TAGS:
        return f"it has {tags:,} tags"
    return f"{most_open:,} kinds of formatting are left open" if most_open > 8 and tags * most_open > MOST_COPIES * 8 else ""
