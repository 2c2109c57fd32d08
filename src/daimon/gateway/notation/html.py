"""HTML for mail and Matrix."""

from markdown_it import MarkdownIt


def render(markdown: str) -> str:
    return str(MarkdownIt("js-default", {"html": False}).render(markdown))
