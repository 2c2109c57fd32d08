"""What comes nearest to a text that was not found, where it is, and what differs: so that the next try hits.

First by lines that are the same but for white space; then by the likeness of one line, the longest, with a bound on how many are compared
in full. Large files are looked at only so far.
"""

from difflib import SequenceMatcher

MOST_LINES, MOST_COMPARED, COMPARED, MOST_OF_LINE = 10_000, 50, 100, 400
LEAST = 0.6
SHOWN = 12


def nearest(text: str, old: str) -> str:
    """A sentence or two for the model."""
    lines, wanted = text.split("\n")[:MOST_LINES], old.strip("\n").split("\n")
    start = _by_white_space(lines, wanted)
    if start is None:
        start = _by_likeness(lines, wanted)
    if start is None:
        return "Nothing in the file is like it; read the file again."
    having = lines[start : start + len(wanted)]
    shown = "\n".join(line[:MOST_OF_LINE] for line in having[:SHOWN])
    return f"Nearest is line {start + 1}, {_apart(having, wanted)}:\n{shown}"


def _by_white_space(lines: list[str], wanted: list[str]) -> int | None:
    """Where all lines are the same but for white space, else where the longest one is."""
    bare = ["".join(line.split()) for line in lines]
    goal = ["".join(line.split()) for line in wanted]
    longest = max(range(len(goal)), key=lambda n: len(goal[n]))
    if not goal[longest]:
        return None
    first: int | None = None
    for at, line in enumerate(bare):
        if line != goal[longest] or at < longest:
            continue
        if bare[at - longest : at - longest + len(goal)] == goal:
            return at - longest
        first = at - longest if first is None else first
    return first


def _by_likeness(lines: list[str], wanted: list[str]) -> int | None:
    longest = max(range(len(wanted)), key=lambda n: len(wanted[n].strip()))
    goal = wanted[longest].strip()[:COMPARED]
    matcher = SequenceMatcher(None, "", goal, autojunk=False)
    best, found, compared = LEAST, None, 0
    for at, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:COMPARED])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        compared += 1
        if (ratio := matcher.ratio()) > best:
            best, found = ratio, max(at - longest, 0)
        if compared >= MOST_COMPARED:
            break
    return found


def _apart(having: list[str], wanted: list[str]) -> str:
    if having == wanted:
        return "with other line breaks before or after it"
    if [line.rstrip() for line in having] == [line.rstrip() for line in wanted]:
        return "where white space at the ends of lines differs"
    if [line.expandtabs(4) for line in having] == [line.expandtabs(4) for line in wanted]:
        return "where tabs and spaces differ"
    if ["".join(line.split()) for line in having] == ["".join(line.split()) for line in wanted]:
        return "where white space differs"
    if [line.casefold() for line in having] == [line.casefold() for line in wanted]:
        return "where capital and small letters differ"
    return f"where this is another: {_first_difference(having, wanted)}"


def _first_difference(having: list[str], wanted: list[str]) -> str:
    for number, (one, other) in enumerate(zip(having, wanted, strict=False), 1):
        if one != other:
            return f"its line {number}, there {one.strip()[:120]!r}, yours {other.strip()[:120]!r}"
    return "the number of lines"
