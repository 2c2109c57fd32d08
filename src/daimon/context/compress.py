"""Shorter forms of what was said and done. Rules, not judgement: the same message gives the same bytes every time.

    brief   what somebody said and results up to `EXACT` tokens stay as they are; errors up to `ERROR`. Longer results keep their beginning,
            their end, and the lines that speak of errors. Reasoning is left out, long texts and long arguments keep their beginnings.
    bare    one line: which tool, how it went, how long it was, where the whole of it is.
    clipped at most so many tokens, however many parts there are; only where nothing else fits.

A shorter form says that it is one, and where the whole stands: `recall` with that reference reads it. A call keeps its id and its result
stays behind it, in every form, because providers refuse one without the other; nor do they take a message without any part, so one that
would lose all of them says so. A form that would be longer than the one before it is that one (`entries.py`).

What is shortened must be clean of secrets already: half of a secret is not recognised as one.
"""

import json
import re
from dataclasses import replace

from pydantic import JsonValue

from daimon.abi.message import Content, Message, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.context.tokens import PER_MESSAGE, estimate, first, last, of_part, of_text

EXACT, ERROR, SAID = 400, 1_500, 1_000
"""Tokens up to which a result, an error, and what somebody said stay exact."""
BRIEF = 300
BARE = 100
ARGUMENT = 40
"""Tokens of a single text among the arguments of a call; all of them together take at most eight times as many."""
LEAST_TEXT = 24
"""A text that is shorter than this many tokens is only begun, without a word on where the rest is."""
_TELLING = re.compile(r"error|fail|exception|warning|denied|not found|traceback|assert|fatal|panic", re.IGNORECASE)
MOST_TELLING = 12
MOST_LINE = 200
MOST_LOOKED_AT = 400_000
MOST_ITEMS = 8


def brief(message: Message, source: str) -> Message:
    return _with(message, [made for part in message.parts if (made := _brief(part, source)) is not None])


def bare(message: Message, source: str) -> Message:
    """Many texts in one message share what one would have."""
    made = _with(message, [made for part in message.parts if (made := _bare(part, source)) is not None])
    texts = sum(isinstance(part, Text) for part in made.parts)
    return made if texts < 2 or estimate(made) <= 2 * BARE else _gathered(made, source, BARE)


def clipped(message: Message, source: str, tokens: int) -> Message:
    """At most so many tokens, if its calls alone are not more."""
    if estimate(message) <= tokens:
        return message
    made = _with(message, [part for part in message.parts if not isinstance(part, Reasoning)])
    calls = [part for part in made.parts if _is_call(part)]
    left = tokens - PER_MESSAGE
    if not calls:
        return _gathered(made, source, left)
    each = left // (len(calls) + any(isinstance(part, Text) for part in made.parts))
    short = replace(made, parts=tuple(_clipped(part, source, each) for part in made.parts))
    rest = left - sum(of_part(part) for part in short.parts if _is_call(part))
    return _gathered(short, source, max(rest, 0))


