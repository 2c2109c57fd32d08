"""The pager's policy: which entry stands before the model in which form. Pure: entries and room in, a cut out.

A window grows at its end and keeps its bytes (providers charge little for a beginning that they have seen), until it does not fit. Then it
is cut once, to half of the room, and grows again. A cut is four places in the line of entries:

    begin   what comes before it is left out; memory has it, and a summary says so
    bare    before it, entries are bare
    brief   before it, they are brief
    at      the end of the line when it was cut: what came later is whole

The order of giving up: first long old results become brief, then bare, then whole old turns go, then old rounds of this turn. What is
pinned stays whole as long as anything else can give way: the task and what was recalled for it, open errors, what the agent said it is
about (`focus_on`), and the last results (L1). What is in focus also stays when its round goes, with the call that asked for it. An entry
that a later one has made worthless (the very same call again) is bare where others are brief: duplicates are fused. What a turn was asked
stays as long as any of it does. Only when all that is not enough, every entry of the last round is clipped to an equal share; and when that
is not enough either, there is only what was asked.

What a cut leaves, and in which form, does not depend on what stands before the first turn that is still shown: so a process that reads only
from there makes the same of it.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from daimon.abi.context import Entry, Form, Tier
from daimon.context.watch import open_errors

NEWEST = (8, 3, 1, 0)
"""So many of the last results stay whole; fewer, if that is too much."""
MOST_ERRORS = 5
FOCUS = "focus"
FOCUS_SHARE = 4
"""One part in so many of the room is for what the agent is about."""
MOST_LOOKED_AT = 20_000
"""Characters of an entry in which is looked for it."""
LEAST_CLIP = 12
SMALL_WORDS = frozenset({"about", "all", "and", "are", "for", "from", "not", "our", "that", "the", "this", "with", "your"})
"""They say nothing of what somebody is about."""


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


def cut(line: Line, room: int, before: Cut, clipped: Callable[[Entry, int], int]) -> Cut:
    """A cut that fits, and leaves half of the room free if that can be had. `clipped` tells the size of an entry that is."""
    end = len(line.entries)
    sums, made = _Sums.of(line, room, min(before.begin, end)), before
    for newest in NEWEST:
        made = _cut(line, sums, before, newest)
        if sums.total(made.begin, made.bare, made.brief) <= room:
            return replace(made, room=room)
    last = Cut(made.begin, made.begin, made.begin, end, room=room)
    shown = [line.entries[n] for n in (*heads(line.entries, line.task, last.begin), *range(last.begin, end))]
    share = _share(sorted(entry.tokens[1 if entry.is_block else 0] for entry in shown), room)
    while share >= LEAST_CLIP:
        if sum(clipped(entry, share) for entry in shown) <= room:
            return replace(last, clip=share)
        share //= 2
    return Cut(end, end, end, end, max(room // max(1, len(heads(line.entries, line.task, end))), 1), room)


def _share(sizes: Sequence[int], room: int) -> int:
    """The most that each may have, if those that need less leave the rest to the others; the smallest first."""
    for n, size in enumerate(sizes):
        if size > room // (len(sizes) - n):
            return room // (len(sizes) - n)
        room -= size
    return room


def placed(line: Line, cut: Cut, pins: dict[int, str]) -> list[Form | None]:
    """The form of each entry; None: it is left out. `line` and `pins` are those of the moment of the cut."""
    entries, end = line.entries, len(line.entries)
    worthless = superseded(entries, cut.begin, cut.at)
    exact: Form = "clipped" if cut.clip else "whole"
    forms: list[Form | None] = [None] * min(cut.begin, end)
    forms += [
        exact if n in pins or n >= cut.brief else "bare" if n < cut.bare or n in worthless else "brief"
        for n in range(cut.begin, min(cut.at, end))
    ]
    forms += ["whole"] * (end - len(forms))
    for n in heads(entries, line.task, cut.begin):
        forms[n] = exact
    for n in () if cut.clip else in_focus(entries, pins):
        if forms[n] is None:
            forms[n] = "whole" if n in pins else "bare"
    return forms


def in_focus(entries: Sequence[Entry], pins: dict[int, str]) -> set[int]:
    """What is in focus, with the reply that asked for it and all other results of that: providers refuse one without the other."""
    found: set[int] = set()
    for n in (n for n, why in pins.items() if why == FOCUS):
        first = next((m for m in range(n, -1, -1) if entries[m].starts), n)
        last = next((m for m in range(n + 1, len(entries)) if entries[m].starts), len(entries))
        found.update(range(first, last))
    return found


def heads(entries: Sequence[Entry], task: int, begin: int) -> list[int]:
    """What stays although it is before the beginning: what was asked in this turn, and in that in whose middle the window begins."""
    found = {_asked(entries, task)} if task < begin else set()
    if 0 < begin < len(entries) and entries[begin].turn == entries[begin - 1].turn:
        found.add(_asked(entries, _first_of_turn(entries, begin)))
    return sorted(n for n in found if n is not None and n < begin)


def pinned(line: Line, at: int, room: int, begin: int = 0) -> dict[int, str]:
    """What may not be shortened, and why."""
    entries = line.entries
    asked = _asked(entries, line.task)
    found = {} if asked is None or asked >= at else {asked: "task"}
    if line.task < min(at, len(entries)) and entries[line.task].sort == "memory":
        found[line.task] = "recalled for this turn"
    found |= dict.fromkeys(open_errors(entries, line.task, at)[-MOST_ERRORS:], "an error that nothing has resolved")
    left = room // FOCUS_SHARE
    for n in range(min(at, len(entries)) - 1, min(begin, line.task) - 1, -1) if line.focus else ():
        if entries[n].tokens[0] <= left and _is_about(entries[n], line.focus):
            # Of earlier turns none stays alone: what is left of a window is named by its turns.
            found.setdefault(n, FOCUS if n >= line.task else "focus, of an earlier turn")
            left -= entries[n].tokens[0]
    return found


def superseded(entries: Sequence[Entry], begin: int, end: int) -> set[int]:
    """Results after which the very same call was made again."""
    found: set[int] = set()
    newest: dict[str, int] = {}
    for n in range(begin, min(end, len(entries))):
        call = entries[n].call
        if call and not entries[n].is_error:
            if call in newest:
                found.add(newest[call])
            newest[call] = n
    return found


def tiers(line: Line, forms: Sequence[Form | None], pins: dict[int, str]) -> list[Tier]:
    guard = max(_guard(line.entries, NEWEST[0]), line.task)
    return ["L3" if form is None else "L1" if n in pins or n >= guard else "L2" for n, form in enumerate(forms)]


def line_at(entries: Sequence[Entry], at: int, begin: int) -> Line:
    """As it was at the end of entry `at`: the turn of that moment, and what the agent was about, by what is still to be seen of it."""
    at = min(at, len(entries))
    task = _first_of_turn(entries, at - 1) if at else 0
    first = min(task, _first_of_turn(entries, begin)) if begin < len(entries) else task
    focus = next((entries[n].subject for n in range(at - 1, first - 1, -1) if entries[n].subject.startswith("focus_on ")), "")
    return Line(entries, task, tuple(word for word in focus.lower().split()[1:] if len(word) > 2 and word not in SMALL_WORDS))


def _first_of_turn(entries: Sequence[Entry], n: int) -> int:
    while n > 0 and entries[n - 1].turn == entries[n].turn:
        n -= 1
    return n


def _asked(entries: Sequence[Entry], first: int) -> int | None:
    """What a turn was asked: the first thing that was said in it."""
    return next((n for n in range(first, len(entries)) if entries[n].sort == "said"), None)


def _guard(entries: Sequence[Entry], newest: int) -> int:
    """Where the last so many results begin, with the reply that asked for them."""
    left = newest
    for n in range(len(entries) - 1, -1, -1):
        left -= entries[n].sort == "result"
        if left <= 0:
            return next((m for m in range(n, -1, -1) if entries[m].starts), n)
    return 0


def _is_about(entry: Entry, focus: tuple[str, ...]) -> bool:
    about = f"{entry.file} {entry.subject} {entry.whole.text[:MOST_LOOKED_AT]}".lower()
    return any(word in about for word in focus)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Tokens of the entries from `first` on, added up, in each form."""

    line: Line
    room: int
    first: int
    whole: list[int]
    brief: list[int]
    bare: list[int]
    stays: list[int]
    """Of what is in focus, from the very beginning: it stays where the rest goes."""

    @classmethod
    def of(cls, line: Line, room: int, first: int) -> "_Sums":
        end = len(line.entries)
        sizes = [entry.tokens for entry in line.entries[first:]]
        whole, brief, bare = [size[0] for size in sizes], [size[1] for size in sizes], [size[2] for size in sizes]
        for n in superseded(line.entries, first, end):
            brief[n - first] = bare[n - first]
        pins = pinned(line, end, room, first)
        for n in pins:
            if n >= first:
                brief[n - first] = bare[n - first] = whole[n - first]
        focus = in_focus(line.entries, pins) if FOCUS in pins.values() else set()
        stays = [line.entries[n].tokens[0 if n in pins else 2] if n in focus else 0 for n in range(end)] if focus else [0] * end
        return cls(line, room, first, *(list(accumulate(each, initial=0)) for each in (whole, brief, bare, stays)))

    def total(self, begin: int, bare: int, brief: int) -> int:
        entries = self.line.entries
        out = self.stays[begin] + sum(entries[n].tokens[0] for n in heads(entries, self.line.task, begin))
        b, m, c = begin - self.first, bare - self.first, brief - self.first
        return out + self.bare[m] - self.bare[b] + self.brief[c] - self.brief[m] + self.whole[-1] - self.whole[c]


