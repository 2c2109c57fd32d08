"""Slack's own notation, "mrkdwn". `&`, `<` and `>` are written as entities, so that no text calls a channel or a person together."""

from markdown_it.tree import SyntaxTreeNode as Node

from daimon.gateway.notation.parse import columns, parse, target, words
from daimon.gateway.notation.plain import RULE, marks

SIGNS = {"strong": "*", "em": "_", "s": "~"}
BREAK = "\u200b"
"""Stands between characters that Slack would take for markup of its own. It has no width."""


def render(markdown: str) -> str:
    return _blocks(parse(markdown), "\n\n").strip("\n")


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _blocks(node: Node, between: str) -> str:
    return between.join(text for child in node.children if (text := _block(child)))


def _block(node: Node) -> str:
    match node.type:
        case "paragraph":
            return _inline(node)
        case "heading":
            said = _inline(node, frozenset({"strong"})).replace("\n", " ").strip()
            return f"*{said}*" if said else ""
        case "fence" | "code_block":
            return _code(node.content.rstrip("\n"))
        case "blockquote":
            said = _blocks(node, "\n\n")
            return "\n".join(f"> {line}".rstrip() for line in said.split("\n")) if said else ""
        case "bullet_list" | "ordered_list":
            return "\n".join(_item(item, mark) for item, mark in zip(node.children, marks(node), strict=True))
        case "hr":
            return RULE
        case "table":
            return _code(columns(node))
        case _:
            return _inline(node)


def _code(text: str) -> str:
    return f"```\n{escape(text).replace('```', f'`{BREAK}`{BREAK}`')}\n```" if text.strip() else ""


def _item(node: Node, mark: str) -> str:
    first, *rest = [text for child in node.children if (text := _block(child))] or [""]
    below = [text if text.startswith("```") else "\n".join(f"    {line}" for line in text.split("\n")) for text in rest]
    return "\n".join((f"{mark} {first}", *below))


def _inline(node: Node, without: frozenset[str] = frozenset()) -> str:
    """`without`: signs that hold already."""
    match node.type:
        case "text":
            return escape(node.content)
        case "code_inline":
            return f"`{escape(node.content).replace('`', 'ˋ')}`" if node.content.strip() else node.content
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return _link(target(node), escape(words(node)))
        case "link":
            return _link(target(node), escape(words(node)))
        case "strong" | "em" | "s" if node.type not in without:
            said, sign = "".join(_inline(child, without | {node.type}) for child in node.children), SIGNS[node.type]
            return f"{sign}{said}{sign}" if said.strip() == said and said else said
        case _:
            said = "".join(_inline(child, without) for child in node.children)
            return said if node.children else escape(node.content)


def _link(url: str, said: str) -> str:
    if not url:
        return said
    to, said = escape(url).replace("|", "%7C"), " ".join(said.replace("|", "¦").split())
    return f"<{to}|{said}>" if said else f"<{to}>"
