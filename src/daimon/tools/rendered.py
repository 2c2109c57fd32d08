"""A part of a page as text that reads well: headings, lists, tables, links, code, in the signs of Markdown.

One walk without recursion, in the order of the page; it ends when there is enough. What nobody sees is not written, but counted.
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from daimon.abi.invisible import visible
from daimon.tools.hidden import Hidden
from daimon.tools.links import led_to

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MOST_ROWS = 200
"""Of one table."""
_SILENT = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "canvas",
        "iframe",
        "object",
        "embed",
        "audio",
        "video",
        "math",
        "head",
        "input",
        "select",
        "textarea",
        "button",
        "dialog",
    ]
)
_AROUND = frozenset(["nav", "footer", "aside", "form", "menu"])
_HEADINGS = {f"h{n}": "#" * n + " " for n in range(1, 7)}
_BLOCKS = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "figure",
        "figcaption",
        "ul",
        "ol",
        "dl",
        "dt",
        "dd",
        "table",
        "blockquote",
        "address",
        "details",
        "summary",
        "fieldset",
        "body",
    ]
)
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Rendering:
    base: str
    hidden: Hidden
    most: int
    with_around: bool = False
    """With menus and the like."""
    unseen: int = 0
    """Characters that were left out because nobody sees them."""
    is_cut: bool = False
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _links: list[tuple[int, str]] = field(default_factory=list)
    _lists: list[int] = field(default_factory=list)
    """Of each open list the next number; -1: it has none."""
    _cells: int = 0
    _verbatim: int = 0
    _rows: list[int] = field(default_factory=list)

    def of(self, top: "LexborNode") -> str:
        stack: list[tuple[LexborNode, bool]] = [(top, False)]
        while stack and not self.is_cut:
            node, is_end = stack.pop()
            if is_end:
                self._leave(node)
            elif node.is_text_node:
                self._text(node.text_content or "")
            elif node.is_comment_node:
                self.unseen += len(node.comment_content or "")
            elif self._enter(node):
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(_children(node)))
        return _tidied("".join(self._parts))

    def _enter(self, node: "LexborNode") -> bool:
        """Is there anything in it to be written?"""
        tag = node.tag or ""
        if tag in _SILENT or (tag in _AROUND and not self.with_around):
            return False
        if self.hidden.holds(node):
            self.unseen += len(node.text(deep=True, strip=True))
            return False
        return self._begin(node, tag)

    def _begin(self, node: "LexborNode", tag: str) -> bool:
        if tag == "tr":
            return self._row()
        if tag in _HEADINGS:
            self._break(2)
            self._put(_HEADINGS[tag])
        elif tag in _BLOCKS:
            self._block(tag)
        elif tag in ("br", "hr"):
            self._rule(tag)
        else:
            self._inline(node, tag)
        return True

    def _inline(self, node: "LexborNode", tag: str) -> None:
        match tag:
            case "img":
                self._image(node)
            case "a":
                self._links.append((len(self._parts), led_to(node.attributes.get("href") or "", self.base)))
                self._put("")
            case "pre" if not self._cells:
                self._break(2)
                self._put("```\n")
                self._verbatim += 1
            case "li":
                self._item()
            case "td" | "th":
                self._cells += 1
            case _:
                pass

    def _leave(self, node: "LexborNode") -> None:
        tag = node.tag or ""
        match tag:
            case "a":
                self._linked()
            case "pre" if not self._cells and self._verbatim:
                self._verbatim -= 1
                self._put("\n```")
                self._break(2)
            case "ul" | "ol" if self._lists:
                self._lists.pop()
                self._break(1 if self._lists else 2)
            case "td" | "th":
                self._cells = max(0, self._cells - 1)
                self._put("| " if self._parts[-1].endswith(" ") else " | ")
            case "table" if self._rows:
                self._left_out(self._rows.pop())
            case _:
                if tag in _HEADINGS or tag in _BLOCKS:
                    self._break(2)

    def _rule(self, tag: str) -> None:
        self._break(1 if tag == "br" else 2)
        if tag == "hr":
            self._put("---")
            self._break(2)

    def _block(self, tag: str) -> None:
        self._break(1 if tag in ("ul", "ol") and self._lists else 2)
        if tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else -1)
        elif tag == "table":
            self._rows.append(0)
        elif tag == "blockquote":
            self._put("> ")

    def _item(self) -> None:
        self._break(1)
        number = self._lists[-1] if self._lists else -1
        if number > 0:
            self._lists[-1] += 1
        self._put("  " * max(0, len(self._lists) - 1) + (f"{number}. " if number > 0 else "- "))

    def _row(self) -> bool:
        if not self._rows:
            return True
        self._rows[-1] += 1
        if self._rows[-1] > MOST_ROWS:
            return False
        self._break(1)
        self._put("| ")
        return True

    def _left_out(self, rows: int) -> None:
        self._break(1)
        if rows > MOST_ROWS:
            self._put(f"… {rows - MOST_ROWS:,} more rows …")
        self._break(2)

    def _image(self, node: "LexborNode") -> None:
        described = visible(node.attributes.get("alt") or "")[0].strip()
        if described:
            self._put(f"[image: {described[:200]}]")

    def _linked(self) -> None:
        if not self._links:
            return
        begin, to = self._links.pop()
        words = _SPACE.sub(" ", "".join(self._parts[begin:])).strip()
        if to and words and words != to and len(words) < 2_000:
            self._parts[begin] = "["
            self._put(f"]({to})")

    def _text(self, text: str) -> None:
        shown, unseen = visible(text)
        self.unseen += unseen
        if self._verbatim:
            return self._put(shown)
        flat = _SPACE.sub(" ", shown)
        if flat.strip() or (self._parts and not self._parts[-1].endswith((" ", "\n"))):
            is_at_start = not self._parts or self._parts[-1].endswith((" ", "\n"))
            self._put(flat.lstrip() if is_at_start else flat)
        return None

    def _break(self, lines: int) -> None:
        if self._cells:
            self._put("" if self._parts[-1].endswith(" ") else " ")
        elif self._parts and not self._verbatim:
            last = self._parts[-1]
            self._put("\n" * (lines - (len(last) - len(last.rstrip("\n")))))

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        self.is_cut = self.is_cut or self._length > self.most


def _children(node: "LexborNode") -> "list[LexborNode]":
    found, child = [], node.first_child
    while child is not None:
        found.append(child)
        child = child.next
    return found


def _tidied(text: str) -> str:
    """One empty line between blocks, none at the ends, no spaces before a line's end."""
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<![ \t])[ \t]+\n", "\n", text)).strip()
