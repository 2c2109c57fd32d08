"""A model's Markdown as HTML that is safe to put on the page.

Words of strangers come this way, so nothing is taken on trust. The parser knows no raw HTML, and whatever it makes goes through a
sanitiser that lets only these tags pass: no ids, no classes but the language of a code block, no styles, links only to the web and to mail
addresses. A picture is never loaded, since loading it tells its host who reads: it becomes a link that says so. Characters that turn the
order of others round are dropped; each block finds its own direction.

Known secrets are taken out before anything else: written as HTML they might not be recognised any more. What was made is kept by the hash
of its text, up to a bound. It takes a second for the most hostile text that is let in, so whoever calls does so in a thread of its own.
"""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

MOST_CHARS = 40_000
"""Of one text; the rest is left out, and the answer says so."""
MOST_KEPT_CHARS = 4_000_000

_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}]+[^\s<>\"'`|\\^{}.,;:!?)\]*_~]", re.IGNORECASE)
_MAY_LINK = re.compile(r"(https?://|mailto:)[^\s]", re.IGNORECASE)
_LANGUAGE = re.compile(r"language-[A-Za-z0-9_+#.-]{1,30}")
_BLOCKS = ("p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "th", "td", "del")
_TAGS = {*_BLOCKS, "hr", "br", "pre", "code", "em", "strong", "s", "a", "table", "thead", "tbody", "tr"}


@dataclass(frozen=True, slots=True)
class Rendered:
    html: str
    is_cut: bool = False


class Markdown:
    """May be used from any thread."""

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        self._clean = clean
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, Rendered] = OrderedDict()
        self._kept_chars = 0

    def render(self, text: str) -> Rendered:
        text = self._clean(text)
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = rendered(text)
        with self._lock:
            self._keep(key, made)
        return made

    def _keep(self, key: bytes, made: Rendered) -> None:
        if key not in self._kept:
            self._kept[key] = made
            self._kept_chars += len(made.html)
        while self._kept_chars > MOST_KEPT_CHARS:
            self._kept_chars -= len(self._kept.popitem(last=False)[1].html)


def rendered(text: str) -> Rendered:
    html = _PARSER.render(without_turning(text[:MOST_CHARS]))
    return Rendered(_CLEANER(html), len(text) > MOST_CHARS)


def without_turning(text: str) -> str:
    """Without the characters that make others appear in another order than they are in."""
    return _TURNING.sub("", text)


def _linked(state: StateCore) -> None:
    """Addresses in plain words become links; the parser's own way needs one more library."""
    for block in state.tokens:
        if block.type == "inline" and block.children and "://" in block.content:
            block.children = _with_links(block.children)


def _with_links(tokens: Sequence[Token]) -> list[Token]:
    made: list[Token] = []
    depth = 0
    for token in tokens:
        depth += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        made += _split(token) if token.type == "text" and not depth else [token]
    return made


def _split(token: Token) -> list[Token]:
    made, at = [], 0
    for found in _ADDRESS.finditer(token.content):
        made += [_text(token, token.content[at : found.start()])]
        opening = Token("link_open", "a", 1, attrs={"href": found[0]})
        made += [opening, _text(token, found[0]), Token("link_close", "a", -1)]
        at = found.end()
    return [*made, _text(token, token.content[at:])]


def _text(token: Token, words: str) -> Token:
    return Token("text", "", 0, content=words, level=token.level)


def _picture(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    where = str(token.attrs.get("src", ""))
    words = f"{token.content or where} (picture, not loaded: its host would learn that you read this)"
    return f'<a href="{escape(where)}">{escape(words)}</a>' if _MAY_LINK.match(where) else escape(words)


def _heading(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    """The page and the conversation have titles of their own: a first heading comes below them."""
    level = min(6, int(tokens[at].tag[1:]) + 2)
    return f"<h{level}>" if tokens[at].nesting == 1 else f"</h{level}>\n"


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: _MAY_LINK.match(url) is not None  # type: ignore[method-assign]
    parser.core.ruler.push("addresses", _linked)
    parser.add_render_rule("image", _picture)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


def _attribute(tag: str, name: str, value: str) -> str | None:
    return value if (tag, name) != ("code", "class") or _LANGUAGE.fullmatch(value) else None


def _cleaner() -> Callable[[str], str]:
    return nh3.Cleaner(
        tags=_TAGS,
        attributes={"*": set(), "a": {"href"}, "code": {"class"}, "ol": {"start"}},
        attribute_filter=_attribute,
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}, "pre": {"dir": "ltr"}} | {tag: {"dir": "auto"} for tag in _BLOCKS},
    ).clean


_PARSER = _parser()
_CLEANER = _cleaner()
