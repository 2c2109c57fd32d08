"""How many tokens a text will take, by estimate: on the safe side for prose, code and JSON in any script.

A tokeniser makes about four characters of English into one token, fewer of code, and one or two tokens of a character of Chinese. Here
three ASCII characters count as one token and every other character as one and a quarter. What a model's own count says is learned
elsewhere (`kernel/estimate.py`) and scales the window; what no estimate can foresee ends in a shorter request, not in an error.
"""

import json
from collections.abc import Callable

from daimon.abi.message import Message, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.abi.tool import Manifest

CHARACTERS_PER_TOKEN = 3
PER_MESSAGE = 8
PER_ATTACHMENT = 1_500


def of_text(text: str) -> int:
    if text.isascii():
        return len(text) // CHARACTERS_PER_TOKEN + 1
    ascii_ = len(text.encode("ascii", "ignore"))
    return ascii_ // CHARACTERS_PER_TOKEN + 1 + (len(text) - ascii_) * 5 // 4


def first(text: str, tokens: int) -> str:
    """As much of its beginning as is no more than so many tokens."""
    return _fitting(text[: max(tokens, 0) * CHARACTERS_PER_TOKEN], tokens, lambda piece, most: piece[:most])


def last(text: str, tokens: int) -> str:
    characters = max(tokens, 0) * CHARACTERS_PER_TOKEN
    return _fitting(text[max(len(text) - characters, 0) :], tokens, lambda piece, most: piece[len(piece) - most :])


def _fitting(piece: str, tokens: int, shorter: Callable[[str, int], str]) -> str:
    while piece and (size := of_text(piece)) > tokens:
        piece = shorter(piece, min(len(piece) - 1, len(piece) * max(tokens, 0) // size))
    return piece


def estimate(message: Message) -> int:
    return PER_MESSAGE + sum(of_part(part) for part in message.parts)


def of_tool(tool: Manifest) -> int:
    return PER_MESSAGE + of_text(f"{tool.name}{tool.description}{json.dumps(tool.parameters)}")


def of_part(part: Part) -> int:
    match part:
        case Text(text):
            return of_text(text)
        case Reasoning(text=text, signature=signature):
            return of_text(text) + len(signature or "") // CHARACTERS_PER_TOKEN
        case ToolCall(tool=tool, arguments=arguments, signature=signature):
            return of_text(f"{tool}{json.dumps(arguments, ensure_ascii=False)}") + len(signature or "") // CHARACTERS_PER_TOKEN
        case ToolResult(parts=parts):
            return sum(of_part(p) for p in parts)
        case _:
            return PER_ATTACHMENT
