"""Shorter forms: bounded, the same every time, with their calls and a word on where the rest is."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.abi import values
from tests.context.line import PICTURE, SCRIPTS, texts

from daimon.abi.label import owned
from daimon.abi.message import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from daimon.context.compress import BARE, EXACT, LEAST_TEXT, bare, brief, clip, clipped
from daimon.context.tokens import estimate, first, last, of_part, of_text

MIXED = st.lists(st.tuples(st.sampled_from(SCRIPTS), st.integers(0, 3_000)), max_size=4).map(lambda each: "".join(s * n for s, n in each))
parts = st.one_of(
    texts.map(Text),
    st.just(PICTURE),
    texts.map(lambda text: Reasoning(text, "p", "signed")),
    st.builds(lambda given: ToolCall("c", "look", given), values.json_values),
    st.builds(lambda text, is_error: ToolResult("c", "look", (Text(text), PICTURE), is_error), texts, st.booleans()),
)
messages = st.lists(parts, min_size=1, max_size=6).map(lambda each: Message(Role.ASSISTANT, tuple(each), owned("x")))


def calls(message: Message) -> list[tuple[str, str]]:
    return [(part.kind, part.call) for part in message.parts if isinstance(part, ToolCall | ToolResult)]


@settings(max_examples=150, deadline=None)
@given(MIXED, st.integers(0, 3_000))
def test_a_clipped_text_is_never_longer_than_asked_for(text: str, tokens: int) -> None:
    assert clip(text, "t1:4", tokens) == text or of_text(clip(text, "t1:4", tokens)) <= max(tokens, 1)
    for piece in (first(text, tokens), last(text, tokens)):
        assert piece == "" or of_text(piece) <= tokens
    assert text.startswith(first(text, tokens))
    assert text.endswith(last(text, tokens))


def test_a_clipped_text_keeps_its_beginning_and_its_end_and_says_what_is_missing() -> None:
    short = clip("begin " + "x" * 90_000 + " end", "t1:4", 200)
    assert short.startswith("begin ")
    assert short.endswith(" end")
    assert "recall ref=t1:4 reads them" in short
    assert clip("begin" + "x" * 900, "t1:4", LEAST_TEXT).endswith("…")


@settings(max_examples=150, deadline=None)
@given(messages)
def test_every_form_keeps_its_calls_has_parts_and_is_the_same_every_time(message: Message) -> None:
    for form in (brief, bare):
        made = form(message, "t1:4")
        assert calls(made) == calls(message)
        assert made.parts
        assert made.label == message.label
        assert made == form(message, "t1:4")
        assert not any(isinstance(part, Reasoning) for part in made.parts)


@settings(max_examples=150, deadline=None)
@given(messages, st.integers(60, 2_000))
def test_a_clipped_message_keeps_its_calls_and_its_size(message: Message, tokens: int) -> None:
    made = clipped(message, "t1:4", tokens)
    assert calls(made) == calls(message)
    assert estimate(made) <= tokens + 8 * len(calls(message))


def test_small_results_stay_exact_and_long_ones_keep_what_speaks_of_errors() -> None:
    exact = result("word " * 100)
    assert brief(exact, "t1:4") is exact
    long = result("begin\n" + "fine\n" * 3_000 + "ValueError: the disk is full\n" + "fine\n" * 3_000 + "the end")
    short = text_of(brief(long, "t1:4"))
    assert "ValueError: the disk is full" in short
    assert short.startswith("begin")
    assert of_text(short) < 2 * EXACT
    assert text_of(bare(long, "t1:4")) == "[a result of 30,042 characters, left out here; recall ref=t1:4 reads it]"


def test_a_reply_of_nothing_but_thoughts_is_no_empty_message() -> None:
    assert brief(Message(Role.ASSISTANT, (Reasoning("hm", "p"),), owned("x")), "t1:4").text == "[thoughts, left out here]"


def test_many_texts_in_one_message_share_what_one_would_have() -> None:
    many = Message(Role.USER, tuple(Text("word " * 50) for _ in range(500)), owned("x"))
    assert estimate(bare(many, "t1:4")) <= 2 * BARE


def test_arguments_of_any_shape_become_short_and_stay_an_object() -> None:
    huge = ToolCall("c", "look", {f"name {n}": ["漢" * 500] * 40 for n in range(300)})
    made = bare(Message(Role.ASSISTANT, (huge,), owned("x")), "t1:4").parts[0]
    assert isinstance(made, ToolCall)
    assert isinstance(made.arguments, dict)
    assert of_part(made) <= 400


def result(text: str, is_error: bool = False) -> Message:
    return Message(Role.TOOL, (ToolResult("c", "look", (Text(text),), is_error),), owned("x"))


def text_of(message: Message) -> str:
    part: Part = message.parts[0]
    assert isinstance(part, ToolResult)
    assert isinstance(part.parts[0], Text)
    return part.parts[0].text
