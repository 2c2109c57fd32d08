"""Diffs say what changed: a patch made of one turns the old text into the new one."""

from hypothesis import given
from hypothesis import strategies as st

from daimon.sandbox.files.diff import MOST_LINES, unified
from daimon.sandbox.files.patching import applied, parsed, trace

LINES = st.lists(st.sampled_from(["a", "b", "c", "", " x", "-y", "+z", "@ @", "\\ q"]), max_size=30)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(TEXTS, TEXTS)
def test_a_patch_made_of_a_diff_makes_the_new_text(old: str, new: str) -> None:
    diff = unified(old, new)
    if old == new:
        assert diff == ""
        return
    [change] = parsed(f"--- a/x\n+++ b/x\n{diff}\n")
    assert applied(change, old) == new
    assert applied(change.turned(), new) == old
    assert trace(change, new) in ("done", "unclear")
    assert trace(change, old) in ("not done", "unclear")


def test_a_small_change_in_a_large_text_is_told_shortly() -> None:
    old = "".join(f"{n}\n" for n in range(200_000))
    assert unified(old, old.replace("\n100000\n", "\nx\n")).split("\n")[0] == "@@ -99998,7 +99998,7 @@"


def test_a_great_change_is_cut_and_that_is_said() -> None:
    diff = unified("".join(f"a{n}\n" for n in range(3_000)), "".join(f"b{n}\n" for n in range(3_000)))
    assert diff.endswith("… the rest of the diff is left out")
    assert diff.count("\n") == MOST_LINES
    long = unified("a" * 100_000, "b" * 100_000)
    assert len(long) < 13_000
