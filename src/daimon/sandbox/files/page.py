"""A part of a text that fits into what a model may be told at once, with an honest word on what it is a part of."""

from dataclasses import dataclass

from daimon.abi.files import Window

MOST_CHARACTERS, MOST_OF_LINE = 50_000, 2_000


@dataclass(frozen=True, slots=True)
class Part:
    text: str
    said: str = ""
    """Empty: it is all there is."""
    notes: tuple[str, ...] = ()


def lines(text: str, window: Window) -> Part:
    """Lines end with a line feed, and only with that: so line numbers are those of other programs."""
    total = text.count("\n") + (not text.endswith("\n") and text != "")
    split = text.split("\n")
    if window.offset <= 1 and total <= window.limit and len(text) <= MOST_CHARACTERS and max(map(len, split)) <= MOST_OF_LINE:
        return Part(text)
    first = max(window.offset, 1)
    if first > total:
        return Part("", f"there are only {total:,} lines")
    taken, cut, room = list[str](), 0, MOST_CHARACTERS
    for line in split[first - 1 : min(first - 1 + window.limit, total)]:
        shown = line if len(line) <= MOST_OF_LINE else f"{line[:MOST_OF_LINE]}… [{len(line) - MOST_OF_LINE:,} characters more]"
        room -= len(shown) + 1
        if room < 0 and taken:
            break
        cut += shown is not line
        taken.append(shown)
    last = first + len(taken) - 1
    is_all = first == 1 and last == total
    ending = "\n" if last < total or text.endswith("\n") else ""
    notes = (f"{cut} long line{'s were' if cut > 1 else ' was'} cut",) if cut else ()
    return Part("\n".join(taken) + ending, "" if is_all else f"lines {first:,}–{last:,} of {total:,}", notes)


def bytes_of(data: bytes, start: int, size: int, encoding: str) -> Part:
    """Text of bytes from the middle of a file; what is half a character at its ends becomes a replacement mark."""
    text = data.decode("utf-8" if encoding == "utf-8-sig" else encoding, errors="replace")[:MOST_CHARACTERS]
    return Part(text, "" if start == 0 and len(data) == size else f"bytes {start:,}–{start + len(data):,} of {size:,}")
