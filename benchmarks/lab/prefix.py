"""How much of a request was sent before: the blocks at its beginning that are the same bytes as in the request before it.

A block is what a provider caches whole or not at all: the tools, the system text, each message. They are compared in the order in which
providers lay them before the model, whatever the order of the fields in the body. The marks that tell a provider where its cache may end
move on with every request and are no part of what the model reads, so they are taken out first.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MARK = "cache_control"


@dataclass(frozen=True, slots=True)
class Sent:
    """One request, as its blocks."""

    blocks: tuple[bytes, ...]
    tools: int

    @classmethod
    def of(cls, body: Any) -> "Sent":
        parts = [body[name] for name in ("tools", "system") if body.get(name)]
        return cls(tuple(_bytes(part) for part in [*parts, *body["messages"]]), len(body.get("tools") or ()))

    @property
    def size(self) -> int:
        return sum(map(len, self.blocks))

    @property
    def text(self) -> str:
        return b"".join(self.blocks).decode()

    def same_as(self, before: "Sent") -> int:
        """Bytes at the beginning that are those of the other."""
        same = 0
        for mine, other in zip(self.blocks, before.blocks, strict=False):
            if mine != other:
                break
            same += len(mine)
        return same


def share(requests: Sequence[Sent], before: Sequence["Sent | None"]) -> float:
    """Of all bytes of these requests, what part was in the request before each; None: there was none, so nothing was."""
    same = sum(0 if earlier is None else sent.same_as(earlier) for sent, earlier in zip(requests, before, strict=True))
    return same / sum(sent.size for sent in requests)


def _bytes(value: Any) -> bytes:
    return json.dumps(_unmarked(value), ensure_ascii=False, separators=(",", ":")).encode()


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(inner) for key, inner in value.items() if key != MARK}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value
