"""An assembler for classic BPF, the language of system-call filters.

A program is a list of lines: `Do` computes or returns, `Branch` goes to one of two marks, `Goto` to its only one, `Mark` names the line
that follows. The kernel knows only jumps forward, a conditional one over at most 255 instructions, and programs of at most 4,096. So a
branch that has too far to go becomes a short one over two unconditional jumps, which reach any distance; since that makes others longer,
lengths are found by repeating until nothing changes. The bytes are an array of `struct sock_filter`, little endian as on all machines that
this package knows.

A program that cannot be assembled is a fault of its author: ValueError.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

LOAD = 0x20
"""The 32 bits at an offset into what is looked at."""
AND = 0x54
RETURN = 0x06
IF_EQUAL = 0x15
IF_AT_LEAST = 0x35
IF_ANY_BIT = 0x45

MOST_INSTRUCTIONS = 4_096
_FARTHEST = 255
_GOTO = 0x05
_LONG = 3
"""Instructions of a branch that goes far: the question, and a jump for each answer."""


@dataclass(frozen=True, slots=True)
class Do:
    code: int
    value: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Compares what was loaded with `value`. A mark that is empty is the next line."""

    code: int
    value: int
    then: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class Goto:
    mark: str


@dataclass(frozen=True, slots=True)
class Mark:
    name: str


Line = Do | Branch | Goto | Mark


def assemble(lines: Sequence[Line]) -> bytes:
    if not lines or not isinstance(lines[-1], Do) or lines[-1].code != RETURN:
        raise ValueError("a program ends with a return; this one would run off its end")
    far: set[int] = set()
    while True:
        starts, marks = _layout(lines, far)
        grown = {at for at, line in enumerate(lines) if isinstance(line, Branch) and _reach(line, starts[at], marks) > _FARTHEST}
        if grown <= far:
            break
        far |= grown
    words = [word for at, line in enumerate(lines) for word in _words(line, starts[at], marks, at in far)]
    if len(words) > MOST_INSTRUCTIONS:
        raise ValueError(f"a program of {len(words)} instructions; the kernel takes {MOST_INSTRUCTIONS}")
    return b"".join(struct.pack("<HBBI", *word) for word in words)


def _layout(lines: Sequence[Line], far: set[int]) -> tuple[list[int], dict[str, int]]:
    """Where each line begins, and where each mark is."""
    starts: list[int] = []
    marks: dict[str, int] = {}
    position = 0
    for at, line in enumerate(lines):
        starts.append(position)
        if isinstance(line, Mark):
            if not line.name or line.name in marks:
                raise ValueError(f"the mark {line.name!r} is empty or set twice")
            marks[line.name] = position
        else:
            position += _LONG if at in far else 1
    return starts, marks


def _reach(line: Branch, start: int, marks: dict[str, int]) -> int:
    return max(_offset(name, start + 1, marks) for name in (line.then, line.other))


def _offset(name: str, following: int, marks: dict[str, int]) -> int:
    if not name:
        return 0
    if name not in marks:
        raise ValueError(f"there is no mark {name!r}")
    if marks[name] < following:
        raise ValueError(f"the mark {name!r} lies behind; programs only go forward")
    return marks[name] - following


def _words(line: Line, start: int, marks: dict[str, int], is_far: bool) -> list[tuple[int, int, int, int]]:
    match line:
        case Mark():
            return []
        case Do(code, value):
            return [(code, 0, 0, value)]
        case Goto(mark):
            return [(_GOTO, 0, 0, _offset(mark, start + 1, marks))]
        case Branch(code, value, then, other) if is_far:
            # The jump for `then` has the other one behind it: without a mark it must step over that.
            here = _offset(then, start + 2, marks) if then else 1
            return [(code, 0, 1, value), (_GOTO, 0, 0, here), (_GOTO, 0, 0, _offset(other, start + 3, marks))]
        case Branch(code, value, then, other):
            return [(code, _offset(then, start + 1, marks), _offset(other, start + 1, marks), value)]
    assert_never(line)
