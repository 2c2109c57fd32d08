"""Long answers in pieces: within the limit, in order, no word lost, the same pieces each time."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.gateway.notation.test_render import balanced

from daimon.gateway.notation import html, plain, slack, telegram
from daimon.gateway.notation.split import split, units

RENDERS = [telegram.render, slack.render, html.render, plain.render]
words = st.text(alphabet="abcdefgh", min_size=1, max_size=12)
sentence = st.lists(words, min_size=1, max_size=30).map(" ".join)
marked = st.one_of(sentence, words.map("**{}**".format), words.map("`{}`".format), words.map("[{}](https://x.example/)".format))
paragraph = st.lists(marked, min_size=1, max_size=6).map(". ".join)
code = st.tuples(st.sampled_from(["", "python", "c++"]), st.lists(sentence, min_size=1, max_size=12)).map(
    lambda it: "\n".join((f"```{it[0]}", *it[1], "```"))
)
items = st.lists(paragraph, min_size=1, max_size=6).map(lambda each: "\n".join(f"- {item}" for item in each))
quote = paragraph.map("> {}".format)
answer = st.lists(st.one_of(paragraph, code, items, quote), min_size=1, max_size=8).map("\n\n".join)


@given(answer, st.integers(min_value=64, max_value=400), st.sampled_from(RENDERS))
@settings(max_examples=60, deadline=None)
def test_every_piece_fits_no_word_is_lost_and_it_is_the_same_each_time(markdown: str, longest: int, render: object) -> None:
    pieces = split(markdown, longest, render)  # type: ignore[arg-type]
    assert all(0 < len(piece) <= longest for piece in pieces)
    assert "".join(map(_letters, pieces)) == _letters(render(markdown))  # type: ignore[operator]
    assert pieces == split(markdown, longest, render)  # type: ignore[arg-type]


@given(st.text(max_size=600), st.integers(min_value=64, max_value=200))
@settings(max_examples=60, deadline=None)
def test_whatever_is_written_every_piece_fits_and_is_well_formed(markdown: str, longest: int) -> None:
    for piece in split(markdown, longest, telegram.render, units):
        assert units(piece) <= longest
        balanced(piece)


def test_a_short_answer_is_one_piece() -> None:
    assert split("Hello **you**", 64, telegram.render) == ("Hello <b>you</b>",)


def test_nothing_is_no_piece() -> None:
    assert split(" \n ", 64, telegram.render) == ()


def test_the_cut_is_after_a_paragraph() -> None:
    first, second = "one " * 20, "two " * 20
    assert split(f"{first}\n\n{second}", 120, plain.render) == (first.strip(), second.strip())


def test_else_it_is_after_a_sentence() -> None:
    text = "This is the first sentence of them. " * 5
    assert all(piece.rstrip().endswith("them.") for piece in split(text, 100, plain.render))


def test_a_block_of_code_that_is_cut_is_opened_again_with_its_language() -> None:
    lines = "\n".join(f"line_{n} = {n}" for n in range(40))
    pieces = split(f"Look:\n\n```python\n{lines}\n```\n\nThat is it.", 200, telegram.render)
    assert len(pieces) > 2
    assert all('<code class="language-python">' in piece for piece in pieces[1:-1])
    assert re.findall(r"line_\d+ =", "".join(pieces)) == [f"line_{n} =" for n in range(40)]


def test_a_table_that_is_cut_gets_its_head_again() -> None:
    rows = "\n".join(f"| {n} | value{n} |" for n in range(30))
    pieces = split(f"| nr | name |\n|---|---|\n{rows}", 120, plain.render)
    assert len(pieces) > 2
    assert all(piece.startswith("nr") for piece in pieces)
    assert re.findall(r"value\d+", "".join(pieces)) == [f"value{n}" for n in range(30)]


@pytest.mark.parametrize("text", ["> " * 400 + "word", "😀" * 500, "<" * 500, "e\u0301" * 500, "```\n" + "x" * 1000, "\\" * 300])
def test_what_cannot_be_cut_well_is_cut_all_the_same(text: str) -> None:
    for piece in split(text, 64, telegram.render, units):
        assert units(piece) <= 64
        balanced(piece)


def test_a_huge_answer_takes_no_time_worth_speaking_of() -> None:
    pieces = split("\n\n".join(f"Paragraph {n} says **something** at length. " * 5 for n in range(300)), 4096, telegram.render)
    assert len(pieces) < 40


def _letters(said: str) -> str:
    bare = re.sub(r'<[^<>]*?>|class="[^"]*"', lambda found: found[0].partition("|")[2] if "|" in found[0] else "", said)
    return re.sub(r"[^a-h]", "", re.sub(r"\(https://x\.example/\)|https://x\.example/|&\w+;", "", bare))


def test_a_maze_of_brackets_is_text_and_links_beside_few_brackets_stay_links() -> None:
    """A maze made the parser look for an end from each bracket: seconds for a message that a guest had the model write."""
    maze = "![" * 200 + "[a](https://a.example)"
    assert "<a " not in telegram.render(maze)
    assert telegram.render(maze).startswith("![![")
    assert telegram.render("[[x]] and [a](https://a.example)") == '[[x]] and <a href="https://a.example">a</a>'
