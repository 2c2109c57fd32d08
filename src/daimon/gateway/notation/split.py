"""Long answers in pieces. A stand-in: at lines, else anywhere."""

from collections.abc import Callable


def split(markdown: str, longest: int, render: Callable[[str], str]) -> tuple[str, ...]:
    pieces: list[str] = []
    rest = markdown.strip()
    while rest:
        end = len(rest)
        while len(render(rest[:end]).encode("utf-16-le")) // 2 > longest:
            end = max(rest.rfind("\n", 1, end), end * 3 // 4)
        pieces.append(render(rest[:end].strip()))
        rest = rest[end:].strip()
    return tuple(pieces)
