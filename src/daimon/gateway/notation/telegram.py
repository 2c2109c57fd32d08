"""Telegram's HTML: eight tags, no nesting of quotes, lists and tables in letters. All else is text."""

from html import escape

from markdown_it.tree import SyntaxTreeNode as Node

from daimon.gateway.notation.parse import columns, language, parse, target, words
from daimon.gateway.notation.plain import RULE, marks

TAGS = {"strong": "b", "em": "i", "s": "s"}


def render(markdown: str) -> str:
    return _blocks(parse(markdown), "\n\n", is_quoted=False).strip("\n")


def _blocks(node: Node, between: str, *, is_quoted: bool) -> str:
    return between.join(text for child in node.children if (text := _block(child, is_quoted=is_quoted)))


def _block(node: Node, *, is_quoted: bool) -> str:
    match node.type:
        case "paragraph":
            return _inline(node)
        case "heading":
            said = _inline(node, frozenset({"strong"}))
            return f"<b>{said}</b>" if said.strip() else said
        case "fence" | "code_block":
            return _code(node.content.rstrip("\n"), language(node))
        case "blockquote":
            said = _blocks(node, "\n\n", is_quoted=True)
            return said if is_quoted or not said else f"<blockquote>{said}</blockquote>"
        case "bullet_list" | "ordered_list":
            return "\n".join(_item(item, mark, is_quoted=is_quoted) for item, mark in zip(node.children, marks(node), strict=True))
        case "hr":
            return RULE
        case "table":
            return _code(columns(node), "")
        case _:
            return _inline(node)


def _code(text: str, named: str) -> str:
    if not text.strip():
        return escape(text, quote=False)
    said = escape(text, quote=False)
    return f'<pre><code class="language-{escape(named)}">{said}</code></pre>' if named else f"<pre>{said}</pre>"


def _item(node: Node, mark: str, *, is_quoted: bool) -> str:
    """What hangs below an item is set in, except code, where a space counts."""
    first, *rest = [text for child in node.children if (text := _block(child, is_quoted=is_quoted))] or [""]
    below = [text if text.startswith(("<pre", "<blockquote")) else "\n".join(f"  {line}" for line in text.split("\n")) for text in rest]
    return "\n".join((f"{mark} {first}", *below))


def _inline(node: Node, without: frozenset[str] = frozenset()) -> str:
    """`without`: tags that hold already."""
    match node.type:
        case "text":
            return escape(node.content, quote=False)
        case "code_inline":
            return f"<code>{escape(node.content, quote=False)}</code>" if node.content.strip() else escape(node.content, quote=False)
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return _link(target(node), escape(words(node), quote=False))
        case "link" if "link" not in without:
            return _link(target(node), "".join(_inline(child, without | {"link"}) for child in node.children))
        case "strong" | "em" | "s" if node.type not in without:
            said, tag = "".join(_inline(child, without | {node.type}) for child in node.children), TAGS[node.type]
            return f"<{tag}>{said}</{tag}>" if said.strip() else said
        case _:
            said = "".join(_inline(child, without) for child in node.children)
            return said if node.children else escape(node.content, quote=False)


def _link(url: str, said: str) -> str:
    return f'<a href="{escape(url)}">{said or escape(url)}</a>' if url else said