def clip(text: str, source: str, tokens: int) -> str:
    """The beginning and the end of it, with a word on what is missing between: never more than so many tokens."""
    if of_text(text) <= tokens:
        return text
    left = tokens - of_text(_missing(len(text), source)) - 2
    if left < LEAST_TEXT:
        return f"{first(text, tokens - 2)}…" if tokens > 2 else ""
    head = first(text, left * 2 // 3)
    tail = last(text[len(head) :], left // 3)
    return f"{head}{_missing(len(text) - len(head) - len(tail), source)}{tail}"


def _missing(characters: int, source: str) -> str:
    return f"\n[… {characters:,} characters left out; recall ref={source} reads them …]\n"


def _with(message: Message, parts: list[Part]) -> Message:
    if len(parts) == len(message.parts) and all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, parts=tuple(parts) or (Text("[thoughts, left out here]"),))


def _gathered(message: Message, source: str, tokens: int) -> Message:
    """All texts as one of so many tokens, where the first of them stood; what is attached only by its kind."""
    words = "\n".join(part.text if isinstance(part, Text) else f"[{part.kind}]" for part in message.parts if not _is_call(part))
    text = clip(words, source, tokens)
    parts = [part for part in message.parts if _is_call(part)]
    at = next((n for n, part in enumerate(message.parts) if not _is_call(part)), 0)
    return replace(message, parts=(*parts[:at], Text(text), *parts[at:]) if text or not parts else tuple(parts))


def _is_call(part: Part) -> bool:
    return isinstance(part, ToolCall | ToolResult)


def _brief(part: Part, source: str) -> Part | None:
    match part:
        case Reasoning():
            return None
        case Text(text):
            return part if of_text(text) <= SAID else Text(clip(text, source, SAID))
        case ToolCall():
            return _called(part, 4 * ARGUMENT)
        case ToolResult(parts=parts, is_error=is_error):
            most = ERROR if is_error else EXACT
            return _resulting(part, [_extract(p, source, most) for p in parts])
        case _:
            return part


def _bare(part: Part, source: str) -> Part | None:
    match part:
        case Reasoning():
            return None
        case Text(text):
            return part if of_text(text) <= BARE else Text(clip(text, source, BARE))
        case ToolCall():
            return _called(part, ARGUMENT)
        case ToolResult(parts=parts, is_error=is_error):
            if sum(map(of_part, parts)) <= BARE:
                return part
            characters = sum(len(p.text) for p in parts if isinstance(p, Text))
            how = "an error" if is_error else "a result"
            return replace(
                part, parts=(Text(f"[{how} of {characters:,} characters, left out here; recall ref={source} reads it]"),), labels={}
            )
        case _:
            return Text(f"[{part.kind}, left out here; recall ref={source}]")


def _clipped(part: Part, source: str, tokens: int) -> Part:
    match part:
        case ToolCall():
            made = _called(part, max(tokens // 8, 1))
            return made if of_part(made) <= tokens else replace(made, arguments={}, signature=None)
        case ToolResult(parts=parts) if sum(map(of_part, parts)) > tokens:
            words = "\n".join(p.text if isinstance(p, Text) else f"[{p.kind}]" for p in parts)
            return replace(part, parts=(Text(clip(words, source, tokens) or "…"),), labels={})
        case _:
            return part


def _resulting(result: ToolResult, parts: list[Content]) -> ToolResult:
    is_same = all(new is old for new, old in zip(parts, result.parts, strict=True))
    return result if is_same else replace(result, parts=tuple(parts))


def _extract(part: Content, source: str, most: int) -> Content:
    if not isinstance(part, Text) or of_text(part.text) <= most:
        return part
    short = clip(part.text, source, BRIEF)
    middle = part.text[BRIEF * 2 : MOST_LOOKED_AT]
    telling = [line.strip()[:MOST_LINE] for line in re.split(r"\n|\\n", middle) if _TELLING.search(line)][:MOST_TELLING]
    return Text(short if not telling else f"{short}\n[lines that speak of errors]\n{first(chr(10).join(telling), BRIEF)}")


def _called(call: ToolCall, tokens: int) -> ToolCall:
    """With shorter arguments. What stays an object even so long that nothing is left of it says how long it was."""
    whole = _json(call.arguments)
    if of_text(whole) <= tokens:
        return call
    shorter = _shorter(call.arguments, tokens)
    if of_text(_json(shorter)) > 8 * tokens:
        shorter = {"left_out": f"{len(whole):,} characters"}
    return call if shorter == call.arguments else replace(call, arguments=shorter)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shorter(value: JsonValue, tokens: int) -> JsonValue:
    match value:
        case dict():
            return {name: _shorter(inner, tokens) for name, inner in value.items()}
        case list():
            kept = [_shorter(inner, tokens) for inner in value[:MOST_ITEMS]]
            return kept if len(value) <= len(kept) else [*kept, f"… {len(value) - len(kept)} more"]
        case str() if of_text(value) > tokens:
            return f"{first(value, tokens)}… ({len(value):,} characters)"
        case _:
            return value
