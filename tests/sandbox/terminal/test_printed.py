"""What was printed, as it is kept and as it is read."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daimon.abi.errors import NotFound
from daimon.sandbox.terminal.kept import Kept
from daimon.sandbox.terminal.plain import Plain, rendered
from daimon.sandbox.terminal.printing import Printing
from daimon.sandbox.terminal.words import Reports


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\n", "plain\n"),
        (b"\x1b[31mred\x1b[0m\r\n", "red\n"),
        (b"10%\r50%\r100%\ndone", "100%\ndone"),
        (b"long line\rshort\x1b[K\n", "short\n"),
        (b"abc\b\bX\n", "aXc\n"),
        (b"\x1b]0;title\x07shown\x1b]8;;http://x\x1b\\link", "shownlink"),
        (b"bad \xff\xfe utf", "bad \ufffd\ufffd utf"),
        (b"\x00\x01\x02\x7f", ""),
        (b"\x1b", ""),
        ("grüße ✓".encode(), "grüße ✓"),
    ],
)
def test_what_a_terminal_shows_is_text(data: bytes, text: str) -> None:
    assert rendered(data) == text


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_pieces_say_what_the_whole_says(pieces: list[bytes]) -> None:
    plain = Plain()
    shown = "".join(plain.take(piece) for piece in pieces) + plain.take(b"", is_last=True)
    assert "\x1b" not in shown
    assert shown == Plain().take(b"".join(pieces), is_last=True)


def test_many_beginnings_of_sequences_take_no_time() -> None:
    assert rendered(b"\x1b]" * 200_000 + b"\x1b[" * 200_000 + b"\x1bP\x1b" * 100_000) is not None


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=30), st.integers(-400, 400), st.integers(1, 100))
def test_what_is_kept_is_the_beginning_and_the_end(tmp_path_factory, pieces: list[bytes], start: int, length: int) -> None:  # type: ignore[no-untyped-def]
    kept, whole = Kept(tmp_path_factory.mktemp("kept"), each=128), b"".join(pieces)
    keeping = kept.begin("o")
    for piece in pieces:
        keeping.add(piece)
    kept.finish(keeping)
    if not whole:
        return
    found = kept.read("o", start, length)
    assert found.size == len(whole)
    assert found.missing == max(0, len(whole) - 128)
    assert whole[found.start : found.start + len(found.data)] == found.data
    first = max(0, len(whole) + start) if start < 0 else min(start, len(whole))
    if not 64 <= first < 64 + found.missing:
        assert found.start == first


def test_the_oldest_outputs_go_when_there_are_too_many(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "a", each=100, in_all=300)
    for number in range(6):
        keeping = kept.begin(f"o{number}")
        keeping.add(b"x" * 100)
        kept.finish(keeping)
        os.utime(tmp_path / "a" / f"o{number}", ns=(number, number))
    with pytest.raises(NotFound, match="not there any more"):
        kept.read("o0", 0, 10)
    assert kept.read("o5", 0, 10).data == b"x" * 10


def test_a_disk_that_is_full_ends_the_keeping_and_nothing_else(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "a")
    keeping = kept.begin("o")
    (tmp_path / "a" / "o").mkdir()
    keeping.add(b"x")
    assert keeping.failed


async def test_what_is_told_of_a_long_output_is_its_beginning_and_its_end(tmp_path: Path) -> None:
    printing = Printing(Kept(tmp_path).begin("o"))
    printing.add(b"first\n" + b"x" * 1_000_000 + b"\nlast")
    text = printing.text(1_000)
    assert text.is_cut
    assert text.text.startswith("first\n")
    assert text.text.endswith("\nlast")
    assert len(text.text) < 1_200


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_reports_are_found_in_any_pieces_and_nonsense_is_passed_over(pieces: list[bytes]) -> None:
    reports = Reports("token")
    for piece in pieces:
        reports.take(piece)
    assert [(each.kind, each.text) for each in reports.take(b"\0token end 0 /x\0")][-1:] == [("end", "0 /x")]
