import struct

import pytest
from tests.sandbox.bpf_machine import run

from daimon.sandbox.bpf import (
    AND,
    IF_ANY_BIT,
    IF_AT_LEAST,
    IF_EQUAL,
    LOAD,
    MOST_INSTRUCTIONS,
    RETURN,
    Branch,
    Do,
    Goto,
    Line,
    Mark,
    assemble,
)

FILLER = Do(AND, 0xFFFF_FFFF)


def answer(lines: list[Line], word: int) -> int:
    return run(assemble(lines), struct.pack("<I", word))


@pytest.mark.parametrize(("code", "word", "expected"), [
    (IF_EQUAL, 7, 1), (IF_EQUAL, 8, 2), (IF_AT_LEAST, 7, 1), (IF_AT_LEAST, 6, 2), (IF_AT_LEAST, 0xFFFF_FFFF, 1),
    (IF_ANY_BIT, 4, 1), (IF_ANY_BIT, 8, 2),
])  # fmt: skip
@pytest.mark.parametrize("distance", [0, 1, 254, 255, 256, 600])
def test_a_branch_takes_the_right_way_however_far_it_is(code: int, word: int, expected: int, distance: int) -> None:
    filler: list[Line] = [FILLER] * distance
    ends: list[Line] = [Mark("yes"), Do(RETURN, 1), Mark("no"), Do(RETURN, 2)]
    for branch in (Branch(code, 7, "yes", "no"), Branch(code, 7, "", "no"), Branch(code, 7, "yes")):
        stay = 1 if not branch.then else 2
        next_line: list[Line] = [] if branch.then and branch.other else [Do(RETURN, stay)]
        assert answer([Do(LOAD, 0), branch, *next_line, *filler, *ends], word) == expected, branch


def test_a_near_branch_is_one_instruction_and_a_far_one_three() -> None:
    def length(distance: int) -> int:
        return len(assemble([Branch(IF_EQUAL, 0, "end"), *[FILLER] * distance, Mark("end"), Do(RETURN, 0)])) // 8 - distance

    assert (length(255), length(256)) == (2, 4)


def test_branches_that_make_each_other_longer_all_arrive() -> None:
    lines: list[Line] = [Do(LOAD, 0)]
    for value in range(200):
        lines += [Branch(IF_EQUAL, value, f"end {value}"), FILLER]
    lines += [Do(RETURN, 0xFFFF)]
    for value in range(200):
        lines += [Mark(f"end {value}"), Do(RETURN, value)]
    assert [answer(lines, value) for value in (*range(200), 200)] == [*range(200), 0xFFFF]


def test_a_goto_arrives() -> None:
    assert answer([Goto("end"), *[FILLER] * 300, Mark("end"), Do(RETURN, 5)], 0) == 5


@pytest.mark.parametrize(("lines", "why"), [
    ([], "run off its end"),
    ([Do(LOAD, 0)], "run off its end"),
    ([Do(RETURN, 0), Mark("end")], "run off its end"),
    ([Goto("nowhere"), Do(RETURN, 0)], "no mark 'nowhere'"),
    ([Branch(IF_EQUAL, 0, "nowhere"), Do(RETURN, 0)], "no mark 'nowhere'"),
    ([Mark("back"), FILLER, Goto("back"), Do(RETURN, 0)], "only go forward"),
    ([Mark("twice"), Mark("twice"), Do(RETURN, 0)], "set twice"),
    ([FILLER] * MOST_INSTRUCTIONS + [Do(RETURN, 0)], "4097 instructions"),
])  # fmt: skip
def test_a_program_that_the_kernel_would_not_take_is_not_made(lines: list[Line], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        assemble(lines)


def test_the_longest_program_that_the_kernel_takes_is_made() -> None:
    assert len(assemble([*[FILLER] * (MOST_INSTRUCTIONS - 1), Do(RETURN, 0)])) == MOST_INSTRUCTIONS * 8
