"""Which elements of a page nobody sees: marked so, styled so, or written in the colour of the paper.

Read from attributes and from plain rules of the page's own `<style>` (`.class` and `#id` alone). Style sheets from elsewhere and scripts
are not run, so this finds the usual tricks and is no proof: what is left is still a stranger's text.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_STYLED = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+\s*(?:[;!%]|$)"
    r"|font-size\s*:\s*0*\.?0+(?:px|pt|em|rem|%)?\s*(?:[;!]|$)|(?:text-indent|left|top|margin-left)\s*:\s*-\s*\d{3,}"
    r"|clip-path\s*:\s*inset\(\s*(?:50|100)%|clip\s*:\s*rect\(\s*0|(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:[;!]|$)|transform\s*:\s*scale\(\s*0\s*\)",
    re.IGNORECASE,
)
_COLOR = re.compile(r"(?<![\w-])color\s*:\s*([^;!]+)", re.IGNORECASE)
_PAPER = re.compile(r"background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
_SIMPLE = re.compile(r"\s*([.#])([A-Za-z_][\w-]{0,80})\s*")
_WHITE = frozenset({"white", "#fff", "#ffffff", "#fefefe", "rgb(255,255,255)", "rgba(255,255,255,1)", "transparent"})
_MOST_RULES = 2_000
_LONGEST_STYLE = 2_000
"""The time that the patterns take grows with the square of it."""


class Hidden:
    def __init__(self, page: "LexborHTMLParser") -> None:
        self._classes: set[str] = set()
        self._ids: set[str] = set()
        for sheet in page.css("style")[:50]:
            self._read(sheet.text()[:200_000])

    def holds(self, node: "LexborNode") -> bool:
        given = node.attributes
        if not given:
            return False
        if "hidden" in given or (given.get("aria-hidden") or "").lower() == "true":
            return True
        if (style := given.get("style")) and is_unseen(style):
            return True
        if node.tag == "font" and _plain(given.get("color") or "") in _WHITE:
            return True
        return (given.get("id") or "") in self._ids or not self._classes.isdisjoint((given.get("class") or "").split())

    def _read(self, sheet: str) -> None:
        for rule in sheet.split("}")[:_MOST_RULES]:
            before, _, style = rule.rpartition("{")
            if not is_unseen(style):
                continue
            for selector in before.rpartition("{")[2][-300:].split(","):
                if simple := _SIMPLE.fullmatch(selector):
                    (self._classes if simple[1] == "." else self._ids).add(simple[2])


def is_unseen(style: str) -> bool:
    style = style[:_LONGEST_STYLE]
    if _STYLED.search(style):
        return True
    ink = [_plain(found) for found in _COLOR.findall(style)]
    paper = [_plain(found) for found in _PAPER.findall(style)]
    return bool(ink) and (ink[-1] == paper[-1] if paper else ink[-1] in _WHITE)


def _plain(colour: str) -> str:
    return re.sub(r"\s+", "", colour.lower())