def _cut(line: Line, sums: _Sums, before: Cut, newest: int) -> Cut:
    entries, begin, end = line.entries, sums.first, len(line.entries)
    guard = max(_guard(entries, newest), begin) if newest else end
    starts = [n for n in range(begin, min(guard + 1, end)) if _may_begin(line, n)]
    target = max(sums.room // 2, (sums.room + _floor(sums, starts, guard)) // 2)
    brief = _least(max(before.brief, begin), guard, lambda n: sums.total(begin, begin, n) <= target)
    bare = _least(begin, brief, lambda n: sums.total(begin, n, brief) <= target)
    if sums.total(begin, bare, brief) > target and starts:
        first = bisect_left(starts, True, key=lambda n: sums.total(n, max(bare, n), max(brief, n)) <= target)
        begin = starts[min(first, len(starts) - 1)]
    return Cut(begin, max(bare, begin), max(brief, begin), end)


def _floor(sums: "_Sums", starts: Sequence[int], guard: int) -> int:
    """What is left when all gave way that may. If that is more than half of the room, only half of the rest is aimed at."""
    begin = starts[-1] if starts else sums.first
    return sums.total(begin, max(guard, begin), max(guard, begin))


def _may_begin(line: Line, n: int) -> bool:
    """Earlier turns go whole, rounds of this one too; what it was asked stays in any case."""
    entries = line.entries
    if n <= line.task:
        return n == 0 or entries[n].turn != entries[n - 1].turn
    return entries[n].starts and n != _asked(entries, line.task)


def _least(low: int, high: int, fits: Callable[[int], bool]) -> int:
    return high if low >= high else low + bisect_left(range(low, high), True, key=fits)
