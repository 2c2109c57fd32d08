"""A messages request, read as Anthropic does. Its server speaks in pydantic's words, so ours may too."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue, ValidationError

from daimon.testing.provider.anthropic.body import Body, Content, Message
from daimon.testing.provider.anthropic.rules import check, check_marks
from daimon.testing.provider.prompt import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, Block, Prompt, compact, count
from daimon.testing.provider.shape import Rejected
from daimon.testing.provider.wire import Asked


def read(asked: Asked, raw: JsonValue) -> Prompt:
    if "anthropic-version" not in asked.headers:
        raise Rejected("anthropic-version: header is required")
    if not isinstance(raw, dict):
        raise Rejected("The request body is not valid JSON: expected an object")
    try:
        body = Body.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"] if not str(step).startswith(("_", "list[")))
        raise Rejected(f"{place}: {first['msg']}") from error
    check(body)
    blocks = tuple(_blocks(raw, body))
    check_marks(blocks)
    return Prompt(
        model=body.model,
        blocks=blocks,
        user_text=next((text for message in reversed(body.messages) if message.role == "user" and (text := _text(message))), ""),
        tools=tuple(tool.name for tool in body.tools or ()),
        streams=bool(body.stream),
        wants_reasoning=body.thinks,
    )


def _text(message: Message) -> str:
    return "".join(part.text for part in message.parts if part.type == "text")


def _blocks(raw: Mapping[str, JsonValue], body: Body) -> Iterator[Block]:
    """One for each tool, each part of the system prompt, each part of each message."""
    rows = [*_tools(raw), *_parts(raw.get("system") or [], body.system or [], "system", 0)]
    messages = raw["messages"]
    assert isinstance(messages, list)
    for given, message in zip(messages, body.messages, strict=True):
        assert isinstance(given, dict)
        rows += _parts(given["content"], message.content, message.role, TOKENS_PER_MESSAGE)
    for place, (content, tokens, marked) in enumerate(rows, 1):
        automatic = body.cache_control is not None and place == len(rows)
        yield Block(content.encode(), tokens, marked or automatic)


_Row = tuple[str, int, bool]


def _tools(raw: Mapping[str, JsonValue]) -> Iterator[_Row]:
    tools = raw.get("tools") or []
    assert isinstance(tools, list)
    for tool in tools:
        assert isinstance(tool, dict)
        content = _unmarked(tool)
        yield content, count(content), tool.get("cache_control") is not None


def _parts(raw: JsonValue, parsed: str | list[Content], role: str, extra: int) -> Iterator[_Row]:
    if isinstance(parsed, str):
        yield compact([role, {"type": "text", "text": parsed}]), extra + count(parsed), False
        return
    assert isinstance(raw, list)
    for given, part in zip(raw, parsed, strict=True):
        assert isinstance(given, dict)
        yield compact([role, _unmarked(given)]), extra + _tokens(part), part.cache_control is not None
        extra = 0


def _unmarked(given: Mapping[str, JsonValue]) -> str:
    """A mark that moves on does not change the prompt."""
    return compact({name: value for name, value in given.items() if name != "cache_control"})


def _tokens(part: Content) -> int:
    if part.type == "image":
        return TOKENS_PER_IMAGE
    if part.type == "tool_use":
        return count(part.name + compact(part.input))
    return count(part.text + part.thinking) + (sum(_tokens(inner) for inner in part.parts) if part.content else 0)
