"""A provider that keeps its own books: what it was really asked, and what it will charge for it.

It charges for every request that reached it, answered or cut off, since that is what the owner must fear. How long a reply is it draws by
chance, up to what it was allowed to write.
"""

import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from daimon.abi.money import FixedPrice, Usage
from daimon.testing.provider import line
from daimon.testing.provider.line import Call, Line
from daimon.testing.provider.seen import Seen

PRICE = FixedPrice(Decimal(3), Decimal(15))
BYTES_PER_TOKEN = 3
CALLS = 3
"""Model calls in a turn: all but the last use a tool."""


@dataclass(slots=True)
class Bill:
    chance: random.Random
    charged: Decimal = Decimal(0)
    calls: int = 0
    beyond: list[str] = field(default_factory=list)
    """Requests that would have let it write more than it should."""

    def answer(self, seen: Seen) -> Line:
        asked: Any = seen.json
        most = asked.get("max_completion_tokens") or asked.get("max_tokens")
        if not most:
            self.beyond.append(seen.path)
        usage = Usage(len(seen.body) // BYTES_PER_TOKEN, self.chance.randint(1, most or 10_000))
        self.charged += PRICE.cost(usage)
        self.calls += 1
        told = line.Usage(usage.input_tokens, usage.output_tokens)
        done = _rounds_done(asked["messages"])
        if done < CALLS - 1:
            return Line(calls=(Call("remember", {"text": f"note {seen.number}"}),), usage=told, pause_s=self.chance.uniform(0, 0.02))
        return Line(text="done with it", usage=told, chunk=4, pause_s=self.chance.uniform(0, 0.02))


def _rounds_done(messages: list[dict[str, Any]]) -> int:
    last = max(n for n, message in enumerate(messages) if message["role"] == "user")
    return sum(message["role"] == "assistant" for message in messages[last:])
