"""Live progress: one typed stream of what is happening now.

Tokens are only ever live; steps and turns are on disk before they appear here. Every subscriber has a bounded queue: one that
is too slow loses the oldest updates and is told so with `Gap`, after which the journal has the rest. Nobody who publishes
ever waits. Who comes in the middle of a reply can have all of it so far (`subscribe(from_the_start=True)`).
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from daimon.abi.event import Said
from daimon.abi.ids import Conversation, Key, TurnId
from daimon.abi.money import Usage
from daimon.abi.step import Step
from daimon.abi.turn import Ending, State
from daimon.kernel.under_way import UnderWay

MOST_WAITING = 4_096


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a reply under way. `step` and `offset` say where it belongs; a restarted reply begins at offset 0 again."""

    conversation: Conversation
    turn: TurnId
    step: int
    offset: int
    text: str
    of: Literal["text", "reasoning", "call"] = "text"
    kind: Literal["token"] = "token"


@dataclass(frozen=True, slots=True)
class Printed:
    """What a tool printed while it works, such as a command. `step` is the one that intends the call. Of a flood only a part comes."""

    conversation: Conversation
    turn: TurnId
    step: int
    text: str
    kind: Literal["printed"] = "printed"


@dataclass(frozen=True, slots=True)
class Recorded:
    conversation: Conversation
    step: Step
    kind: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class Changed:
    conversation: Conversation
    turn: TurnId
    state: State
    ending: Ending | None = None
    kind: Literal["turn"] = "turn"


@dataclass(frozen=True, slots=True)
class Cost:
    conversation: Conversation
    turn: TurnId
    usage: Usage
    kind: Literal["cost"] = "cost"


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message reached its channel."""

    conversation: Conversation
    key: Key
    said: Said
    kind: Literal["spoken"] = "spoken"


@dataclass(frozen=True, slots=True)
class Gap:
    """Updates were lost here; read the journal."""

    missed: int
    kind: Literal["gap"] = "gap"


Update = Annotated[Token | Printed | Recorded | Changed | Cost | Spoken | Gap, Field(discriminator="kind")]


class Subscription:
    def __init__(self) -> None:
        self._waiting: deque[Update] = deque()
        self._missed = 0
        self._ready = asyncio.Event()

    def push(self, update: Update) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.popleft()
            self._missed += 1
        self._waiting.append(update)
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[Update]:
        while True:
            while self._waiting:
                if self._missed:
                    missed, self._missed = self._missed, 0
                    yield Gap(missed)
                yield self._waiting.popleft()
            self._ready.clear()
            await self._ready.wait()


class Feed:
    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()
        self._under_way: UnderWay[Token] = UnderWay()

    def publish(self, update: Update) -> None:
        match update:
            case Token():
                self._under_way.add(update)
            case Recorded(step=step):
                self._under_way.drop(step.turn)
            case Changed(turn=turn):
                self._under_way.drop(turn)
            case _:
                pass
        for subscription in self._subscriptions:
            subscription.push(update)

    @contextmanager
    def subscribe(self, *, from_the_start: bool = False) -> Iterator[Subscription]:
        """`from_the_start`: of replies that are under way."""
        subscription = Subscription()
        for token in self._under_way.all() if from_the_start else ():
            subscription.push(token)
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
