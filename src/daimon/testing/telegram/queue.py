"""Updates that wait for the bot.

One is acknowledged by nothing but a higher offset, or status 200 where it is posted. Until then it stays, for a day. Numbers grow by one;
all that was put in is kept beside, to be delivered again on command.
"""

import asyncio
from collections.abc import Mapping
from itertools import count

from pydantic import JsonValue

_DAY_S = 86_400


class Queue:
    def __init__(self, first: int = 700_000_001) -> None:
        self._numbers = count(first)
        self._waiting: dict[int, dict[str, JsonValue]] = {}
        self._since: dict[int, float] = {}
        self.all: list[dict[str, JsonValue]] = []
        self._news = asyncio.Event()
        self.wanted: tuple[str, ...] = ()
        """Empty: all but reactions, as if nothing was said."""
        self.now = 0.0
        """Seconds; moved by hand."""

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, kind: str, body: Mapping[str, JsonValue]) -> int:
        """Its number; 0 where the bot does not want such ones."""
        if not self._is_wanted(kind):
            return 0
        number = next(self._numbers)
        self._add({"update_id": number, kind: dict(body)})
        return number

    def again(self) -> None:
        """All that ever came is delivered once more."""
        for update in self.all[:]:
            self._add(update, is_new=False)

    def renumber(self, first: int) -> None:
        """As after a week without any."""
        self._numbers = count(first)

    def acknowledge(self, offset: int) -> None:
        """All with lower numbers, and what is too old."""
        for number in list(self._waiting):
            if number < offset or self.now - self._since[number] > _DAY_S:
                del self._waiting[number]

    def get(self, limit: int) -> list[JsonValue]:
        return [self._waiting[number] for number in sorted(self._waiting)[:limit]]

    def first(self) -> dict[str, JsonValue] | None:
        return self._waiting[min(self._waiting)] if self._waiting else None

    def done(self, update: Mapping[str, JsonValue]) -> None:
        number = update["update_id"]
        assert isinstance(number, int)
        self._waiting.pop(number, None)
        self._tell()

    def drop(self) -> None:
        self._waiting.clear()

    @property
    def news(self) -> asyncio.Event:
        """Is set by the next change."""
        return self._news

    def _is_wanted(self, kind: str) -> bool:
        return kind in self.wanted if self.wanted else kind != "message_reaction"

    def _add(self, update: dict[str, JsonValue], is_new: bool = True) -> None:
        number = update["update_id"]
        assert isinstance(number, int)
        self._waiting[number] = update
        self._since[number] = self.now
        if is_new:
            self.all.append(update)
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
