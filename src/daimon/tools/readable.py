"""A page as a person would read it: what it is about, and its text without what stands around it. Pure.

The text is that of the page's own main part, where it names one that is not empty; else of all but menus, forms and footers; and where
that leaves almost nothing, of all. A page that was made to hurt a parser is read as bare text, and says so.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from daimon.tools.hidden import Hidden
from daimon.tools.markup import parsed
from daimon.tools.metadata import About, about
from daimon.tools.rendered import Rendering

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

MOST = 100_000
"""Characters of text."""
_ENOUGH = 200
_MAIN = ("article", "main", "[role=main]", "#content")


@dataclass(frozen=True, slots=True)
class Readable:
    about: About
    text: str
    unseen: int = 0
    """Characters that nobody would have seen; they are left out."""
    is_cut: bool = False
    note: str = ""


def readable(html: str, base: str, most: int = MOST) -> Readable:
    tree = parsed(html)
    if tree.root is None:
        return Readable(About(), tree.text[:most], is_cut=len(tree.text) > most, note=f"read as bare text: {tree.why}")
    hidden, told = Hidden(tree.root), about(tree.root, base)
    best = Readable(told, "")
    for selector, with_around in (*((each, False) for each in _MAIN), ("body", False), ("body", True)):
        found = _rendered(tree.root, selector, Rendering(base, hidden, most, with_around))
        if len(found.text) > len(best.text):
            best = Readable(told, found.text[:most], found.unseen, found.is_cut)
        if len(best.text) >= _ENOUGH:
            break
    return best


def selected(html: str, selector: str, base: str, most: int = MOST) -> str | None:
    """The text of all that the selector takes out; None: nothing. Raises ValueError for what is no selector, or for a page that is not
    parsed."""
    from selectolax.lexbor import SelectolaxError

    tree = parsed(html)
    if tree.root is None:
        raise ValueError(f"the page cannot be taken apart: {tree.why}")
    try:
        nodes = tree.root.css(selector)[:1_000]
    except SelectolaxError as bad:
        raise ValueError(f"{selector[:100]!r} is no CSS selector") from bad
    hidden = Hidden(tree.root)
    texts = [Rendering(base, hidden, most, with_around=True).of(node) for node in nodes]
    return "\n".join(text for text in texts if text)[:most] if nodes else None


@dataclass(frozen=True, slots=True)
class _Found:
    text: str
    unseen: int
    is_cut: bool


def _rendered(root: "LexborHTMLParser", selector: str, rendering: Rendering) -> _Found:
    nodes = root.css(selector)[:20]
    longest = max(nodes, key=lambda node: len(node.text()), default=None)
    text = rendering.of(longest) if longest is not None else ""
    return _Found(text, rendering.unseen, rendering.is_cut)
