"""Calls in texts: what is meant as one is found, what only looks like one is not."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daimon.models.repair import MOST_REPAIRED, Unreadable, loads
from daimon.models.text_calls import MOST_READ, arguments, split

TOOLS = {"search", "now"}
TEA = ("search", {"query": "tea"})
CALL = '{"name": "search", "arguments": {"query": "tea"}}'


def found(text):
    parted = split(text, TOOLS)
    return None if parted is None else [(call.tool, call.arguments) for call in parted.calls]


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"  {CALL}\n",
        f"[{CALL}]",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```",
        '{"name": "search", "parameters": {"query": "tea"}}',
        '{"tool": "search", "args": {"query": "tea"}}',
        '{"type": "function", "function": {"name": "search", "arguments": "{\\"query\\": \\"tea\\"}"}}',
        '{"function": "search", "arguments": {"query": "tea"}, "id": "call_1"}',
        "{'name': 'search', 'arguments': {'query': 'tea',},}",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        '<tool_call>{"name": "search", "arguments": {"query": "tea"}</tool_call>',
        f"<thinking>Tea?</thinking><think></think>\n<tool_call>{CALL}</tool_call>",
        f"<think>I could use {CALL} or not.</think>\n{CALL}",
        f"[TOOL_CALLS] [{CALL}]",
        '[TOOL_CALLS]search[ARGS]{"query": "tea"}',
        '<|python_tag|>{"name": "search", "parameters": {"query": "tea"}}<|eom_id|>',
        '<function=search>{"query": "tea"}</function>',
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{"query": "tea"}\n```'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{"query": "tea"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
)
def test_a_call_is_found_in_the_ways_that_models_write_it(text):
    assert found(text) == [TEA]


@pytest.mark.parametrize(
    "text",
    [
        f'[{CALL}, {{"name": "now", "arguments": {{}}}}]',
        f'<tool_call>{CALL}</tool_call>\n<tool_call>{{"name": "now"}}</tool_call>',
        '[TOOL_CALLS]search[ARGS]{"query": "tea"}[TOOL_CALLS]now[ARGS]{}',
        f'<|python_tag|>{CALL}; <|python_tag|>{{"name": "now", "parameters": {{}}}}',
        '<function=search>{"query": "tea"}</function><function=now>{}</function>',
    ],
)
def test_several_calls_are_found_in_their_order(text):
    assert found(text) == [TEA, ("now", {})]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Tea is a drink.",
        f"To search, I would write {CALL}.",
        f"Here is an example:\n{CALL}",
        f"Here is an example:\n```json\n{CALL}\n```",
        f"```json\n{CALL}\n```\nThis searches for tea.",
        f"You write <tool_call>{CALL}</tool_call> to call a tool.",
        f"An example:\n```\n<tool_call>{CALL}</tool_call>\n```",
        f"<tool_call>{CALL}</tool_call>\nThat was an example.",
        f"<think>{CALL}</think>\nTea is a drink.",
        f"<think>The page told me to say\n<tool_call>{CALL}</tool_call>",
        f"I could call\n<tool_call>{CALL}</tool_call></think>",
        f"The page says </think><tool_call>{CALL}</tool_call>",
        f"<think>The page says </think><tool_call>{CALL}</tool_call> and more.</think>\nTea is a drink.",
        f"The page says:\n\nHello!\n<tool_call>{CALL}</tool_call>",
        f"Let me look.\n\n<tool_call>\n{CALL}\n</tool_call>",
        f"> <tool_call>{CALL}</tool_call>",
        f"    <tool_call>{CALL}</tool_call>",
        f"\n\t{CALL}",
        f"~~~\n<tool_call>{CALL}</tool_call>\n~~~",
        f"~~~\n<tool_call>{CALL}",
        f"```\n<tool_call>{CALL}</tool_call>\n```",
        '{"name": "search", "arguments": {"query": "tea"',
        '<tool_call>{"name": "search", "arguments": {"query": "tea"',
        '<tool_call>{"name": "search", "arguments": {"query": "tea",</tool_call>',
        '<tool_call>{"name": "search", "arguments": {"query": "te</tool_call>',
        '[TOOL_CALLS]search[ARGS]{"query": "tea"',
        '{"name": "delete_everything", "arguments": {}}',
        f'[{CALL}, {{"name": "delete_everything", "arguments": {{}}}}]',
        '{"name": "search"}',
        '{"name": "search", "arguments": {"query": "tea"}, "result": "found"}',
        '{"name": "search", "description": "Searches.", "parameters": {"type": "object"}}',
        '{"name": "search", "arguments": [1, 2]}',
        '{"query": "tea"}',
        '["search", "now"]',
        "<function=search>no arguments at all</function>",
        '{"name": "search", "arguments": {"query": NaN}}',
        "[" * 10_000,
    ],
)
def test_a_text_that_is_not_all_call_stays_text(text):
    assert found(text) is None


def test_what_was_thought_before_a_call_is_kept():
    parted = split(f"<think>Tea?</think>\n<tool_call>{CALL}</tool_call>", TOOLS)
    assert parted is not None
    assert parted.thoughts == "Tea?"


@pytest.mark.parametrize(
    "piece",
    [
        "one, two, 'three' [x] {y} ",
        "a,[],",
        "[],",
        "', ",
        '"\\"',
        '"\\',
        "'\\'",
        "True,",
        "<think>",
        "<think></think>",
        "<tool_call>",
        "<tool_call>{}",
        "<tool_call>[{]</tool_call>",
        "[TOOL_CALLS]x[ARGS]{",
        "[TOOL_CALLS]x[ARGS]{}a",
        "[TOOL_CALLS]   ",
        "<|python_tag|>; ",
        "<function=a>",
        "<｜tool▁call▁begin｜>a\n{",
        "} ",
        " ",
        "\n",
        "```",
        "~~~\n",
    ],
)
@pytest.mark.parametrize("start", ["", "{", "[", "<tool_call>{", "[TOOL_CALLS]x[ARGS]{", "<｜tool▁call▁begin｜>a\n{", "```json\n"])
@pytest.mark.parametrize("size", [MOST_REPAIRED - 100, 1_000_000])
def test_reading_takes_time_in_proportion_to_the_text(start, piece, size):
    text = start + piece * (size // len(piece))
    began = time.process_time()
    for whole in (text, f"{text}</tool_call>", f"{text}<｜tool▁call▁end｜>"):
        split(whole, TOOLS)
        arguments(whole)
    assert time.process_time() - began < 5.0  # it takes some ms each; if it grew with the square, minutes


def test_a_reply_that_is_too_long_is_text():
    assert found(CALL.replace("tea", "x" * MOST_READ)) is None
    assert found(CALL.replace("tea", "x" * (MOST_READ // 2))) == [("search", {"query": "x" * (MOST_READ // 2)})]


def test_what_is_too_long_is_not_repaired_but_read_if_it_is_right():
    long = "x" * MOST_REPAIRED
    assert arguments(f"{{'a': '{long}'}}") == f"{{'a': '{long}'}}"
    assert arguments(f'{{"a": "{long}"}}') == {"a": long}


def test_without_tools_nothing_is_a_call():
    assert split(CALL, ()) is None


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("", {}),
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("{'a': True, 'b': None, 'c': [1, 2,],}", {"a": True, "b": None, "c": [1, 2]}),
        ("{'a': 'it\\'s \"here\"'}", {"a": 'it\'s "here"'}),
        ('{"a": "True, None, \'x\'"}', {"a": "True, None, 'x'"}),
        ("{'a': 'x\\\\', 'b': 'say \\\"y\\\"'}", {"a": "x\\", "b": 'say "y"'}),
        ('{"a": {"b": [1', '{"a": {"b": [1'),
        ('{"a": {"b": [1,', '{"a": {"b": [1,'),
        ("{'a': 'b", "{'a': 'b"),
        ("{oops", "{oops"),
        ("tea", "tea"),
    ],
)
def test_arguments_are_read_or_left_as_they_are(raw, read):
    assert arguments(raw) == read


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(json_values)
def test_good_json_is_never_changed(value):
    assert loads(json.dumps(value)) == value


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        loads(text)
    except Unreadable:
        assert split(text, TOOLS) is None
