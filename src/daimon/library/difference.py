"""What is different between two versions of a skill, in lines, as its owner sees it before a yes.

The files are a stranger's choice, and comparing two long texts can take as long as somebody wants it to: what both begin and end with is
set aside, and for the rest there are `MOST_PAIRS` in all. What is beyond that is told by its size, and so is what is no text. Nothing that
is different goes untold.
"""

import difflib

from daimon.skills.bundle import Bundle

MOST_DIFF = 64 << 10
MOST_PAIRS = 1_000_000
"""Lines of the one times lines of the other, of all files: a second or two at worst."""
AROUND = 2


def difference(old: Bundle, new: Bundle) -> str:
    lines, left = list[str](), MOST_PAIRS
    for path in sorted(set(old) | set(new)):
        before, after = (bundle[path].data if path in bundle else b"" for bundle in (old, new))
        was, now = (path in old and old[path].is_executable, path in new and new[path].is_executable)
        if path in old and path in new and was != now:
            lines.append(f"{path}: {'may be run' if now else 'may not be run any more'}")
        if before != after or (path in old) != (path in new):
            more, taken = _changes(path, before, after, left)
            lines, left = lines + more, left - taken
    text = "\n".join(lines)
    return text if len(text) <= MOST_DIFF else f"{text[:MOST_DIFF]}\n… {len(text) - MOST_DIFF:,} characters more"


def _changes(path: str, before: bytes, after: bytes, pairs: int) -> tuple[list[str], int]:
    """And how many pairs of lines were compared."""
    try:
        a, b = before.decode().splitlines(), after.decode().splitlines()
    except UnicodeDecodeError:
        return [f"{path}: {len(before):,} bytes that are no text become {len(after):,}"], 0
    head, tail = _alike(a, b), 0
    if len(a) > head and len(b) > head:
        tail = _alike(a[head:][::-1], b[head:][::-1])
    first, last = max(0, head - AROUND), max(0, tail - AROUND)
    a, b = a[first : len(a) - last], b[first : len(b) - last]
    taken = len(a) * len(b)
    if taken > pairs:
        return [f"{path}: {len(a):,} lines from line {first + 1:,} on become {len(b):,}, too many to compare here; look at both"], 0
    found = list(difflib.unified_diff(a, b, f"old/{path}", f"new/{path}", lineterm="", n=AROUND))
    return [_moved(line, first) for line in found], taken


def _alike(a: list[str], b: list[str]) -> int:
    """So many lines both begin with."""
    pairs = zip(a, b, strict=False)
    return next((n for n, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))


def _moved(line: str, by: int) -> str:
    """Lines are counted from the beginning of the file."""
    if not line.startswith("@@ ") or not by:
        return line
    parts = []
    for part in line.split(" ")[1:3]:
        start, comma, length = part[1:].partition(",")
        parts.append(f"{part[0]}{int(start) + by}{comma}{length}")
    return f"@@ {' '.join(parts)} @@"
