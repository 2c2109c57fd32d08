"""What changed from one text to another, as a unified diff that is quick for small changes in large files and bounded for all others.

What both have in common at the beginning and the end is set aside first; mostly a few lines are left. Where much is left, it is told as
one block removed and one added, without looking for what they share.
"""

from difflib import SequenceMatcher

CONTEXT, MOST_LINES, MOST_CHARACTERS, MOST_WORK = 3, 200, 12_000, 400_000


def unified(old: str, new: str) -> str:
    """Without the head that names files. Empty: they are the same."""
    if old == new:
        return ""
    before, after = _lines(old), _lines(new)
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    blocks = _blocks(before[start : len(before) - end], after[start : len(after) - end], start)
    said: list[str] = []
    for group in _grouped(blocks):
        said += _hunk(before, after, group)
        if len(said) > MOST_LINES:
            break
    return _cut(said)


def _lines(text: str) -> list[str]:
    """A last one without a line feed carries the mark that says so."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _shared(one: list[str], other: list[str]) -> int:
    least = min(len(one), len(other))
    if one[:least] == other[:least]:
        return least
    low, step = 0, 1
    while step:  # doubling steps compare whole slices, which is quicker than line by line
        step = 1
        while low + step <= least and one[low : low + step] == other[low : low + step]:
            low, step = low + step, step * 2
        if step == 1:
            return low
    return low


Block = tuple[int, int, int, int]
"""Lines from, to of the old text that became lines from, to of the new one."""


def _blocks(before: list[str], after: list[str], start: int) -> list[Block]:
    if min(len(before), len(after)) <= 1 or len(before) * len(after) > MOST_WORK:
        return [(start, start + len(before), start, start + len(after))]
    found = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(a + start, b + start, c + start, d + start) for tag, a, b, c, d in found if tag != "equal"]


def _grouped(blocks: list[Block]) -> list[list[Block]]:
    groups: list[list[Block]] = []
    for block in blocks:
        if groups and block[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _hunk(before: list[str], after: list[str], group: list[Block]) -> list[str]:
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first[0])
    trail = min(CONTEXT, len(before) - last[1])
    sizes = last[1] + trail - first[0] + lead, last[3] + trail - first[2] + lead
    starts = first[0] - lead + bool(sizes[0]), first[2] - lead + bool(sizes[1])  # of no lines: the one before them
    said = [f"@@ -{starts[0]},{sizes[0]} +{starts[1]},{sizes[1]} @@"]
    said += [f" {line}" for line in before[first[0] - lead : first[0]]]
    at = first[0]
    for a, b, c, d in group:
        said += [f" {line}" for line in before[at:a]]
        said += [f"-{line}" for line in before[a:b]]
        said += [f"+{line}" for line in after[c:d]]
        at = b
    return said + [f" {line}" for line in before[at : at + trail]]


def _cut(said: list[str]) -> str:
    left = len(said) - MOST_LINES
    text = "\n".join(said[:MOST_LINES])
    if len(text) > MOST_CHARACTERS:
        return f"{text[:MOST_CHARACTERS]}…\n… the rest of the diff is left out"
    return f"{text}\n… the rest of the diff is left out" if left > 0 else text


def summary(old: str, new: str) -> str:
    """In one line, how far two texts are apart."""
    lines = unified(old, new).split("\n")
    added, removed = sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)
    where = next((line for line in lines if line.startswith("@@")), "")
    return f"{added} lines added, {removed} removed, first at {where}" if where else "no difference in its lines"
