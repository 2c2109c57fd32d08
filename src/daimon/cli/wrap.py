"""Lines that break between words, also while their words are still coming.

A terminal breaks a line wherever its last column is. Here the last word is held back until it is known whether it fits, and if it does not,
the line ends before it. Characters that take two columns are words of their own, as their scripts have no spaces. A word that is wider than
a line is left to the terminal, and so is what stands between code fences: it may be copied. Nothing else is changed, and Markdown stays as
it is.
"""

import re

from daimon.cli import screen

FENCES = ("```", "~~~")
SPARE = 1
"""The last column stays free, because some terminals wrap as soon as it is full."""
_PIECE = re.compile(r"\n|[^\S\n]+|[^\s]+")


class Wrap:
    """One text, piece by piece."""

    def __init__(self, hang: str = "", columns: int | None = None) -> None:
        self._hang = hang
        """What stands before each line that was broken off."""
        self._columns = columns or screen.out().width
        self._room = max(self._columns - SPARE, 10)
        self._column = 0
        self._word = ""
        self._is_long = False
        """The word under way is wider than a line."""
        self._line = ""
        """Of a line in a fence: what came of it so far."""
        self._fence = ""
        self.is_mid_line = False

    def feed(self, text: str) -> str:
        """What can be written now."""
        if not text:
            return ""
        self.is_mid_line = not text.endswith("\n")
        return "".join(self._take(piece) for piece in _PIECE.findall(screen.plain(text)))

    def flush(self) -> str:
        """What was held back: nothing more comes to this word."""
        return self._place()

    def _take(self, piece: str) -> str:
        if piece == "\n":
            return self._end()
        if self._fence:
            return self._in_fence(piece)
        if piece.isspace():
            return self._place() + self._space(piece)
        return "".join(map(self._letter, piece))

    def _in_fence(self, piece: str) -> str:
        self._line += piece
        return piece

    def _letter(self, letter: str) -> str:
        if self._is_long:
            return self._put(letter)
        before = self._place() if _is_wide(letter) or _is_wide(self._word[-1:]) else ""
        self._word += letter
        self._is_long = _width(self._word) > self._room - len(self._hang)
        return before + (self._place() if self._is_long else "")

    def _place(self) -> str:
        word, self._word = self._word, ""
        if not word:
            return ""
        if not self._column and word.startswith(FENCES):
            self._fence, self._line = word[:3], ""
            return word
        breaks = self._column + _width(word) > self._room and self._column > len(self._hang)
        return (self._break() if breaks else "") + self._put(word)

    def _space(self, space: str) -> str:
        """What does not fit at the end of a line is not seen there."""
        if self._fence:
            return self._in_fence(space)
        if self._is_long:
            self._is_long, self._column = False, self._column % self._columns
        return self._put(space) if self._column + _width(space) <= self._room else ""

    def _put(self, text: str) -> str:
        self._column += _width(text)
        return text

    def _break(self) -> str:
        self._column = 0
        return "\n" + self._put(self._hang)

    def _end(self) -> str:
        rest = self._place()
        if self._fence and self._line.strip() == self._fence:
            self._fence = ""
        self._line, self._column, self._is_long = "", 0, False
        return rest + "\n"


def fill(text: str, hang: str = "", columns: int | None = None) -> str:
    """A text that is there in full, for the terminal unless columns are given."""
    wrap = Wrap(hang, columns)
    return wrap.feed(text) + wrap.flush()


def _is_wide(letter: str) -> bool:
    return letter > "\u10ff" and _width(letter) > 1


def _width(text: str) -> int:
    if text.isascii():
        return len(text.expandtabs(8))
    from rich.cells import cell_len

    return cell_len(text)
