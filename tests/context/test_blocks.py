"""Blocks: bounded, labelled by what is in them, and with references to what they quote."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.line import STRANGER, Round, Turning, grown, turns

from daimon.abi.context import Entry
from daimon.abi.label import owned
from daimon.abi.memory import Hit, Item, Page, Reason, Recalled
from daimon.abi.message import Message, Text, ToolCall
from daimon.context import blocks
from daimon.context.entries import Entries
from daimon.context.tokens import estimate
from daimon.testing.clock import START


def line(*told: Turning) -> list[Entry]:
    return [each for turn in told for each in Entries().of_turn(turn.claim.event, turn.claim.turn.id, tuple(turn.steps), turn.events)]


def item(id_: str, text: str, label: object = None) -> Item:
    return Item(id=id_, kind="note", text=text, at=START, label=label or owned("x"), source=f"s-{id_}")  # type: ignore[arg-type]


# -- the summary


@settings(max_examples=40, deadline=None)
@given(st.lists(turns, min_size=1, max_size=4), st.integers(0, 700))
def test_a_summary_rolls_on_and_never_grows_over_its_share(many: list[list[tuple[str, list[Round]]]], most: int) -> None:
    before: Message | None = None
    for k, told in enumerate(many):
        gone = line(*(grown(f"t{k}x{n}", text, done) for n, (text, done) in enumerate(told)))
        made = blocks.summary(before, gone, most)
        if made is not None:
            assert estimate(made.message) <= most
            assert {ref.what for ref in made.refs} <= {"quote"}
            assert all(ref.ref in made.message.text for ref in made.refs)
            before = made.message


def test_a_summary_quotes_every_turn_that_is_in_it_also_those_that_left_earlier() -> None:
    first = blocks.summary(None, line(grown("t1", "one", [Round("uno", 0, ("",))])))
    assert first is not None
    second = blocks.summary(first.message, line(grown("t2", "two", [Round("due", 0, ("",))])))
    assert second is not None
    assert [ref.ref for ref in second.refs] == ["t1", "t2"]
    assert "asked: one; answered: uno" in second.message.text


def test_a_summary_has_the_label_of_what_is_quoted_and_of_nothing_that_left_it() -> None:
    theirs = Turning("t1", "read")
    theirs.reply(ToolCall("c", "look", {}))
    theirs.happen(theirs.intend("c", "look", {}), Text("bad words"), label=STRANGER)
    made = blocks.summary(None, line(theirs))
    assert made is not None
    assert made.message.label.is_trusted
    assert "bad words" not in made.message.text
    said = line(grown("t2", "x", []))
    tainted = [_by_a_stranger(each) for each in said]
    both = blocks.summary(made.message, tainted)
    assert both is not None
    assert not both.message.label.is_trusted
    many = line(*(grown(f"u{n}", "word " * 40, [Round("word " * 60, 0, ("",))]) for n in range(9)))
    later = blocks.summary(both.message, many)
    assert later is not None
    assert "(t2)" not in later.message.text
    assert later.message.label.is_trusted
    assert "Older turns are left out" in later.message.text


def _by_a_stranger(each: Entry) -> Entry:
    return replace(each, whole=replace(each.whole, label=STRANGER))


# -- notices


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=400), st.text(max_size=20), min_size=1, max_size=40), st.integers(50, 300))
def test_notices_never_take_more_than_their_share_and_say_that_there_are_more(stale: dict[str, str], most: int) -> None:
    made = blocks.notices((), stale, most)
    assert made is not None
    assert estimate(made) <= most
    assert made.text.startswith("[now]\n")
    told = made.text.count("changed since you read it")
    assert told >= len(stale) or "more" in made.text.rsplit("\n", 1)[-1]


def test_no_name_begins_a_line_of_its_own() -> None:
    made = blocks.notices((), {"a\n- not resolved: everything": ""})
    assert made is not None
    assert made.text.count("\n") == 1


def test_nothing_to_say_is_no_message() -> None:
    assert blocks.notices((), {}) is None


# -- page and memory


def test_the_page_is_labelled_and_quotes_its_sources() -> None:
    made = blocks.page(Page((item("n1", "likes tea"), item("n2", "said so", STRANGER)), 4_000))
    assert made is not None
    assert not made.message.label.is_trusted
    assert [ref.ref for ref in made.refs] == ["s-n1", "s-n2"]
    assert blocks.page(Page((), 4_000)) is None
    full = blocks.page(Page((item("n1", "likes tea"),), 4_000, ("n2", "n3")))
    assert full is not None
    assert "these did not fit: n2, n3." in full.message.text


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=600), max_size=30), st.integers(0, 2_000))
def test_what_is_recalled_keeps_to_its_room(told: list[str], most: int) -> None:
    hits = tuple(Hit(item(f"n{n}", text), 1.0, (Reason("words", n + 1),)) for n, text in enumerate(told))
    made = blocks.memory(Recalled(hits, "words"), most)
    if made is not None:
        assert estimate(made.message) <= most
        why = blocks.why(made.refs)
        assert why
        assert all(reason == f"words {int(id_[1:]) + 1}" for id_, reason in why.items())


def test_a_block_that_is_too_long_keeps_its_beginning_or_is_none() -> None:
    made = blocks.page(Page((item("n1", "word " * 2_000),), 20_000))
    assert made is not None
    short = blocks.fitted(made, 100)
    assert short is not None
    assert estimate(short.message) <= 100
    assert short.hash != made.hash
    assert short.refs == made.refs
    assert blocks.fitted(made, 10) is None
    assert blocks.fitted(short, 100) is short


def test_what_says_the_same_is_told_once_and_what_says_more_is_told_too() -> None:
    told = ["the spare key is under the blue pot", "Remember that the spare key is under the blue pot", "Anna has a spare key, and a dog"]
    hits = tuple(Hit(item(f"n{n}", text), 1.0, ()) for n, text in enumerate(told))
    made = blocks.memory(Recalled(hits, "words"), 500)
    assert made is not None
    assert [line for line in made.message.text.split("\n") if line.startswith("- ")] == [f"- {told[0]}", f"- {told[2]}"]
