"""A request of ours as the library takes it. Pure: blobs are read before (`contents.fetched`).

Invariant: the same request gives the same bytes on the wire, and each message of ours becomes messages of the wire that depend on
it alone, so that a longer conversation begins with the bytes of the shorter one and the provider's cache finds them. Reasoning and
signatures go back only to the provider that made them.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from daimon.abi.ids import BlobHash
from daimon.abi.message import Audio, File, Image, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from daimon.abi.plain import clean
from daimon.abi.tool import Manifest
from daimon.models.contents import Senses, named, shown
from daimon.models.opaque import unpack
from daimon.models.schema import told

if TYPE_CHECKING:
    from pydantic_ai.messages import BinaryContent, ModelMessage, ModelResponsePart, ToolReturnPart
    from pydantic_ai.models import ModelRequestParameters

_FITTING = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""Ids of calls that the strictest providers take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads the translation."""

    provider: str
    """As our reasoning parts name it."""
    system: str
    """As the library names it."""
    senses: Senses
    has_strict_ids: bool = False
    """Takes only short plain ids of calls. Others may need their own back as they were."""
    id_length: int | None = None
    """Takes only ids of calls that are letters and digits, so many of them."""
    signs_thoughts: bool = False
    """Takes no thought without its signature, such as one that was interrupted."""


def parameters(messages: Sequence[Message], tools: Sequence[Manifest]) -> "ModelRequestParameters":
    """The system messages, and the tools in their order, strict where the provider has it and the schema allows it."""
    from pydantic_ai.messages import InstructionPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[ToolDefinition(name=t.name, description=t.description, parameters_json_schema=told(t.parameters)) for t in tools],
        instruction_parts=[InstructionPart(message.text) for message in messages if message.role is Role.SYSTEM],
    )


def translated(messages: Sequence[Message], reader: Reader, blobs: Mapping[BlobHash, bytes]) -> "list[ModelMessage]":
    """Of a mended history (`history.mended`), without its system messages."""
    return [wire for message in messages for wire in _translated(message, reader, blobs)]


def _translated(message: Message, reader: Reader, blobs: Mapping[BlobHash, bytes]) -> "Iterator[ModelMessage]":
    from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart

    match message.role:
        case Role.ASSISTANT:
            if parts := [wire for part in message.parts if (wire := _own(part, reader, blobs))]:
                yield ModelResponse(parts, provider_name=reader.system)
        case Role.TOOL:
            yield ModelRequest([_result(part, reader, blobs) for part in message.parts if isinstance(part, ToolResult)])
        case Role.USER:
            if items := shown(message.parts, reader.senses, blobs):
                yield ModelRequest([UserPromptPart(_flat(items))])
        case Role.SYSTEM:
            return


def _own(part: Part, reader: Reader, blobs: Mapping[BlobHash, bytes]) -> "ModelResponsePart | None":
    """A part of what the model itself said."""
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    match part:
        case Text():
            return TextPart(clean(part.text))
        case Reasoning() if part.provider == reader.provider and (part.signature or not reader.signs_thoughts):
            kept = unpack(part.signature)
            return ThinkingPart(
                clean(part.text), id=kept.id, signature=kept.signature, provider_name=reader.system, provider_details=kept.details
            )
        case ToolCall():
            kept = unpack(part.signature)
            details = kept.details if kept.provider == reader.provider else None
            arguments = part.arguments if isinstance(part.arguments, dict | str) else json.dumps(part.arguments, ensure_ascii=False)
            return ToolCallPart(
                part.tool, arguments, _id(part.call, reader), provider_name=reader.system if details else None, provider_details=details
            )
        case Image() | Audio() | File():
            return TextPart(named(part, blobs))
        case _:
            return None


def _result(result: ToolResult, reader: Reader, blobs: Mapping[BlobHash, bytes]) -> "ToolReturnPart":
    from pydantic_ai.messages import ToolReturnPart

    content = _flat(shown(result.parts, reader.senses, blobs))
    return ToolReturnPart(result.tool, content, _id(result.call, reader), outcome="failed" if result.is_error else "success")


def _flat(items: "list[str | BinaryContent]") -> "str | list[str | BinaryContent]":
    """One text if it is all text: the simplest servers take nothing else."""
    texts = [item for item in items if isinstance(item, str)]
    return "\n".join(texts) if len(texts) == len(items) else items


def _id(call: str, reader: Reader) -> str:
    digest = hashlib.sha256(call.encode("utf-8", "replace")).hexdigest()
    if reader.id_length:
        return call if len(call) == reader.id_length and call.isascii() and call.isalnum() else digest[: reader.id_length]
    return call if not reader.has_strict_ids or _FITTING.fullmatch(call) else f"call_{digest[:24]}"
