"""Shorter forms of what was said and done. Rules, not judgement: the same message gives the same bytes every time.

    brief   what somebody said and results up to `EXACT` tokens stay as they are; errors up to `ERROR`. Longer results keep their beginning,
            their end, and the lines that speak of errors. Reasoning is left out, long texts and long arguments keep their beginnings.
    bare    one line: which tool, how it went, how long it was, where the whole of it is.

A shorter form says that it is one, and where the whole stands: `recall` with that reference reads it. A call keeps its id and its result
stays behind it, in every form, because providers refuse one without the other.
"""

import re
from dataclasses import replace

from pydantic import JsonValue

from daimon.abi.message import Message, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.context.tokens import CHARACTERS_PER_TOKEN, of_text

EXACT, ERROR, SAID = 400, 1_500, 1_000
"""Tokens up to which a result, an error, and what somebody said stay exact."""
BRIEF = 300
BARE = 100
ARGUMENT = 40
"""Tokens of a single text among the arguments of a call."""
_TELLING = re.compile(r"error|fail|exception|warning|denied|not found|traceback|assert|fatal|panic", re.IGNORECASE)
MOST_TELLING = 12
MOST_LINE = 200
MOST_LOOKED_AT = 400_000


def brief(message: Message, source: str) -> Message:
    return _with(message, tuple(made for part in message.parts if (made := _brief(part, source)) is not None))


def bare(message: Message, source: str) -> Message:
    return _with(message, tuple(made for part in message.parts if (made := _bare(part, source)) is not None))


def clipped(message: Message, source: str, tokens: int) -> Message:
    """At most about so many tokens of text: the beginning and the end."""
    texts = max(1, sum(isinstance(part, Text | ToolResult | Reasoning) for part in message.parts))
    each = max(tokens // texts, 16)
    return _with(message, tuple(_clipped(part, source, each) for part in message.parts))


def clip(text: str, source: str, tokens: int) -> str:
    """The beginning and the end of it, with a word on what is missing between."""
    if of_text(text) <= tokens:
        return text
    characters = tokens * CHARACTERS_PER_TOKEN if text[: 4 * tokens].isascii() else tokens * 4 // 5
    head, tail = text[: characters * 2 // 3], text[len(text) - characters // 3 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters left out; recall ref={source} reads them …]\n{tail}"


def _with(message: Message, parts: tuple[Part, ...]) -> Message:
    return message if parts == message.parts else replace(message, parts=parts)


def _brief(part: Part, source: str) -> Part | None:
    match part:
        case Reasoning():
            return None
        case Text(text):
            return Text(clip(text, source, SAID)) if of_text(text) > SAID else part
        case ToolCall():
            return replace(part, arguments=_shorter(part.arguments, 4 * ARGUMENT))
        case ToolResult(parts=parts, is_error=is_error):
            most = ERROR if is_error else EXACT
            return replace(part, parts=tuple(Text(_extract(p.text, source, most)) if isinstance(p, Text) else p for p in parts))
        case _:
            return part


def _bare(part: Part, source: str) -> Part | None:
    match part:
        case Reasoning():
            return None
        case Text(text):
            return Text(clip(text, source, BARE))
        case ToolCall():
            return replace(part, arguments=_shorter(part.arguments, ARGUMENT))
        case ToolResult(parts=parts, is_error=is_error):
            size = sum(len(p.text) for p in parts if isinstance(p, Text))
            if size <= BARE * CHARACTERS_PER_TOKEN and all(isinstance(p, Text) for p in parts):
                return part
            how = "an error" if is_error else "a result"
            return replace(part, parts=(Text(f"[{how} of {size:,} characters, left out here; recall ref={source} reads it]"),), labels={})
        case _:
            return Text(f"[{part.kind}, left out here; recall ref={source}]")


def _clipped(part: Part, source: str, tokens: int) -> Part:
    match part:
        case Text(text):
            return Text(clip(text, source, tokens))
        case Reasoning(text=text) if of_text(text) > tokens:
            return replace(part, text=clip(text, source, tokens), signature=None)
        case ToolCall():
            return replace(part, arguments=_shorter(part.arguments, tokens))
        case ToolResult(parts=parts):
            return replace(part, parts=tuple(Text(clip(p.text, source, tokens)) if isinstance(p, Text) else p for p in parts))
        case _:
            return part


def _extract(text: str, source: str, most: int) -> str:
    if of_text(text) <= most:
        return text
    middle = text[BRIEF * 2 : MOST_LOOKED_AT]
    telling = [line.strip()[:MOST_LINE] for line in re.split(r"\n|\\n", middle) if _TELLING.search(line)][:MOST_TELLING]
    short = clip(text, source, BRIEF)
    return short if not telling else "\n".join((short, "[lines that speak of errors]", *telling))


def _shorter(value: JsonValue, tokens: int) -> JsonValue:
    match value:
        case dict():
            return {name: _shorter(inner, tokens) for name, inner in value.items()}
        case list():
            kept = [_shorter(inner, tokens) for inner in value[:8]]
            return kept if len(value) <= len(kept) else [*kept, f"… {len(value) - len(kept)} more"]
        case str() if of_text(value) > tokens:
            return f"{value[: tokens * CHARACTERS_PER_TOKEN]}… ({len(value):,} characters)"
        case _:
            return value
