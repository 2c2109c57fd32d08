"""Prompt caching as the providers do it: a prefix that was sent before, to the last byte, is not paid for again.

A prompt is a row of blocks. Each block at which the cache may end (all of them at OpenAI and Google, those with `cache_control`
at Anthropic) leaves the digest of everything up to it. A later prompt of the same key and model reads as far as its longest
prefix with a known digest. One changed byte changes all digests after it, which is what makes it a test of stable prefixes.
Real caches also forget after minutes, and take no prefix below about 1,024 tokens; this one does neither.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from daimon.testing.provider.prompt import Block


@dataclass(frozen=True, slots=True)
class Hit:
    read_tokens: int
    written_tokens: int


class PromptCache:
    def __init__(self) -> None:
        self._known: defaultdict[tuple[str, str], set[bytes]] = defaultdict(set)

    def look(self, key: str, model: str, blocks: Sequence[Block]) -> Hit:
        prefixes = _prefixes(blocks)
        last = max((place for place, prefix in enumerate(prefixes) if prefix.ends_here), default=-1)
        if last < 0:
            return Hit(0, 0)
        known = self._known[key, model]
        read = max((prefix.tokens for prefix in prefixes[: last + 1] if prefix.digest in known), default=0)
        return Hit(read, prefixes[last].tokens - read)

    def keep(self, key: str, model: str, blocks: Sequence[Block]) -> None:
        """For a prompt that was answered; one that was turned away never reached the model."""
        self._known[key, model].update(prefix.digest for prefix in _prefixes(blocks) if prefix.ends_here)


@dataclass(frozen=True, slots=True)
class _Prefix:
    digest: bytes
    tokens: int
    ends_here: bool


def _prefixes(blocks: Sequence[Block]) -> list[_Prefix]:
    digest, tokens = hashlib.sha256(), 0
    prefixes: list[_Prefix] = []
    for block in blocks:
        digest.update(len(block.content).to_bytes(8, "big") + block.content)
        tokens += block.tokens
        prefixes.append(_Prefix(digest.digest(), tokens, block.cache_ends_here))
    return prefixes
