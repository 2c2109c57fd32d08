"""Telegram's HTML, as strictly as Telegram reads it: a tag that it does not know, or that is not closed in order, is refused."""

import re
from dataclasses import dataclass
from html import unescape

_TAGS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough",
    "span": "spoiler", "tg-spoiler": "spoiler", "a": "text_link", "code": "code", "pre": "pre",
    "blockquote": "blockquote", "tg-emoji": "custom_emoji",
}  # fmt: skip
_TOKEN = re.compile(r"<(/?)([a-zA-Z][\w-]*)((?:\s[^<>]*)?)>|&(?:lt|gt|amp|quot|#\d+|#x[0-9a-fA-F]+);|[^<&]+|&|<")


class Unparsed(Exception):
    """The text of Telegram's refusal."""


@dataclass(frozen=True, slots=True)
class Entity:
    type: str
    offset: int
    length: int


def parse(html: str) -> tuple[str, tuple[Entity, ...]]:
    """The text as people see it, and where it is in which style, counted in units of UTF-16."""
    text, entities, opened = "", [], list[tuple[str, int]]()
    for token in _TOKEN.finditer(html):
        at = len(html[: token.start()].encode())
        if token[0] == "<":
            raise Unparsed(f'Unsupported start tag "{html[token.start() + 1 :][:10]}" at byte offset {at}')
        if token[2] is None:
            text += unescape(token[0]) if token[0].startswith("&") and len(token[0]) > 1 else token[0]
        elif not token[1]:
            _check(token[2].lower(), token[3], at)
            opened.append((token[2].lower(), units(text)))
        else:
            kind, start = _close(token[2].lower(), opened, at)
            entities.append(Entity(kind, start, units(text) - start))
    if opened:
        raise Unparsed(f'Can\'t find end tag corresponding to start tag "{opened[-1][0]}"')
    return text, tuple(e for e in entities if e.length)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _check(tag: str, attributes: str, at: int) -> None:
    if tag not in _TAGS:
        raise Unparsed(f'Unsupported start tag "{tag}" at byte offset {at}')
    if tag == "span" and "tg-spoiler" not in attributes:
        raise Unparsed(f'Tag "span" must have class "tg-spoiler" at byte offset {at}')


def _close(tag: str, opened: list[tuple[str, int]], at: int) -> tuple[str, int]:
    if not opened:
        raise Unparsed(f"Unexpected end tag at byte offset {at}")
    expected, start = opened.pop()
    if tag != expected:
        raise Unparsed(f'Unmatched end tag at byte offset {at}, expected "</{expected}>", found "</{tag}>"')
    return _TAGS[tag], start
