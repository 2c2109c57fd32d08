"""Lines that break between words, on a terminal of 20 columns."""

import pytest

from daimon.cli.wrap import Wrap, fill

FENCED = "```py\nx = 1 + 2 + 3 + 4 + 5 + 6 + 7\n\n```\n"

COLUMNS = 20


def broken(text: str) -> list[str]:
    return [line.rstrip(" ") for line in fill(text, columns=COLUMNS).split("\n")]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a line that fits", ["a line that fits"]),
        ("words that go on and on", ["words that go on", "and on"]),
        ("exactly nineteen ok and", ["exactly nineteen ok", "and"]),
        ("one\n\ntwo\n", ["one", "", "two", ""]),
        ("see https://example.com/a/long/way/to/go now", ["see", "https://example.com/a/long/way/to/go", "now"]),
        ("日本語のテキストもここで折り返す", ["日本語のテキストも", "ここで折り返す"]),
        ("~~~\na b c d e f g h i j k l m n\n~~~\n", ["~~~", "a b c d e f g h i j k l m n", "~~~", ""]),
        (f"{FENCED}words that go on and on", [*FENCED.rstrip("\n").split("\n"), "words that go on", "and on"]),
    ],
    ids=["short", "long", "full", "breaks", "one long word", "no spaces", "fenced", "after a fence"],
)
def test_lines_break_between_words(text: str, lines: list[str]) -> None:
    assert broken(text) == lines


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pieces_make_the_same_lines_as_the_whole(size: int) -> None:
    text = f"words that go on and on, https://example.com/a/long/way/to/go 日本語のテキスト\n\n{FENCED}and  then   some more of them. "
    wrap = Wrap(columns=COLUMNS)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert "".join(map(wrap.feed, pieces)) + wrap.flush() == fill(text, columns=COLUMNS)


def test_only_the_word_under_way_is_held_back() -> None:
    wrap = Wrap(columns=COLUMNS)
    assert wrap.feed("slow ") == "slow "
    assert wrap.feed("and stea") == "and "
    assert wrap.feed("dy ") == "steady "


def test_a_notice_goes_on_under_its_words() -> None:
    assert fill("  · a notice that is long", "    ", COLUMNS).split("\n") == ["  · a notice that ", "    is long"]


def test_what_would_steer_the_terminal_takes_the_room_that_it_is_shown_in() -> None:
    assert fill("\x1b[31m and the rest of it", columns=COLUMNS) == "␛[31m and the rest \nof it"
