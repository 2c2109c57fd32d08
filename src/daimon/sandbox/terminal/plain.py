"""What a terminal shows, as text: escape sequences are taken out, and a line that is written over again and again is what it was last.

`Plain` does the first piece by piece, for what is shown while it comes; `rendered` does both, for what is read afterwards. Cursor movements
to other lines are not followed: a program that paints a whole screen leaves its words in the order in which it wrote them.
"""

import codecs
import re

ERASE = "\ufdd0"
"""In the place of a sequence that erases the rest of a line: a character that no text holds."""
MOST_UNFINISHED = 4_096
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS and their like, up to their end
    r"|\x1b[ -/]+[0-~]"
    r"|\x1b[0-OQ-WYZ\\`-~]"
)
_ERASING = re.compile(r"\x1b\[[02]?K")
_OTHERS = dict.fromkeys((*range(8), 11, 12, *range(14, 32), 127, *range(128, 160)))


class Plain:
    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._waiting = ""

    def take(self, data: bytes, is_last: bool = False) -> str:
        text = self._waiting + self._decoder.decode(data, is_last)
        self._waiting = ""
        text = _ESCAPES.sub("", _ERASING.sub(ERASE, text))
        start = text.find("\x1b")
        if start >= 0 and not is_last and len(text) - start <= MOST_UNFINISHED:
            text, self._waiting = text[:start], text[start:]
        if text.endswith("\r") and not is_last:  # a line feed may follow, and then it means nothing
            text, self._waiting = text[:-1], "\r" + self._waiting
        return text.replace("\r\n", "\n").translate(_OTHERS)

    def shown(self, data: bytes) -> str:
        return self.take(data).replace(ERASE, "")


def rendered(data: bytes) -> str:
    text = Plain().take(data, is_last=True)
    if "\r" not in text and "\b" not in text and ERASE not in text:
        return text
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    if not any(sign in line for sign in ("\r", "\b", ERASE)):
        return line
    cells: list[str] = []
    at = 0
    for sign in line:
        if sign == "\r":
            at = 0
        elif sign == "\b":
            at = max(0, at - 1)
        elif sign == ERASE:
            del cells[at:]
        else:
            cells[at : at + 1] = [sign]
            at += 1
    return "".join(cells).rstrip() if ERASE in line or "\r" in line else "".join(cells)
