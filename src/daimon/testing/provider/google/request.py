"""A request to generate content, read as Gemini does. The model and the wish for a stream are in the path."""

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue, ValidationError

from daimon.testing.provider.google.body import Body, Content, Part
from daimon.testing.provider.google.rules import check
from daimon.testing.provider.prompt import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, Block, Prompt, compact, count
from daimon.testing.provider.shape import Rejected
from daimon.testing.provider.wire import Asked

GENERATE = re.compile(r"/models/(?P<model>[^/:]+):(?P<verb>generateContent|streamGenerateContent)$")


def read(asked: Asked, raw: JsonValue) -> Prompt:
    found = GENERATE.search(asked.path)
    assert found is not None
    streams = found["verb"] == "streamGenerateContent"
    if streams and asked.query.get("alt") != "sse":
        raise Rejected("This server streams server-sent events only: add alt=sse to the query.")
    if not isinstance(raw, dict):
        raise Rejected("Invalid JSON payload received. Expected an object.")
    try:
        body = Body.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]).lstrip(".")
        raise Rejected(f"Invalid value at '{place}', {first['msg']}") from error
    check(found["model"], body)
    return Prompt(
        model=found["model"],
        blocks=tuple(_blocks(raw, body)),
        user_text=next((content.text for content in reversed(body.contents) if content.role == "user" and content.text), ""),
        tools=tuple(declared.name for tool in body.tools or () for declared in tool.function_declarations),
        streams=streams,
        wants_reasoning=body.shows_thoughts,
    )


def _blocks(raw: Mapping[str, JsonValue], body: Body) -> Iterator[Block]:
    for name in ("tools", "systemInstruction", "system_instruction"):
        if given := raw.get(name):
            content = compact(given)
            yield Block(content.encode(), count(content))
    contents = raw["contents"]
    assert isinstance(contents, list)
    for given, message in zip(contents, body.contents, strict=True):
        yield Block(compact(given).encode(), TOKENS_PER_MESSAGE + _tokens(message))


def _tokens(content: Content) -> int:
    return sum(_part_tokens(part) for part in content.parts)


def _part_tokens(part: Part) -> int:
    tokens = count(part.text) + (TOKENS_PER_IMAGE if part.inline_data else 0)
    if part.function_call:
        tokens += count(part.function_call.name + compact(part.function_call.args))
    if part.function_response:
        tokens += count(part.function_response.name + compact(part.function_response.response))
    return tokens
