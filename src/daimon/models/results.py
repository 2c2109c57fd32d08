"""What the tools that reflex uses answer, read once and turned into types.

A result's first text is JSON: `{"ok": true, "data": …}` or `{"ok": false, "error": {"code", "message", "retryable"}}`. What is neither is
a failure that says so.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from daimon.abi.message import Text, ToolResult


class Nothing(BaseModel):
    """An answer of which only the success matters."""


class Now(BaseModel):
    model_config = ConfigDict(validate_by_name=True)
    time: AwareDatetime = Field(alias="now")
    zone: str


class Note(BaseModel):
    id: str
    text: str
    kind: str = "note"


class Notes(BaseModel):
    notes: list[Note]

    @property
    def kept(self) -> list[Note]:
        """Without what was only said."""
        return [note for note in self.notes if note.kind != "message"]


class Reminder(BaseModel):
    model_config = ConfigDict(validate_by_name=True)
    timer: str = Field(alias="id")
    at: AwareDatetime
    about: str


class Reminders(BaseModel):
    reminders: list[Reminder]


class Choice(BaseModel):
    choice: str = ""


class Status(BaseModel):
    turns: dict[str, int] = {}
    events: int | None = None
    timers: int | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    tool: str
    code: str
    message: str
    is_retryable: bool = False


class _Error(BaseModel):
    code: str = "error"
    message: str = ""
    retryable: bool = False


class _Good(BaseModel):
    ok: Literal[True]
    data: object = None


class _Bad(BaseModel):
    ok: Literal[False]
    error: _Error = _Error()


_ENVELOPE: TypeAdapter[_Good | _Bad] = TypeAdapter(_Good | _Bad)


def read(result: ToolResult, shape: type[BaseModel]) -> BaseModel | Failed:
    text = next((part.text for part in result.parts if isinstance(part, Text)), "")
    try:
        envelope = _ENVELOPE.validate_json(text)
        if isinstance(envelope, _Bad):
            return Failed(result.tool, envelope.error.code, envelope.error.message, envelope.error.retryable)
        if not result.is_error:
            return shape.model_validate(envelope.data or {})
    except ValidationError:
        if not result.is_error:
            return Failed(result.tool, "unreadable", "it answered something that I cannot read")
    return Failed(result.tool, "error", text)
