"""What a person probably means, where no pattern explains the sentence: the example sentence that says about the same.

Only intents that look and change nothing have examples: a sentence that is misread costs an answer that nobody wanted, never an act. Beside
them stand sentences that sound alike and mean something else; where one of those comes as near, nothing is understood.

The vectors of the examples are made at the first question and kept, by the model that made them. Where no vector can be had, nothing is
understood, as without all this. It knows no tools and no answers.
"""

import asyncio
import math
import struct

from daimon.abi.errors import ToolFailed
from daimon.abi.memory import Embedder
from daimon.models.intents import EVENTS, THRESHOLD, Intent, Match

NEAR = 0.7
"""The cosine from which on a sentence says about the same."""
APART = 0.05
"""So much nearer than any sentence of another intent, or of none."""
PATIENCE_S = 10.0
LONGEST = 120
"""Characters. Who wants to know the time says so in few words."""

EXAMPLES: dict[Intent, tuple[str, ...]] = {
    Intent.TIME: (
        "What time is it?",
        "Do you have the time?",
        "What is the hour right now?",
        "What is today's date?",
        "What day of the week is it today?",
    ),
    Intent.STATUS: (
        "What is your status?",
        "How is your system doing?",
        "Are you running properly?",
        "Are all your systems healthy?",
        "Are there any problems with you?",
    ),
    Intent.REMINDERS: (
        "What reminders do I have?",
        "Show me my upcoming reminders.",
        "Are any reminders scheduled?",
        "What are you going to remind me of?",
        "Which reminders are still open?",
    ),
    Intent.HELP: (
        "What can you do?",
        "What are you able to do for me?",
        "How do I use you?",
        "What can I ask you?",
        "What commands and features do you have?",
    ),
    Intent.WHO: (
        "Who are you?",
        "What is your name?",
        "Are you a robot or a human?",
        "Who am I talking to?",
        "Introduce yourself.",
    ),
}
OTHERS = (
    "What time does the shop open?",
    "What day is the party?",
    "What is the date of the wedding?",
    "How much time is left?",
    "What is the status of my parcel?",
    "Is the washing machine working?",
    "How is your family doing?",
    "Remind me of it tomorrow.",
    "Remove my reminders.",
    "Set a reminder.",
    "What events are in my calendar?",
    "What is on my list of things to buy?",
    "What can I do there?",
    "How do I use this machine?",
    "Help me with this.",
    "What is his name?",
    "Who is she?",
    "Where are you?",
    "What do you think?",
    "Which one should I take?",
)


class Meant:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._model = ""
        self._known: list[tuple[Intent | None, tuple[float, ...]]] = []

    async def read(self, text: str) -> Match | None:
        if not text.strip() or len(text) > LONGEST or "\n" in text or text.startswith(EVENTS):
            return None
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._learn()
                (vector,) = await self._embedder.embed((text,), "query")
        except (ToolFailed, TimeoutError):
            return None
        return _nearest(_numbers(vector), self._known)

    async def _learn(self) -> None:
        if self._known and self._model == self._embedder.model:
            return
        model = self._embedder.model
        said: list[tuple[Intent | None, str]] = [(intent, text) for intent, texts in EXAMPLES.items() for text in texts]
        said += [(None, text) for text in OTHERS]
        vectors = await self._embedder.embed(tuple(text for _, text in said), "query")
        self._known = [(intent, _numbers(vector)) for (intent, _), vector in zip(said, vectors, strict=True)]
        self._model = model


def _nearest(vector: tuple[float, ...], known: list[tuple[Intent | None, tuple[float, ...]]]) -> Match | None:
    alike: dict[Intent | None, float] = {}
    for intent, example in known:
        if len(example) != len(vector):
            return None
        alike[intent] = max(alike.get(intent, -1.0), math.fsum(a * b for a, b in zip(vector, example, strict=True)))
    (best, nearness), (_, next_best) = sorted(alike.items(), key=lambda pair: -pair[1])[:2]
    return Match(best, {}, THRESHOLD) if best is not None and nearness >= NEAR and nearness - next_best >= APART else None


def _numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)
