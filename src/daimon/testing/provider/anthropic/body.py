"""The body of a messages request, as it comes. Fields that nothing here looks at are not named."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue


class _Wire(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Source(_Wire):
    type: str
    data: str = ""


class Content(_Wire):
    type: str
    text: str = ""
    source: Source | None = None
    id: str = ""
    name: str = ""
    input: JsonValue = None
    tool_use_id: str = ""
    content: "str | list[Content] | None" = None
    thinking: str = ""
    signature: str = ""
    cache_control: JsonValue = None

    @property
    def parts(self) -> "list[Content]":
        if isinstance(self.content, list):
            return self.content
        return [Content(type="text", text=self.content or "")]


class Message(_Wire):
    role: str
    content: str | list[Content]

    @property
    def parts(self) -> list[Content]:
        return self.content if isinstance(self.content, list) else [Content(type="text", text=self.content)]


class Tool(_Wire):
    name: str
    cache_control: JsonValue = None


class Thinking(_Wire):
    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = None


class Body(_Wire):
    model: str
    messages: list[Message]
    max_tokens: int
    system: str | list[Content] | None = None
    tools: list[Tool] | None = None
    thinking: Thinking | None = None
    temperature: float | None = None
    stream: bool | None = None
    cache_control: JsonValue = None

    @property
    def thinks(self) -> bool:
        return self.thinking is not None and self.thinking.type != "disabled"
