"""The body of a Gemini request, as it comes. Names may be camelCase or snake_case, as in all of Google's JSON."""

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel


class _Wire(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, alias_generator=to_camel, populate_by_name=True)


class Blob(_Wire):
    mime_type: str = ""
    data: str = ""


class FunctionCall(_Wire):
    name: str
    args: JsonValue = None
    id: str = ""


class FunctionResponse(_Wire):
    name: str
    response: JsonValue = None
    id: str = ""


class Part(_Wire):
    text: str = ""
    thought: bool = False
    thought_signature: str = ""
    inline_data: Blob | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None


class Content(_Wire):
    role: str = "user"
    parts: list[Part] = []

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if not part.thought)

    @property
    def calls(self) -> list[FunctionCall]:
        return [part.function_call for part in self.parts if part.function_call]

    @property
    def responses(self) -> list[FunctionResponse]:
        return [part.function_response for part in self.parts if part.function_response]


class Declaration(_Wire):
    name: str


class Tool(_Wire):
    function_declarations: list[Declaration] = []


class ThinkingConfig(_Wire):
    include_thoughts: bool = False


class GenerationConfig(_Wire):
    thinking_config: ThinkingConfig | None = None


class Body(_Wire):
    contents: list[Content] = []
    tools: list[Tool] | None = None
    generation_config: GenerationConfig | None = None

    @property
    def shows_thoughts(self) -> bool:
        config = self.generation_config and self.generation_config.thinking_config
        return bool(config and config.include_thoughts)
