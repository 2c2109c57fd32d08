"""A chat completion request, read and checked as OpenAI does, with its sentences."""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from daimon.testing.provider.prompt import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, Block, Prompt, compact, count
from daimon.testing.provider.shape import Rejected
from daimon.testing.provider.wire import Asked


class _Wire(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _Image(_Wire):
    url: str


class _Part(_Wire):
    type: str
    text: str = ""
    image_url: _Image | None = None


class _Function(_Wire):
    name: str
    arguments: str = ""


class _Call(_Wire):
    id: str
    function: _Function


class _Message(_Wire):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None

    @property
    def parts(self) -> list[_Part]:
        if isinstance(self.content, list):
            return self.content
        return [_Part(type="text", text=self.content or "")]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    @property
    def calls(self) -> list[_Call]:
        return self.tool_calls or []


class _Declared(_Wire):
    name: str


class _Tool(_Wire):
    function: _Declared


class _StreamOptions(_Wire):
    include_usage: bool = False


class _Body(_Wire):
    model: str
    messages: list[_Message]
    tools: list[_Tool] | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None


def read(_asked: Asked, raw: JsonValue) -> Prompt:
    if not isinstance(raw, dict):
        raise Rejected("We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.")
    if not raw.get("model"):
        raise Rejected("you must provide a model parameter")
    try:
        body = _Body.model_validate(raw)
    except ValidationError as error:
        raise _rejected(error) from error
    _check(body)
    return Prompt(
        model=body.model,
        blocks=tuple(_blocks(raw, body)),
        user_text=next((message.text for message in reversed(body.messages) if message.role == "user"), ""),
        tools=tuple(tool.function.name for tool in body.tools or ()),
        streams=bool(body.stream),
        wants_usage=bool(body.stream_options and body.stream_options.include_usage),
        logprobs=(body.top_logprobs or 0) if body.logprobs else None,
    )


def _rejected(error: ValidationError) -> Rejected:
    first = error.errors()[0]
    param = _place(first["loc"])
    if first["type"] == "missing":
        return Rejected(f"Missing required parameter: '{param}'.", param, "missing_required_parameter")
    return Rejected(f"Invalid value for '{param}': {first['msg']}.", param, "invalid_value")


def _place(loc: Sequence[int | str]) -> str:
    """`messages[0].role`, without the steps that name our own types."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc if not str(step).startswith(("list[", "_")))
    return "".join(steps).lstrip(".")


def _check(body: _Body) -> None:
    if not body.messages:
        expected = "Expected an array with minimum length 1, but got an empty array instead."
        raise Rejected(f"Invalid 'messages': empty array. {expected}", "messages", "empty_array")
    if body.stream_options and not body.stream:
        raise Rejected("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    if body.top_logprobs is not None and not body.logprobs:
        raise Rejected("The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.", "top_logprobs")
    if body.tools == []:
        raise Rejected("Invalid 'tools': empty array. Expected an array with minimum length 1.", "tools", "empty_array")
    _check_calls(body.messages)
    for index, message in enumerate(body.messages):
        _check_parts(f"messages[{index}].content", message)


def _check_calls(messages: Sequence[_Message]) -> None:
    """Every call is answered before anybody says anything else, and nothing else is answered."""
    open_ids: list[str] = []
    in_answers = False
    for index, message in enumerate(messages):
        if message.role == "tool":
            if not in_answers:
                said = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                raise Rejected(said, f"messages.[{index}].role")
            if message.tool_call_id not in open_ids:
                said = f"Invalid parameter: 'tool_call_id' of '{message.tool_call_id}' not found in 'tool_calls' of previous message."
                raise Rejected(said, f"messages.[{index}].tool_call_id")
            open_ids.remove(message.tool_call_id)
            continue
        _check_answered(open_ids, index)
        open_ids = [call.id for call in message.calls]
        in_answers = bool(open_ids)
    _check_answered(open_ids, len(messages))


def _check_answered(open_ids: Sequence[str], index: int) -> None:
    if open_ids:
        rule = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
        missing = f"The following tool_call_ids did not have response messages: {', '.join(open_ids)}"
        raise Rejected(f"{rule} {missing}", f"messages.[{index}].role")


def _check_parts(place: str, message: _Message) -> None:
    if message.content is None and message.role != "assistant":
        raise Rejected("Invalid value for 'content': expected a string, got null.", place)
    if message.content is None and not message.calls:
        raise Rejected("Invalid value for 'content': expected a string, got null.", place)
    for index, part in enumerate(message.parts):
        if part.type == "image_url" and not _is_image(part.image_url.url if part.image_url else ""):
            where = f"{place}[{index}].image_url.url"
            raise Rejected(f"Invalid '{where}'. Expected a base64-encoded data URL or an https URL.", where, "invalid_image_url")


def _is_image(url: str) -> bool:
    if not url.startswith("data:"):
        return url.startswith(("http://", "https://"))
    head, _, data = url.partition(",")
    try:
        return head.startswith("data:image/") and head.endswith(";base64") and bool(base64.b64decode(data, validate=True))
    except binascii.Error:
        return False


def _blocks(raw: dict[str, JsonValue], body: _Body) -> Iterator[Block]:
    if tools := raw.get("tools"):
        content = compact(tools)
        yield Block(content.encode(), count(content))
    messages = raw["messages"]
    assert isinstance(messages, list)
    for given, message in zip(messages, body.messages, strict=True):
        yield Block(compact(given).encode(), TOKENS_PER_MESSAGE + _tokens(message))


def _tokens(message: _Message) -> int:
    images = sum(TOKENS_PER_IMAGE for part in message.parts if part.image_url)
    return count(message.text) + images + sum(count(call.function.name + call.function.arguments) for call in message.calls)
