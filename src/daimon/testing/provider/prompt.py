"""A request in nobody's shape: what the script, the counting and the cache need to know of it."""

import json
from dataclasses import dataclass

from pydantic import JsonValue

TOKENS_PER_MESSAGE = 4
TOKENS_PER_IMAGE = 256
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the prompt that is cached whole or not at all."""

    content: bytes
    tokens: int
    cache_ends_here: bool = True


@dataclass(frozen=True, slots=True)
class Prompt:
    model: str
    blocks: tuple[Block, ...]
    """In the order in which a provider lays them before the model: tools, system, messages."""
    user_text: str
    """The last that the user said."""
    tools: tuple[str, ...] = ()
    streams: bool = False
    wants_usage: bool = True
    wants_reasoning: bool = True
    logprobs: int | None = None
    """How many alternatives to each token; None: no log probabilities."""

    @property
    def tokens(self) -> int:
        return sum(block.tokens for block in self.blocks)


def count(text: str) -> int:
    """Tokens of a text. No real tokenizer, but the same number every time, and about as large."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


def compact(value: JsonValue) -> str:
    """As the providers write JSON. Keys keep their order: a prompt whose keys move is another prompt."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
