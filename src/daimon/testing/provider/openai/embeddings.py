"""OpenAI's `/v1/embeddings`: vectors by the words of a text, so that texts that share words are alike.

A line of the script whose text is a JSON list is the list of vectors as it stands, right or wrong; any other line gives honest ones. Faults
are those of all shapes.
"""

import json
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from daimon.testing.embedder import vector
from daimon.testing.provider.openai.shape import OPENAI
from daimon.testing.provider.prompt import Block, Prompt, count
from daimon.testing.provider.said import Said
from daimon.testing.provider.shape import Frame, Json, Rejected
from daimon.testing.provider.wire import Asked

_MOST_TEXTS = 2_048


class _Request(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    model: str
    input: str | Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=_MOST_TEXTS)]
    encoding_format: Literal["float", "base64"] = "float"


def read(_: Asked, body: JsonValue) -> Prompt:
    try:
        request = _Request.model_validate(body)
    except ValidationError as bad:
        raise Rejected("'$.input' is invalid. Please check the API reference.", str(bad.errors()[0]["loc"][0])) from None
    texts = [request.input] if isinstance(request.input, str) else request.input
    return Prompt(request.model, tuple(Block(text.encode(), count(text), cache_ends_here=False) for text in texts), texts[-1])


def whole(said: Said, prompt: Prompt) -> Json:
    usage: dict[str, JsonValue] = {"prompt_tokens": prompt.tokens, "total_tokens": prompt.tokens}
    return {"object": "list", "data": _data(said, prompt), "model": said.model, "usage": usage}


def _data(said: Said, prompt: Prompt) -> JsonValue:
    if said.text.startswith("["):
        scripted: JsonValue = json.loads(said.text)
        return scripted
    texts = [block.content.decode() for block in prompt.blocks]
    return [{"object": "embedding", "index": index, "embedding": list(vector(text))} for index, text in enumerate(texts)]


def _no_frames(_: Said, __: Prompt) -> list[Frame]:
    """Vectors do not come in a stream."""
    return []


EMBEDDINGS = replace(OPENAI, name="embeddings", read=read, whole=whole, frames=_no_frames)
