"""A history that any provider accepts, made of the one that there is.

Providers refuse a call without a result, a result without a call, and empty texts. A history may hold all of these: a turn was
stopped between call and result, a summary cut one of them off. Invariant of what comes out: system messages stand first; every
assistant message with calls is followed by one tool message with exactly their results, in the order of the calls; no text is
empty. It depends on nothing but the messages, and a message that is added at the end changes nothing before the last call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from daimon.abi.message import Message, Part, Role, Text, ToolCall, ToolResult
from daimon.abi.plain import clean

INTERRUPTED = "no result: it was interrupted"
EARLIER = "(The conversation began earlier.)"


def mended(messages: Sequence[Message]) -> tuple[Message, ...]:
    spoken = [message for message in map(_cleaned, messages) if message.parts]
    head = list(takewhile(lambda message: message.role is Role.SYSTEM, spoken))
    return (*head, *_talk(spoken[len(head) :]))


def _cleaned(message: Message) -> Message:
    """Without empty texts, and without the half characters that no encoding can write."""
    parts = [replace(part, text=clean(part.text)) if isinstance(part, Text) else part for part in message.parts]
    return replace(message, parts=tuple(part for part in parts if not isinstance(part, Text) or part.text.strip()))


def _talk(messages: Sequence[Message]) -> Iterator[Message]:
    if messages and messages[0].role is Role.ASSISTANT:
        yield Message(Role.USER, (Text(EARLIER),))
    for answer, after in _rounds(messages):
        results: dict[str, ToolResult] = {}
        for part in (part for message in after for part in message.parts):
            if isinstance(part, ToolResult):
                results.setdefault(part.call, part)
        calls = answer.calls if answer else ()
        if answer:
            yield answer
        if calls:
            yield Message(Role.TOOL, tuple(results.get(call.call) or _interrupted(call) for call in calls))
        taken = [results[call.call] for call in calls if call.call in results]
        yield from _heard(after, taken)


def _rounds(messages: Sequence[Message]) -> Iterator[tuple[Message | None, list[Message]]]:
    """Each answer with all that came before the next one."""
    answer: Message | None = None
    after: list[Message] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            yield answer, after
            answer, after = message, []
        else:
            after.append(message)
    yield answer, after


def _interrupted(call: ToolCall) -> ToolResult:
    return ToolResult(call.call, call.tool, (Text(INTERRUPTED),), is_error=True)


def _heard(messages: Sequence[Message], taken: Sequence[ToolResult]) -> Iterator[Message]:
    """What was said to the model, without the results that stand with their calls."""
    for message in messages:
        parts = [part for part in message.parts if not any(part is result for result in taken)]
        if parts:
            yield replace(message, role=Role.USER, parts=tuple(_as_said(message.role, parts)))


def _as_said(role: Role, parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, ToolResult):
            yield Text(f"[result of {part.tool}, whose call is not in this history]")
            yield from part.parts
        elif isinstance(part, Text) and role is Role.SYSTEM:
            yield Text(f"[system] {part.text}")
        else:
            yield part
