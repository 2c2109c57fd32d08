"""HTML for Matrix and mail: a small set of tags, one attribute that a stranger may fill (where a link leads), no picture.

A picture would be fetched when the message is read, and tell its sender so; it becomes a link.
"""

from html import escape

from markdown_it.tree import SyntaxTreeNode as Node

from daimon.gateway.notation.parse import language, parse, rows, target, words

TAGS = {"strong": "strong", "em": "em", "s": "del", "paragraph": "p", "blockquote": "blockquote", "bullet_list": "ul", "list_item": "li"}


def render(markdown: str) -> str:
    return _inside(parse(markdown))


def _inside(node: Node) -> str:
    return "".join(_node(child) for child in node.children)


def _node(node: Node) -> str:
    match node.type:
        case "text":
            return escape(node.content)
        case "softbreak":
            return "\n"
        case "hardbreak":
            return "<br>"
        case "hr":
            return "<hr>"
        case "code_inline":
            return f"<code>{escape(node.content)}</code>"
        case "fence" | "code_block":
            return _code(node)
        case "link":
            return _link(target(node), _inside(node))
        case "image":
            return _link(target(node), escape(words(node)))
        case "table":
            return _table(node)
        case _:
            return _wrapped(node)


def _wrapped(node: Node) -> str:
    said = _inside(node) if node.children else escape(node.content)
    match node.type:
        case "paragraph" if node.hidden:
            return said
        case "heading":
            return f"<{node.tag}>{said}</{node.tag}>"
        case "ordered_list":
            start = int(node.attrs.get("start", 1))
            return f"<ol>{said}</ol>" if start == 1 else f'<ol start="{start}">{said}</ol>'
        case kind if tag := TAGS.get(kind):
            return f"<{tag}>{said}</{tag}>"
        case _:
            return said


def _code(node: Node) -> str:
    named = language(node)
    opening = f'<code class="language-{escape(named)}">' if named else "<code>"
    return f"<pre>{opening}{escape(node.content)}</code></pre>"


def _link(url: str, said: str) -> str:
    return f'<a href="{escape(url)}">{said or escape(url)}</a>' if url else said


def _table(node: Node) -> str:
    def row(cells: list[Node], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{_inside(cell)}</{tag}>' for cell in cells)}</tr>"

    head, *body = rows(node)
    return f"<table><thead>{row(head, 'th')}</thead><tbody>{''.join(row(each, 'td') for each in body)}</tbody></table>"
