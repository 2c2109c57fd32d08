"""Exact replacements in a text, all or none, and whether they were made already. Nothing here looks at files.

A text whose lines end in CR LF is edited with line feeds alone, as models write them, and keeps its line ends.
"""

from collections.abc import Iterable, Sequence

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Replacement, Trace
from daimon.sandbox.files.failures import named
from daimon.sandbox.files.nearest import nearest

MOST_LINES = 10


def replaced(text: str, replacements: Sequence[Replacement], path: str) -> str:
    """Raises ToolFailed for one that is not found, or found more than once."""
    for number, each in enumerate(replacements, 1):
        which = f"replacement {number} of {len(replacements)} in {named(path)}" if len(replacements) > 1 else f"the text in {named(path)}"
        text = _one(text, _fitted(text, each), which)
    return text


def may_hit(data: bytes, replacements: Sequence[Replacement]) -> bool:
    """Whether all of them are plainly there; if not, they may be in another encoding, or made by one another."""
    return all(each.old.encode("utf-8", "replace") in data for each in replacements)


def _one(text: str, each: Replacement, which: str) -> str:
    if not each.old:
        raise ToolFailed("bad_edit", f"{which} replaces nothing: give the text that is there now, or write the file whole")
    if each.old == each.new:
        raise ToolFailed("bad_edit", f"{which} replaces something by itself")
    count = text.count(each.old)
    if not count:
        raise ToolFailed("no_match", f"cannot find {which}; nothing was changed. {nearest(text, each.old)}")
    if count > 1 and not each.all:
        said = ", ".join(str(line) for line in _lines(text, each.old))
        more = ", …" if count > MOST_LINES else ""
        raise ToolFailed(
            "ambiguous",
            f"found {which} {count} times, in lines {said}{more}; nothing was changed. Give more of its surroundings, or say all",
        )
    return text.replace(each.old, each.new)


def trace(text: str, replacements: Sequence[Replacement]) -> Trace:
    """Whether these replacements were made in what is now this text: they can be made, they can be taken back, or both, or neither."""
    forward = _is_possible(text, replacements)
    backward = _is_possible(text, [Replacement(each.new, each.old, each.all) for each in reversed(replacements)])
    if forward == backward or (forward and has_come(text, [(each.old.splitlines(), each.new.splitlines()) for each in replacements])):
        return "unclear"
    return "not done" if forward else "done"


def has_come(text: str, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> bool:
    """Whether all lines are there that these would bring, old and new. They may have been brought, and somebody else have worked next to
    them since, so that it cannot be taken back any more: to do it again would bring them twice."""
    brought = [line.strip() for old, new in pairs for line in new if line.strip() and line not in old]
    return bool(brought) and all(line in text for line in brought)


def _is_possible(text: str, replacements: Sequence[Replacement]) -> bool:
    try:
        replaced(text, replacements, "")
    except ToolFailed:
        return False
    return True


def _fitted(text: str, each: Replacement) -> Replacement:
    if "\r\n" not in text or "\r" in each.old or "\r" in each.new or text.count("\r\n") != text.count("\n"):
        return each
    return Replacement(each.old.replace("\n", "\r\n"), each.new.replace("\n", "\r\n"), each.all)


def _lines(text: str, old: str) -> list[int]:
    found, at, line, before = list[int](), text.find(old), 1, 0
    while at >= 0 and len(found) < MOST_LINES:
        line += text.count("\n", before, at)
        found.append(line)
        before, at = at, text.find(old, at + len(old))
    return found
