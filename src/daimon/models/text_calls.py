"""Calls that a model wrote into its text, because it or its server does not know a better way.

They are understood when there is nothing else: when the whole reply, after what was thought, is one call or several, as plain JSON,
in a fence, or in the markers of a model family. With a word before or after them they stay text, for then they may be quoted, from
a page or from an example; so does what is indented as code, what stands in a thought, and what names a tool that was not offered.
To miss a call costs a turn, to invent one may cost more. The gate checks these calls like any other.

A call must be whole. Only where the closing marker of its family follows are brackets closed that the model forgot.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.models import repair

MOST_READ = 256 * 1024
"""Characters of a reply. A longer one is no call, and too long to be looked at while others wait."""
_THOUGHT = re.compile(r"\s*+<(think(?:ing)?)>")
_INDENTED = re.compile(r"(?:[^\S\n]*+\n)*+(?: {4}|\t)")
_FENCE = re.compile(r"```(?:json|tool_call|tool_code)?[^\S\n]*\n")
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_BESIDES = frozenset({"type", "id"})


@dataclass(frozen=True, slots=True)
class Found:
    tool: str
    arguments: JsonValue


@dataclass(frozen=True, slots=True)
class Split:
    thoughts: str
    """What stood between the tags of thinking."""
    calls: tuple[Found, ...]


def split(text: str, tools: Collection[str]) -> Split | None:
    """For a reply that came to its end. None: it is just text."""
    parted = _after_thoughts(text) if tools and len(text) <= MOST_READ else None
    if parted is None or _INDENTED.match(parted[1]):
        return None
    thoughts, spoken = parted[0], parted[1].strip()
    for calls in _readings(spoken):
        if calls and all(call.tool in tools for call in calls):
            return Split("\n".join(thoughts), tuple(calls))
    return None


def arguments(raw: str) -> JsonValue:
    """Of a call, given as a text of JSON, perhaps twice. What cannot be read, or is not whole, stays the text."""
    if not raw.strip():
        return {}
    try:
        value = repair.loads(raw)
        return repair.loads(value) if isinstance(value, str) else value
    except repair.Unreadable:
        return raw


def _after_thoughts(text: str) -> tuple[list[str], str] | None:
    """None: it is still thinking."""
    thoughts: list[str] = []
    at = 0
    while tag := _THOUGHT.match(text, at):
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            return None
        thoughts.append(text[tag.end() : end].strip())
        at = end + len(f"</{tag[1]}>")
    return [thought for thought in thoughts if thought], text[at:]


def _readings(text: str) -> Iterator[list[Found]]:
    for family in _FAMILIES:
        yield _in_markers(family, text)
    fence = _FENCE.match(text)
    is_fenced = fence is not None and text.endswith("```") and text.find("```", fence.end()) == len(text) - 3
    yield _calls(_value(text[fence.end() : -3] if fence and is_fenced else text), needs_arguments=True)


@dataclass(frozen=True, slots=True)
class _Family:
    """How models of one family mark a call."""

    head: re.Pattern[str]
    """What it begins with; the group `name`, if there is one, is the tool."""
    end: re.Pattern[str]
    is_open: bool = False
    """The end may be missing: it is a token that some servers swallow, or there is none."""


def _in_markers(family: _Family, text: str) -> list[Found]:
    """One call after the other, and nothing else."""
    calls: list[Found] = []
    at = 0
    while at < len(text):
        head = family.head.match(text, at)
        end = family.end.search(text, head.end()) if head else None
        if head is None or (end is None and not family.is_open):
            return []
        body = text[head.end() : end.start() if end else len(text)].strip()
        found = _in_body(head.groupdict().get("name"), body, is_whole=end is not None and end[0].startswith("<"))
        if not found:
            return []
        calls += found
        at = end.end() if end else len(text)
    return calls


def _in_body(tool: str | None, body: str, is_whole: bool) -> list[Found]:
    """Where the name stands beside the arguments these must be an object: else it is no call, but a text about one."""
    value = _value(body, is_whole)
    if tool is None:
        return _calls(value)
    return [Found(tool, value)] if isinstance(value, dict) else []


def _value(text: str, is_whole: bool = False) -> JsonValue:
    try:
        return repair.loads_whole(text) if is_whole else repair.loads(text)
    except repair.Unreadable:
        return None


def _calls(value: JsonValue, needs_arguments: bool = False) -> list[Found]:
    """Of one object or a list of them; nothing if one of them is no call."""
    calls = [_call(item, needs_arguments) for item in (value if isinstance(value, list) else [value])]
    return [call for call in calls if call] if all(calls) else []


def _call(value: JsonValue, needs_arguments: bool) -> Found | None:
    """`{"name": …, "arguments": …}` in its many spellings, and nothing beside it: more would be data that looks alike."""
    if not isinstance(value, dict):
        return None
    if isinstance(inner := value.get("function"), dict) and set(value) <= {"function", *_BESIDES}:
        return _call(inner, needs_arguments)
    names = [key for key in _NAMES if key in value]
    given = [key for key in _ARGUMENTS if key in value]
    if len(names) != 1 or len(given) > 1 or (needs_arguments and not given) or not set(value) <= {*names, *given, *_BESIDES}:
        return None
    tool, wanted = value[names[0]], value[given[0]] if given else {}
    if not isinstance(tool, str) or not isinstance(wanted, dict | str):
        return None
    return Found(tool, arguments(wanted) if isinstance(wanted, str) else wanted)


_NAME = r"(?P<name>[\w.-]{1,64})"
_FAMILIES = (
    _Family(re.compile(r"<tool_call>"), re.compile(r"</tool_call>\s*+"), is_open=True),  # Qwen, Hermes
    _Family(re.compile(rf"\[TOOL_CALLS\]\s*+{_NAME}\s*+\[ARGS\]"), re.compile(r"(?=\[TOOL_CALLS\])"), is_open=True),  # Mistral, later
    _Family(re.compile(r"\[TOOL_CALLS\](?=\s*+\[)"), re.compile(r"(?!)"), is_open=True),  # Mistral
    _Family(re.compile(r"<\|python_tag\|>"), re.compile(r"<\|(?:eom|eot)_id\|>\s*+|;\s*+(?=<\|python_tag\|>)"), is_open=True),  # Llama
    _Family(re.compile(rf"<function={_NAME}>"), re.compile(r"</function>\s*+")),  # Llama
    _Family(
        re.compile(
            r"(?:<｜tool▁calls▁begin｜>\s*+)?<｜tool▁call▁begin｜>"
            rf"(?:function<｜tool▁sep｜>)?{_NAME}(?:<｜tool▁sep｜>|\n)\s*+(?:```json\n)?"
        ),
        re.compile(r"(?:```\s*+)?<｜tool▁call▁end｜>\s*+(?:<｜tool▁calls▁end｜>\s*+)?"),
    ),  # DeepSeek
)
