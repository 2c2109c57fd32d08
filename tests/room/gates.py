"""Where the puppet and its tools wait until a test lets them go on. Each gate has a name."""

import asyncio
from collections import defaultdict
from threading import Event

DEADLINE_S = 60.0
_GATES: defaultdict[str, Event] = defaultdict(Event)


def open_gate(name: str) -> None:
    """Whoever waits there goes on, and whoever comes later does not wait."""
    _GATES[name].set()


async def passed(name: str) -> None:
    assert await asyncio.to_thread(_GATES[name].wait, DEADLINE_S), f"nobody opened {name!r}"
