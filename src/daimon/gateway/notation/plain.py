"""Text without marks."""


def render(markdown: str) -> str:
    return markdown
