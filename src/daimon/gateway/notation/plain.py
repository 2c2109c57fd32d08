"""Bare text: for mail, for a screen reader, for a channel that knows no markup. Code is indented, a link stands behind its words."""

from markdown_it.tree import SyntaxTreeNode as Node

from daimon.gateway.notation.parse import columns, parse, target, words

RULE = "———"


def render(markdown: str) -> str:
    return _blocks(parse(markdown), "\n\n").strip("\n")


def _blocks(node: Node, between: str) -> str:
    return between.join(text for child in node.children if (text := _block(child)))


def _block(node: Node) -> str:
    match node.type:
        case "paragraph" | "heading":
            return _inline(node)
        case "fence" | "code_block":
            return _indented(node.content.rstrip("\n"), "    ", "    ")
        case "blockquote":
            return _indented(_blocks(node, "\n\n"), "> ", "> ")
        case "bullet_list" | "ordered_list":
            return "\n".join(_item(item, mark) for item, mark in zip(node.children, marks(node), strict=True))
        case "hr":
            return RULE
        case "table":
            return columns(node)
        case _:
            return _inline(node)


def marks(node: Node) -> list[str]:
    """What stands before the items of a list."""
    if node.type == "bullet_list":
        return ["•"] * len(node.children)
    start = int(node.attrs.get("start", 1))
    return [f"{start + n}." for n in range(len(node.children))]


def _item(node: Node, mark: str) -> str:
    return _indented(_blocks(node, "\n"), f"{mark} ", " " * (len(mark) + 1)) or mark


def _indented(text: str, first: str, rest: str) -> str:
    lines = text.split("\n")
    return "\n".join((first if n == 0 else rest) + line if line or n == 0 else line for n, line in enumerate(lines)) if text else ""


def _inline(node: Node) -> str:
    match node.type:
        case "text" | "code_inline":
            return node.content
        case "softbreak" | "hardbreak":
            return "\n"
        case "link" | "image":
            return _link(node)
        case _:
            return "".join(_inline(child) for child in node.children) if node.children else node.content


def _link(node: Node) -> str:
    said, url = (words(node) if node.type == "image" else "".join(_inline(child) for child in node.children)), target(node)
    if not url or url == said:
        return said or url
    return f"{said} ({url})" if said else url
