"""What people, models and tools say to each other: messages made of parts.

The parts are a versioned union, told apart by `kind`. Large things (images, audio, files) are named by blob hash, never held.
A provider's reasoning is kept with its opaque signature, because some providers refuse a history without it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from daimon.abi.ids import BlobHash
from daimon.abi.label import UNLABELLED, Label


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Image:
    blob: BlobHash
    media_type: str
    description: str = ""
    kind: Literal["image"] = "image"


@dataclass(frozen=True, slots=True)
class Audio:
    blob: BlobHash
    media_type: str
    duration_s: float | None = None
    transcript: str = ""
    kind: Literal["audio"] = "audio"


@dataclass(frozen=True, slots=True)
class File:
    blob: BlobHash
    name: str
    media_type: str
    size: int
    kind: Literal["file"] = "file"


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str
    provider: str
    signature: str | None = None
    """Opaque; handed back to the same provider byte for byte."""
    kind: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class ToolCall:
    call: str
    """The provider's id of the call."""
    tool: str
    arguments: JsonValue
    """What the model wrote. Checked by the gate, so here it may be anything."""
    signature: str | None = None
    """Opaque, as that of a reasoning: some providers sign their calls."""
    kind: Literal["tool_call"] = "tool_call"


Content = Annotated[Text | Image | Audio | File, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class ToolResult:
    call: str
    tool: str
    parts: tuple[Content, ...]
    is_error: bool = False
    label: Label = UNLABELLED
    labels: dict[str, Label] = field(default_factory=dict)
    """Labels of single fields of a structured result, by JSON pointer; the rest has `label`."""
    kind: Literal["tool_result"] = "tool_result"


Part = Annotated[Text | Image | Audio | File | Reasoning | ToolCall | ToolResult, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[Part, ...]
    label: Label = UNLABELLED

    @property
    def text(self) -> str:
        return "".join(p.text for p in self.parts if isinstance(p, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(p for p in self.parts if isinstance(p, ToolCall))


def said(role: Role, text: str, label: Label) -> Message:
    return Message(role, (Text(text),), label)


ASIDES = ("[page]", "[earlier]", "[memory]", "[now]")
"""How messages begin that nobody said: the context puts them beside the conversation, in the role of a user."""


def is_said(message: Message) -> bool:
    """Did somebody say it? For whoever looks for the newest question."""
    return message.role is Role.USER and not message.text.startswith(ASIDES)
