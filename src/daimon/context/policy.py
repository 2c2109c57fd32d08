"""The pager's policy: which entry stands before the model in which form. Pure: entries and room in, a cut out.

A window grows at its end and keeps its bytes (providers charge little for a beginning that they have seen), until it does not fit. Then it
is cut once, to half of the room, and grows again. A cut is four places in the line of entries:

    begin   what comes before it is left out; memory has it, and a summary says so
    bare    before it, entries are bare
    brief   before it, they are brief
    at      the end of the line when it was cut: what came later is whole

The order of giving up: first long old results become brief, then bare, then whole old turns go, then old rounds of this turn. What is
pinned stays whole as long as anything else can give way: the task, errors that nothing has resolved, what the agent said it is about
(`focus_on`), and the last results (L1). An entry that a later one has made worthless (the same file read again, the same command run again)
is bare where others are brief: duplicates are fused. Only when all that is not enough, every entry is clipped to an equal share.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from daimon.abi.context import Entry, Form, Tier

NEWEST = (8, 3, 1, 0)
"""So many of the last results stay whole; fewer, if that is too much."""
MOST_ERRORS = 5
FOCUS_SHARE = 4
"""One part in so many of the room is for what the agent is about."""
LEAST_CLIP = 24


@dataclass(frozen=True, slots=True)
class Cut:
    begin: int = 0
    bare: int = 0
    brief: int = 0
    at: int = 0
    clip: int = 0
    """The most tokens of one entry before `at`; 0: as many as it has."""
    room: int = 0
    """For which it was made."""


@dataclass(frozen=True, slots=True)
class Line:
    """What the policy looks at."""

    entries: Sequence[Entry]
    task: int
    """Where this turn begins: its first entry, which may be a block of memory; then comes what was asked."""
    focus: tuple[str, ...] = ()


def size(form: Form | None) -> int:
    return 2 if form == "bare" else 1 if form == "brief" else 0


def cut(line: Line, room: int, before: Cut) -> Cut:
    """A cut that fits, and leaves half of the room free if that can be had."""
    for newest in NEWEST:
        made = _cut(line, room, before, newest)
        if _total(line, made) <= room:
            return made
    last = _cut(line, room, before, 0)
    shown = [n for n in range(len(line.entries)) if n >= last.begin or n in _task(line)]
    return replace(last, clip=max(LEAST_CLIP, room // max(1, len(shown)) - 16))


def placed(entries: Sequence[Entry], cut: Cut, pins: dict[int, str]) -> list[Form | None]:
    """The form of each entry; None: it is left out. `pins` are those of the moment of the cut."""
    worthless = superseded(entries[: cut.at])
    forms: list[Form | None] = [None] * min(cut.begin, len(entries))
    for n in range(len(forms), len(entries)):
        forms.append(_form(n, cut, n in pins, n in worthless))
    for n in pins:
        if n < len(forms) and forms[n] is None and pins[n] == "task":
            forms[n] = "clipped" if cut.clip else "whole"
    return forms


def pinned(line: Line, at: int, room: int) -> dict[int, str]:
    """What may not be shortened, and why."""
    entries = line.entries[:at]
    found = dict.fromkeys(_task(line), "task")
    found |= dict.fromkeys(open_errors(entries, line.task)[-MOST_ERRORS:], "an error that nothing has resolved")
    left = room // FOCUS_SHARE
    for n in range(len(entries) - 1, -1, -1) if line.focus else ():
        if entries[n].tokens[0] <= left and _is_about(entries[n], line.focus):
            found.setdefault(n, "focus")
            left -= entries[n].tokens[0]
    return found


def open_errors(entries: Sequence[Entry], since: int) -> list[int]:
    """Errors of this turn after which the same tool has not done the same thing without one."""
    failed: dict[str, int] = {}
    for n in range(since, len(entries)):
        entry = entries[n]
        if entry.sort == "result" and entry.is_error:
            failed[entry.subject] = n
        elif entry.sort == "result":
            failed.pop(entry.subject, None)
    return sorted(failed.values())


def superseded(entries: Sequence[Entry]) -> set[int]:
    """Results after which the same tool looked at the same thing again, and files read that were read again or changed since."""
    found: set[int] = set()
    newest: dict[str, int] = {}
    for n, entry in enumerate(entries):
        if entry.sort != "result" or entry.is_error:
            continue
        earlier = newest.get(entry.subject)
        if earlier is not None:
            found.add(earlier)
        newest[entry.subject] = n
    return found


def stale_files(entries: Sequence[Entry]) -> dict[str, int]:
    """Files that the model has read and that were changed by a later call and not read since; with the entry that has them."""
    read: dict[str, int] = {}
    stale: dict[str, int] = {}
    for n, entry in enumerate(entries):
        for path in entry.changes:
            if path in read and entry.file != path:
                stale[path] = read[path]
        if entry.file and entry.version and not entry.is_error:
            read[entry.file] = n
            stale.pop(entry.file, None)
    return stale


def tiers(line: Line, forms: Sequence[Form | None], pins: dict[int, str]) -> list[Tier]:
    guard = _guard(line, NEWEST[0])
    return [
        "L3" if form is None else "L1" if n in pins or n >= max(guard, line.task) else "L2"
        for n, form in enumerate(forms)
    ]  # fmt: skip


def _form(n: int, cut: Cut, is_pinned: bool, is_worthless: bool) -> Form:
    if n >= cut.at:
        return "whole"
    if is_pinned or n >= cut.brief:
        return "clipped" if cut.clip else "whole"
    return "bare" if n < cut.bare or is_worthless else "brief"


def _task(line: Line) -> list[int]:
    """What this turn was asked: the first thing that was said in it."""
    asked = next((n for n in range(line.task, len(line.entries)) if line.entries[n].sort == "said"), None)
    return [] if asked is None else [asked]


def _guard(line: Line, newest: int) -> int:
    """Where the last so many results begin, with the reply that asked for them."""
    left = newest
    for n in range(len(line.entries) - 1, -1, -1):
        if left == 0:
            return n + 1
        left -= line.entries[n].sort == "result"
        if left == 0:
            return next((m for m in range(n, -1, -1) if line.entries[m].starts), n)
    return 0


def _is_about(entry: Entry, focus: tuple[str, ...]) -> bool:
    about = f"{entry.file} {entry.subject}".lower()
    return any(word in about for word in focus) or any(word in entry.whole.text.lower() for word in focus)


def _total(line: Line, made: Cut) -> int:
    pins = pinned(line, made.at, made.room)
    forms = placed(line.entries, made, pins)
    return sum(entry.tokens[size(form)] for entry, form in zip(line.entries, forms, strict=True) if form is not None)


def _cut(line: Line, room: int, before: Cut, newest: int) -> Cut:
    entries, end, target = line.entries, len(line.entries), room // 2
    guard = max(_guard(line, newest), 0) if newest else end
    pins, worthless = pinned(line, end, room), superseded(entries)
    whole, brief, bare = _sums(entries, pins, worthless)
    task = sum(entries[n].tokens[0] for n in _task(line))

    def total(begin: int, b: int, c: int) -> int:
        out = task if begin > line.task else 0
        return out + bare[b] - bare[begin] + brief[c] - brief[b] + whole[end] - whole[c]

    begin = min(before.begin, end)
    to_brief = _least(before.brief, guard, lambda n: total(begin, begin, n) <= target)
    to_bare = _least(begin, to_brief, lambda n: total(begin, n, to_brief) <= target)
    starts = [n for n in range(begin, min(max(guard, begin) + 1, end)) if _may_begin(line, n)]
    first = bisect_left(starts, True, key=lambda n: total(n, max(to_bare, n), max(to_brief, n)) <= target) if starts else 0
    if total(begin, to_bare, to_brief) > target and starts:
        begin = starts[min(first, len(starts) - 1)]
    return Cut(begin, max(to_bare, begin), max(to_brief, begin), end, room=room)


def _may_begin(line: Line, n: int) -> bool:
    """Earlier turns go whole, rounds of this one too; what it was asked stays in any case."""
    entries = line.entries
    if n <= line.task:
        return n == 0 or entries[n].turn != entries[n - 1].turn
    return entries[n].starts and n not in _task(line)


def _sums(entries: Sequence[Entry], pins: dict[int, str], worthless: set[int]) -> tuple[list[int], list[int], list[int]]:
    whole = [entry.tokens[0] for entry in entries]
    brief = [entry.tokens[1] for entry in entries]
    bare = [entry.tokens[2] for entry in entries]
    for n in worthless:
        brief[n] = bare[n]
    for n in pins:
        brief[n] = bare[n] = whole[n]
    return list(accumulate(whole, initial=0)), list(accumulate(brief, initial=0)), list(accumulate(bare, initial=0))


def _least(low: int, high: int, fits: Callable[[int], bool]) -> int:
    return high if low >= high else low + bisect_left(range(low, high), True, key=fits)
