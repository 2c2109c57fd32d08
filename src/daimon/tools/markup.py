"""HTML that may be anything, as a tree that can be walked; or as bare text, where it was made to hurt.

The parser mends what is broken, as browsers do. Three kinds of page make it work for minutes or fill the memory: tags inside of tags
without end, formatting that is never closed and so begins anew in each paragraph, and a tag with countless attributes. They are counted
before it begins, in one pass; a page that has more of it than any honest one is only stripped of its tags.

Whether a closing tag closes anything is the parser's to say: it ignores one that fits nothing, or stands in a comment, an attribute or
behind certain others. So tags that open something are also counted by themselves: were all of them inside of each other, it would take
the parser about a second.

It knows nothing of what a page means.
"""

import re
from collections import Counter
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

from daimon.abi.invisible import visible

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

MOST_BYTES = 2 * 1024 * 1024
MOST_DEPTH = 1_000
MOST_TAGS = 400_000
MOST_OPENED = 30_000
"""Tags that may stand inside of their like."""
MOST_ATTRIBUTES = 20_000
"""Of one tag, or of several together as the root of the sum of their squares, since each is compared with those before it."""
MOST_COPIES = 500_000
"""Paragraphs times formatting that is open: so many elements the parser may have to make of it."""
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,30})")
_VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
_CLOSED_BY_THEIR_LIKE = frozenset(["p", "li", "td", "th", "tr", "dt", "dd", "option", "thead", "tbody", "tfoot"])
_FORMATTING = frozenset(["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"])
_ATTRIBUTES = re.compile(r"""<[A-Za-z]((?:=\s*+(?:"[^"]*+"|'[^']*+')|[^>])*+)""")
_BETWEEN = re.compile(r"[\s/]+[^\s/]")
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
    opened, tags, most_open = Counter[str](), 0, 0
    depth = deepest = formatting = opening = 0
    for found in _TAG.finditer(html):
        tags += 1
        name = found[2].lower()
        if name in _VOID or name in _CLOSED_BY_THEIR_LIKE or (found[1] and not opened[name]):
            continue
        step = -1 if found[1] else 1
        opened[name] += step
        opening += not found[1]
        depth += step
        formatting += step if name in _FORMATTING else 0
        deepest, most_open = max(deepest, depth), max(most_open, formatting)
    if deepest > MOST_DEPTH:
        return f"its tags are nested {deepest:,} deep"
    if tags > MOST_TAGS or opening > MOST_OPENED:
        return f"it has {tags:,} tags"
    if most_open > 8 and tags * most_open > MOST_COPIES * 8:
        return f"{most_open:,} kinds of formatting are left open"
    return "its tags have too many attributes" if _comparisons(html) > MOST_ATTRIBUTES**2 else ""


def _comparisons(html: str) -> int:
    """Only long tags are looked into: short ones cannot have many."""
    return sum(len(_BETWEEN.findall(found[1])) ** 2 for found in _ATTRIBUTES.finditer(html) if len(found[1]) > 1_000)
