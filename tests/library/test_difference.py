"""What is different between two versions is told, whatever somebody put into them."""

import difflib

import pytest

from daimon.library.difference import MOST_DIFF, difference
from daimon.skills.bundle import File


def told(before: str, after: str) -> list[str]:
    return difference({"a": File(before.encode())}, {"a": File(after.encode())}).splitlines()


def lines(*count: int) -> list[str]:
    return [f"line {n}" for n in range(*count)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (lines(50), [*lines(20), "new", *lines(20, 50)]),
        (lines(50), lines(1, 50)),
        (lines(50), lines(49)),
        (lines(50), [*lines(3), "x", *lines(4, 40), "y", *lines(41, 50)]),
        (lines(3), lines(0)),
        (lines(0), lines(3)),
        (["x"] * 9, ["x"] * 5),
    ],
)
def test_it_says_what_the_whole_comparison_says(before: list[str], after: list[str]) -> None:
    whole = list(difflib.unified_diff(before, after, "old/a", "new/a", lineterm="", n=2))
    found = told("\n".join(before), "\n".join(after))
    assert [each for each in found if each[0] in "+-"] == [each for each in whole if each[0] in "+-"]
    assert [each for each in found if each.startswith("@@")] == [each for each in whole if each.startswith("@@")]


def test_files_that_are_made_to_take_for_ever_are_told_by_their_size_and_short_ones_still_by_lines() -> None:
    before = [f"{n % 90}" for n in range(9_000)]
    files = {f"{n}.md": "\n".join(before) for n in range(100)}
    old = {**{path: File(text.encode()) for path, text in files.items()}, "z": File(b"good\n")}
    new = {**{path: File(text[::-1].encode()) for path, text in files.items()}, "z": File(b"evil\n")}
    found = difference(old, new)
    assert found.count("look at both") == 100
    assert found.endswith("-good\n+evil")


def test_one_line_in_a_long_file_is_told_as_that() -> None:
    text = lines(20_000)
    assert told("\n".join(text), "\n".join([*text[:15_000], "evil", *text[15_001:]]))[2:] == [
        "@@ -14999,5 +14999,5 @@", " line 14998", " line 14999", "-line 15000", "+evil", " line 15001", " line 15002",
    ]  # fmt: skip


def test_what_is_no_text_and_who_may_run_is_told_and_endless_text_is_cut() -> None:
    found = difference({"a": File(b"x"), "b": File(b"")}, {"a": File(b"x", True), "b": File(b"\xff" * 9)})
    assert found.splitlines() == ["a: may be run", "b: 0 bytes that are no text become 9"]
    assert len(difference({}, {"a": File(b"word\n" * 100_000)})) < MOST_DIFF + 100
