"""Unified diffs: reading them, and applying them to a text. Nothing here looks at files.

Where a hunk says it belongs is where it is looked for first, then further and further away; its context must be found exactly. How many
lines a hunk says that it has is not believed, since models count badly: its lines are those that begin as lines of a hunk do.
"""

import re
from dataclasses import dataclass, field

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Trace
from daimon.sandbox.files.editing import has_come
from daimon.sandbox.files.failures import named

NOTHING = "/dev/null"
MOST_FILES = 100
_HUNK = re.compile(r"@@(?: -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)?)? ?@@")
_UNSUPPORTED = ("rename from ", "rename to ", "copy from ", "GIT binary patch", "Binary files ", "old mode ", "new mode ")


@dataclass(slots=True)
class Hunk:
    start: int
    """Line of the old text, from 1; 0: it does not say, or the text is empty. `new_start` likewise."""
    new_start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    ends_old: bool = True
    """Does the last line of the old text end with a line feed, where the hunk says something about it?"""
    ends_new: bool = True


@dataclass(slots=True)
class Change:
    """What a patch does to one file."""

    source: str
    target: str
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.source if self.target == NOTHING else self.target

    def turned(self) -> "Change":
        """The one that takes it back."""
        back = [Hunk(each.new_start, each.start, each.new, each.old, each.ends_new, each.ends_old) for each in self.hunks]
        return Change(self.target, self.source, back)


def parsed(patch: str) -> list[Change]:
    lines = patch.replace("\r\n", "\n").split("\n")
    changes: list[Change] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(_UNSUPPORTED):
            raise ToolFailed("bad_patch", f"line {at + 1} of the patch, {line[:80]!r}, is not supported; move files with move_file")
        if _is_head(lines, at):
            changes.append(_file(line, lines[at + 1]))
            at += 2
        elif line.startswith("@@"):
            at = _hunk(lines, at, changes)
        else:
            at += 1
    _check(changes)
    return changes


def _is_head(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _file(source: str, target: str) -> Change:
    names = [line[4:].split("\t")[0].strip() for line in (source, target)]
    has_prefixes = all(name == NOTHING or name.startswith(prefix) for name, prefix in zip(names, ("a/", "b/"), strict=True))
    old, new = (name if name == NOTHING or not has_prefixes else name[2:] for name in names)
    if NOTHING not in (old, new) and old != new:
        raise ToolFailed("bad_patch", f"the patch renames {named(old)} to {named(new)}; move files with move_file")
    return Change(old, new)


def _hunk(lines: list[str], at: int, changes: list[Change]) -> int:
    """Reads one, and says where it ends."""
    found = _HUNK.match(lines[at])
    if found is None or not changes:
        raise ToolFailed("bad_patch", f"line {at + 1} of the patch, {lines[at][:80]!r}, is no head of a hunk such as @@ -1,3 +1,4 @@")
    hunk, last, at = Hunk(int(found[1] or 0), int(found[2] or 0)), "", at + 1
    while at < len(lines) and not lines[at].startswith(("@@", "diff --git ")) and not _is_head(lines, at):
        line = lines[at]
        if line.startswith("\\"):
            hunk.ends_old, hunk.ends_new = hunk.ends_old and last == "+", hunk.ends_new and last == "-"
        elif line[:1] in ("", " ", "+", "-"):
            last = line[:1] or " "
            hunk.old += [line[1:]] if last in " -" else []
            hunk.new += [line[1:]] if last in " +" else []
        else:
            raise ToolFailed("bad_patch", f"line {at + 1} of the patch, {line[:80]!r}, begins with neither a space nor + nor -")
        at += 1
    _strip_blank_end(hunk, lines, at)
    changes[-1].hunks.append(hunk)
    return at


def _strip_blank_end(hunk: Hunk, lines: list[str], at: int) -> None:
    """Empty lines between a hunk and what follows are no context: those have a space in them."""
    while hunk.old and hunk.new and lines[at - 1] == "":
        hunk.old.pop()
        hunk.new.pop()
        at -= 1


def _check(changes: list[Change]) -> None:
    if not changes:
        raise ToolFailed("bad_patch", "this is no unified diff: it has no lines --- a/PATH and +++ b/PATH")
    if len(changes) > MOST_FILES:
        raise ToolFailed("bad_patch", f"the patch is about {len(changes)} files, more than {MOST_FILES}; split it")
    for each in changes:
        if not each.hunks and NOTHING not in (each.source, each.target):
            raise ToolFailed("bad_patch", f"the patch has no hunk for {named(each.path)}")
        if sum(other.path == each.path for other in changes) > 1:
            raise ToolFailed("bad_patch", f"the patch is about {named(each.path)} twice; put all hunks under one head")


def applied(change: Change, text: str) -> str:
    """Raises ToolFailed with the hunk that does not fit."""
    crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    lines = (text.replace("\r\n", "\n") if crlf else text).split("\n")
    ends = not lines[-1]
    lines = lines[:-1] if ends else lines
    drift, after = 0, 0
    for number, hunk in enumerate(change.hunks, 1):
        at = _place(lines, hunk, hunk.start - 1 + drift, after)
        if at is None:
            which = f"hunk {number} of {len(change.hunks)} for {named(change.path)} (its line {max(hunk.start, 1)})"
            raise ToolFailed("no_match", f"{which} does not fit: its lines are not in the file as they stand. {NOT_DONE}")
        if at + len(hunk.old) == len(lines) and hunk.ends_old != hunk.ends_new:
            ends = hunk.ends_new
        lines[at : at + len(hunk.old)] = hunk.new
        drift, after = at - (hunk.start - 1) + len(hunk.new) - len(hunk.old), at + len(hunk.new)
    text = "\n".join(lines) + ("\n" if ends and lines else "")
    return text.replace("\n", "\r\n") if crlf else text


NOT_DONE = "Nothing was changed; read the file and make the patch anew"


def _place(lines: list[str], hunk: Hunk, expected: int, after: int) -> int | None:
    """The nearest place to where it is expected, behind the hunk before it."""
    size, last = len(hunk.old), len(lines) - len(hunk.old)
    if not size:
        return min(max(expected + 1, after), len(lines)) if hunk.start or not lines else None
    found = [at for at in range(after, last + 1) if lines[at] == hunk.old[0] and lines[at : at + size] == hunk.old]
    if hunk.start == 0 and len(found) > 1:
        return None
    return min(found, key=lambda at: abs(at - expected), default=None)


def trace(change: Change, text: str | None) -> Trace:
    """Whether it was applied to what is now this text; None: there is no file."""
    if text is None:
        return "done" if change.target == NOTHING else "not done" if change.source == NOTHING else "unclear"
    if change.target == NOTHING:
        return "not done"
    forward = change.source != NOTHING and _fits(change, text)
    backward = _fits(change.turned(), text) if change.source != NOTHING else applied(change, "") == text
    if forward == backward or (forward and has_come(text, [(each.old, each.new) for each in change.hunks])):
        return "unclear"
    return "not done" if forward else "done"


def _fits(change: Change, text: str) -> bool:
    try:
        applied(change, text)
    except ToolFailed:
        return False
    return True
