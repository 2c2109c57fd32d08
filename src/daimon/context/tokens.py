"""How many tokens a message or a tool will take, near enough and never too few for plain text."""

import json

from daimon.abi.message import Message, Text, ToolCall, ToolResult
from daimon.abi.tool import Manifest

CHARACTERS_PER_TOKEN = 3
PER_MESSAGE = 8
PER_ATTACHMENT = 1_500


def estimate(message: Message) -> int:
    return PER_MESSAGE + sum(_part(part) for part in message.parts)


def of_tool(tool: Manifest) -> int:
    return PER_MESSAGE + (len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters))) // CHARACTERS_PER_TOKEN


def _part(part: object) -> int:
    match part:
        case Text(text):
            return len(text) // CHARACTERS_PER_TOKEN + 1
        case ToolCall(tool=tool, arguments=arguments):
            return (len(tool) + len(str(arguments))) // CHARACTERS_PER_TOKEN + 1
        case ToolResult(parts=parts):
            return sum(_part(p) for p in parts)
        case _:
            return PER_ATTACHMENT
