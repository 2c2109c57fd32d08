"""A long answer in pieces, each at most so long when it is rendered: a pure function, the same pieces after a restart.

What is cut is the Markdown, and each piece is rendered by itself; so no tag, no entity and no character is ever cut in two. The cut goes
after a paragraph where that leaves no piece too small, else after a line, a sentence, a word, and only then anywhere. A block of code that
is cut is closed and opened again with its language; a table gets its head again. What cannot be rendered within the limit in any other
way (a hundred quotes in each other) is written letter by letter.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from daimon.gateway.notation.fences import Fences

Render = Callable[[str], str]
Measure = Callable[[str], int]

SHORTEST = 64
"""No channel takes less; below that a piece could not even hold its own markup."""
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_SENTENCE = re.compile(r"[.!?…。！？][)\"'»”]*\s+")
_SPACE = re.compile(r"\s+")
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
_JOINED = re.compile(r"[\u0300-\u036f\u200d\ufe00-\ufe0f\u20d0-\u20ff\U0001f3fb-\U0001f3ff]")


def units(text: str) -> int:
    """How long a text is in UTF-16, as some services count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(markdown: str, longest: int, render: Render, measure: Measure = len) -> tuple[str, ...]:
    """Rendered pieces, none of them empty."""
    if longest < SHORTEST:
        raise ValueError(f"a piece of {longest} is too short: at least {SHORTEST}")
    whole = render(markdown)
    if measure(whole) <= longest:
        return (whole,) if whole.strip() else ()
    return tuple(_Cutter(longest, render, measure).cut(markdown.replace("\r\n", "\n").replace("\r", "\n")))


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    before: str
    """What must stand before it when a piece begins here: the fence that it is in, the head of its table."""
    after: str
    """What must stand behind it when a piece ends here."""
    is_closing: bool = False


class _Cutter:
    def __init__(self, longest: int, render: Render, measure: Measure) -> None:
        self._longest = longest
        self._render = render
        self._measure = measure

    def cut(self, markdown: str) -> list[str]:
        lines, pieces, at = _lines(markdown), [], 0
        while at < len(lines):
            if lines[at].is_closing:  # a piece that began with it would open a block
                at += 1
                continue
            many = self._most(lines, at)
            if many:
                end = _good_end(lines, at, at + many)
                pieces.append(self._render(_joined(lines[at:end])))
                at = end
            else:
                pieces += self._line(lines[at])
                at += 1
        return [piece for piece in pieces if piece.strip()]

    def _fits(self, markdown: str) -> bool:
        return self._measure(self._render(markdown)) <= self._longest

    def _most(self, lines: list[_Line], at: int) -> int:
        """How many lines from here on fit. No piece is made of much more than it may hold, so no more than that is tried."""
        sizes = accumulate(len(line.text) + 1 for line in lines[at:])
        near = next((n for n, size in enumerate(sizes, 1) if size > 2 * self._longest), len(lines) - at)
        return _largest(near, lambda n: self._fits(_joined(lines[at : at + n])))

    def _line(self, line: _Line) -> list[str]:
        """One line that does not fit."""
        quoted = _QUOTED.match(line.text)
        lead = quoted[0] if quoted is not None and not line.before else ""
        for dressed in (lambda text: _framed(line, text), lambda text: lead + text.lstrip(), _literal):
            pieces = self._words(line.text.removeprefix(lead), dressed)
            if pieces is not None:
                return pieces
        return []

    def _words(self, text: str, dressed: Render) -> list[str] | None:
        """None: not even one character fits when it is dressed like this."""
        pieces: list[str] = []
        while text:
            many = _largest(min(len(text), self._longest), lambda n: self._fits(dressed(text[:n])))  # noqa: B023 - used at once
            end = _good_place(text, many) if many < len(text) else many
            while end > 0 and not self._fits(dressed(text[:end])):
                end -= 1
            if not end:
                return None
            pieces.append(self._render(dressed(text[:end])))
            text = text[end:]
        return pieces


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """What is rendered grows with what is written, nearly always; what is found here did fit."""
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _lines(markdown: str) -> list[_Line]:
    fences, found, head = Fences(), [], ""
    texts = markdown.split("\n")
    for n, text in enumerate(texts):
        opener, closer = fences.opener, fences.closer
        inside = fences.after(text)
        if opener:
            found.append(_Line(text, f"{opener}\n", f"\n{closer}" if inside else "", is_closing=not inside))
            continue
        is_head = "|" in text and n + 1 < len(texts) and "|" in texts[n + 1] and _RULE.match(texts[n + 1]) is not None
        head = f"{text}\n{texts[n + 1]}\n" if is_head and not inside else head if "|" in text else ""
        is_row = bool(head) and not is_head and _RULE.match(text) is None
        found.append(_Line(text, head if is_row else "", f"\n{fences.closer}" if inside else ""))
    return found


def _joined(lines: list[_Line]) -> str:
    texts = "\n".join(line.text for line in lines)
    return f"{lines[0].before}{texts}{lines[-1].after}" if lines else ""


def _framed(line: _Line, text: str) -> str:
    return f"{line.before}{text}{line.after}"


def _good_end(lines: list[_Line], at: int, end: int) -> int:
    """Where to cut among the lines that fit: behind a paragraph, else outside of code, else at the last line."""
    if end == len(lines):
        return end
    sizes = list(accumulate(len(line.text) + 1 for line in lines[at:end]))
    least = at + next(n for n, size in enumerate(sizes, 1) if size * 3 >= sizes[-1])
    ends = [k for k in range(end, least - 1, -1) if not lines[k].before]
    behind_paragraphs = [k for k in ends if not lines[k - 1].text.strip()]
    return next(iter(behind_paragraphs or ends), end)


def _good_place(text: str, most: int) -> int:
    """Where to cut a line of which so many characters fit."""
    for boundary in (_SENTENCE, _SPACE):
        ends = [found.end() for found in boundary.finditer(text, 0, most) if found.end() * 3 >= most]
        if ends:
            return ends[-1]
    end = most
    while end > 1 and (_JOINED.match(text[end]) or text[end - 1] in "\u200d\\"):
        end -= 1
    return end if end > 1 else most


def _literal(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\1", text.strip())
