"""Calls that a model wrote into its text, because it or its server does not know a better way.

They are understood when the whole text is calls, or when they stand in the markers of a model family at its end. JSON that is
quoted amid prose, in a fence after an explanation, or that names a tool which was not offered, stays text: to miss a call costs a
turn, to invent one may cost more. The gate checks these calls like any other.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.models import repair

_THOUGHTS = re.compile(r"<think(?:ing)?>(.*?)</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"```(?:json|tool_call|tool_code)?\s*\n(.*?)\n?```", re.DOTALL)
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
    text: str
    """What was said before the calls."""
    calls: tuple[Found, ...]


def split(text: str, tools: Collection[str]) -> Split | None:
    """For a reply that came to its end. None: it is just text."""
    spoken = _THOUGHTS.sub("", text).strip()
    if not spoken or not tools:
        return None
    for prose, calls in _readings(spoken):
        if calls and all(call.tool in tools for call in calls):
            thoughts = "\n".join(thought[1].strip() for thought in _THOUGHTS.finditer(text))
            return Split(thoughts, prose.strip(), tuple(calls))
    return None


def arguments(raw: str) -> JsonValue:
    """Of a call, given as a text of JSON, perhaps twice. What cannot be read stays the text."""
    if not raw.strip():
        return {}
    try:
        value = repair.loads(raw)
        return repair.loads(value) if isinstance(value, str) else value
    except repair.Unreadable:
        return raw


def _readings(text: str) -> Iterator[tuple[str, list[Found]]]:
    for pattern, read in _FAMILIES:
        if found := _at_the_end(pattern, read, text):
            yield found
    fence = _FENCE.fullmatch(text)
    yield "", _objects(fence[1] if fence else text, needs_arguments=True)


def _at_the_end(pattern: re.Pattern[str], read: Callable[[re.Match[str]], list[Found]], text: str) -> tuple[str, list[Found]] | None:
    """Calls in markers, from the beginning of a line to the end of the text, with nothing but calls among them."""
    first = pattern.search(text)
    if first is None or not _starts_a_line(text, first.start()):
        return None
    calls: list[Found] = []
    at = first.start()
    while match := pattern.match(text, at):
        read_here = read(match)
        if not read_here:
            return None
        calls += read_here
        at = match.end()
    return (text[: first.start()], calls) if at == len(text) else None


def _starts_a_line(text: str, at: int) -> bool:
    """Outside of a fence: there it would be an example."""
    before = text[:at]
    return before[before.rfind("\n") + 1 :].strip() == "" and before.count("```") % 2 == 0


def _objects(text: str, needs_arguments: bool = False) -> list[Found]:
    """One object or a list of them; nothing if one of them is no call."""
    try:
        value = repair.loads(text)
    except repair.Unreadable:
        return []
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


def _body(match: re.Match[str]) -> list[Found]:
    return _objects(match["body"])


def _named(match: re.Match[str]) -> list[Found]:
    """The name stands beside the arguments, which must be readable: else it is no call, but a text about one."""
    wanted = arguments(match["body"])
    return [Found(match["name"].strip(), wanted)] if isinstance(wanted, dict) else []


def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(rf"{source}\s*", re.DOTALL)


_FAMILIES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], list[Found]]], ...] = (
    (_pattern(r"<tool_call>(?P<body>(?:(?!<tool_call>).)*?)(?:</tool_call>|\Z)"), _body),  # Qwen, Hermes
    (_pattern(r"\[TOOL_CALLS\]\s*(?P<name>[\w.-]+)\s*\[ARGS\](?P<body>\{.*?\})(?=\s*(?:\[TOOL_CALLS\]|\Z))"), _named),  # Mistral, later
    (_pattern(r"\[TOOL_CALLS\](?P<body>\s*\[.*)"), _body),  # Mistral
    (
        _pattern(r"<\|python_tag\|>(?P<body>(?:(?!<\|python_tag\|>).)*?)(?:<\|eom_id\|>|<\|eot_id\|>|;(?=\s*<\|python_tag\|>)|\Z)"),
        _body,
    ),  # Llama
    (_pattern(r"<function=(?P<name>[\w.-]+)>(?P<body>.*?)</function>"), _named),  # Llama
    (
        _pattern(
            r"(?:<｜tool▁calls▁begin｜>)?<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>[\w.-]+)(?:<｜tool▁sep｜>|\n)\s*"
            r"(?:```json\n)?(?P<body>\{.*?\})\s*(?:```)?\s*<｜tool▁call▁end｜>(?:\s*<｜tool▁calls▁end｜>)?"
        ),
        _named,
    ),  # DeepSeek
)
