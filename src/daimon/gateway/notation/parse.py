"""Markdown as a tree, for whoever writes it down another way.

What a model or a stranger wrote is hostile until shown otherwise. So: no HTML (it stays text), no reference definitions (they would
swallow lines, and a cut answer would lose the words), no code by indentation (a cut list would turn into it), links to harmless schemes
only, and no nesting deeper than what the parser follows, which drops all that is deeper without a word.
"""

import re
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node

from daimon.gateway.notation.fences import Fences

MOST_NESTED = 100
MOST_MARKS = 8
"""Containers that one line may open: `> > - x` opens three."""
MOST_INDENT = 40
MOST_BRACKETS = 50
"""That may be open at once; where there are more, none begins a link."""
SAFE = frozenset({"http", "https", "mailto", "tel", "matrix", "tg"})

_MARKS = re.compile(r"(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){" + str(MOST_MARKS + 1) + "}")
_BRACKETS = re.compile(r"[\[\]]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def parse(markdown: str) -> Node:
    return Node(_parser().parse(_tamed(_clean(markdown))))


def target(node: Node) -> str:
    """Where a link or a picture leads; empty: nowhere that anybody should be sent."""
    url = str(node.attrs.get("href") or node.attrs.get("src") or "")
    try:
        scheme = urlsplit(url).scheme.lower()
    except ValueError:
        return ""
    return url if scheme in SAFE else ""


def words(node: Node) -> str:
    """The bare text of a node."""
    if node.type in ("softbreak", "hardbreak"):
        return "\n"
    return "".join(words(child) for child in node.children) if node.children else node.content


def rows(table: Node) -> list[list[Node]]:
    """The cells of a table, its head first."""
    return [list(row.children) for part in table.children for row in part.children]


def language(node: Node) -> str:
    """Of a block of code; empty where it is none that may stand in an attribute."""
    found = re.match(r"[A-Za-z0-9_+#.-]{1,32}", node.info.strip())
    return found[0] if found else ""


def columns(table: Node) -> str:
    """A table in letters of equal width."""
    texts = [[" ".join(words(cell).split()) for cell in row] for row in rows(table)]
    widths = [max((len(row[n]) for row in texts if n < len(row)), default=0) for n in range(max(map(len, texts), default=0))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip() for row in texts)


@cache
def _parser() -> MarkdownIt:
    options: Any = {"html": False, "linkify": False, "typographer": False, "maxNesting": MOST_NESTED}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable(["reference", "code", "html_block", "html_inline"])


def _clean(markdown: str) -> str:
    return _CONTROL.sub("", markdown.replace("\r\n", "\n").replace("\r", "\n"))


def _tamed(markdown: str) -> str:
    fences, is_maze = Fences(), _is_maze(markdown)
    return "\n".join(line if fences.after(line) or fences.is_edge else _shallow(line, is_maze) for line in markdown.split("\n"))


def _is_maze(markdown: str) -> bool:
    """Brackets in brackets: from each one the parser looks for its end."""
    depth = deepest = 0
    for sign in _BRACKETS.findall(markdown):
        depth = depth + 1 if sign == "[" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest > MOST_BRACKETS


def _shallow(line: str, is_maze: bool) -> str:
    line = line.replace("[", r"\[") if is_maze else line
    bare = line.lstrip(" \t")
    indent = line[: len(line) - len(bare)].expandtabs(4)
    line = indent[:MOST_INDENT] + bare
    found = _MARKS.match(line)
    return line if found is None else f"{line[: found.end() - 1]}\\{line[found.end() - 1 :]}"
