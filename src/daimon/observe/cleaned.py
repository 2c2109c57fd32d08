"""A journal to look at, without known secrets.

What was written before a value became known may still hold it. A gateway cleans what it hands out (`gateway/api.py`); whoever looks at the
journal of a home that nobody runs does it through this.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Protocol

from daimon.abi.cleaning import cleaned, cleaned_text
from daimon.abi.event import Event
from daimon.abi.ids import BlobHash, EventId, SpaceId, TurnId
from daimon.abi.plain import is_utf8
from daimon.abi.ports import Archive, Change, Count, Cursor, DeadLetter, Given, Mailing, Overview
from daimon.abi.secret import Redactor
from daimon.abi.step import Step
from daimon.abi.turn import State, Turn


class Readable(Archive, Overview, Protocol):
    async def get(self, blob: BlobHash) -> bytes: ...

    async def given(self, space: SpaceId) -> tuple[Given, ...]: ...


class CleanedJournal:
    def __init__(self, journal: Readable, redactor: Redactor) -> None:
        self._journal = journal
        self._clean = redactor.clean_known

    async def turn(self, turn: TurnId) -> Turn:
        return cleaned(await self._journal.turn(turn), self._clean)

    async def event(self, event: EventId) -> Event:
        return cleaned(await self._journal.event(event), self._clean)

    async def steps(self, turn: TurnId) -> tuple[Step, ...]:
        return cleaned(await self._journal.steps(turn), self._clean)

    async def turn_of(self, event: EventId) -> Turn | None:
        return cleaned(await self._journal.turn_of(event), self._clean)

    async def late(self, turn: TurnId) -> tuple[Event, ...]:
        return cleaned(await self._journal.late(turn), self._clean)

    async def turns(self, space: SpaceId, limit: int, conversation: str | None = None, state: State | None = None) -> tuple[Turn, ...]:
        return cleaned(await self._journal.turns(space, limit, conversation, state), self._clean)

    async def watch(self, after: Cursor) -> AsyncIterator[Change]:
        async for change in self._journal.watch(after):
            yield cleaned(change, self._clean)

    async def count(self) -> Count:
        return await self._journal.count()

    async def letters(self, limit: int) -> tuple[DeadLetter, ...]:
        found = cleaned(await self._journal.letters(limit), self._clean)
        return tuple(replace(letter, body=cleaned_text(letter.body, self._clean)) for letter in found)

    async def mailings(self, limit: int, channel: str = "", state: str = "") -> tuple[Mailing, ...]:
        return cleaned(await self._journal.mailings(limit, channel, state), self._clean)

    async def given(self, space: SpaceId) -> tuple[Given, ...]:
        return cleaned(await self._journal.given(space), self._clean)

    async def get(self, blob: BlobHash) -> bytes:
        """Text is cleaned; what is none, such as a picture, comes as it is."""
        data = await self._journal.get(blob)
        return cleaned_text(data, self._clean) if is_utf8(data) else data
