"""Who sees that a turn has ended, counts which skills served in it, and proposes what can be learned from it.

It follows the feed, asks no model, and does nothing while nothing ends. What ended while nobody listened is caught up with at the start: of
the last `MOST_CAUGHT_UP` turns, those that are not counted yet. A turn is counted and its proposal is made before the count is written: a
crash in between makes the same proposal again, which is known then (`proposals.py`).

Nothing waits for a lesson. What cannot be read, and a disk without room, costs the lesson and nothing else.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from daimon.abi.errors import BadInput, JournalDamaged, JournalFull, NoSpace, NotFound, ToolFailed
from daimon.abi.ids import HOME_SPACE, OWNER, TurnId
from daimon.abi.lesson import LEARNED, Proposal, Service
from daimon.abi.ports import Clock, Past
from daimon.abi.skill import Installed
from daimon.abi.step import Received
from daimon.abi.tool import Manifest
from daimon.abi.turn import State, Turn
from daimon.kernel.feed import Changed, Feed, Gap
from daimon.library.lessons import HomeLessons
from daimon.skills import proposing, service
from daimon.skills.corrections import is_correction
from daimon.skills.expense import expense
from daimon.skills.experience import Experience, continued, experience
from daimon.skills.private import Privacy

MOST_CAUGHT_UP, MOST_BACK = 200, 8
_OVER = (State.DONE, State.FAILED)
_LOST = (NotFound, JournalDamaged, JournalFull, BadInput, ToolFailed, NoSpace, ValueError, TypeError, LookupError, RecursionError)
"""What a turn holds was written by anybody, and no lesson is worth the process."""


@dataclass(frozen=True, slots=True)
class Around:
    """What a lesson is drawn with."""

    manifests: Callable[[], Mapping[str, Manifest]]
    privacy: Callable[[], Awaitable[Privacy]]
    is_on: Callable[[], bool]
    """The owner may want none. Uses are counted all the same."""


class Learner:
    def __init__(self, archive: Past, feed: Feed, lessons: HomeLessons, around: Around, clock: Clock) -> None:
        self._archive = archive
        self._feed = feed
        self._lessons = lessons
        self._around = around
        self._clock = clock
        self._looked: date | None = None
        """The day on which it was last asked which skills serve nobody."""

    async def serve(self) -> None:
        """Runs until cancelled."""
        with self._feed.subscribe() as updates:
            await self.catch_up()
            async for update in updates:
                match update:
                    case Changed(turn=turn, state=State.DONE | State.FAILED):
                        await self._heed(turn)
                    case Gap():
                        await self.catch_up()
                    case _:
                        pass

    async def catch_up(self) -> None:
        with suppress(*_LOST):
            recent = await self._archive.turns(HOME_SPACE, MOST_CAUGHT_UP)
            missed = [turn for turn in recent if turn.ended_at is not None and turn.ended_at >= self._lessons.tally.since]
            for turn in sorted(missed, key=lambda each: (each.ended_at, each.id)):
                await self._heed(turn.id)

    async def _heed(self, id_: TurnId) -> None:
        with suppress(*_LOST):
            turn = await self._archive.turn(id_)
            if turn.principal == OWNER and turn.state in _OVER and turn.id not in self._lessons.tally.recent:
                await self._learn(turn)

    async def _learn(self, turn: Turn) -> None:
        lived = await self._lived(turn)
        if lived is None:
            return
        before = await self._before(turn) if is_correction(lived.asked) else None
        if self._around.is_on():
            await self._lessons.propose(*await self._lesson(lived if before is None else continued(before, lived)))
            await self._lessons.propose(*await self._useless())
        await self._lessons.count(self._lessons.tally.counted(turn.id, lived.at, *self._counts(lived, before)))

    async def _lesson(self, lived: Experience) -> tuple[Proposal, ...]:
        if not expense(lived).is_any:
            return ()
        here = {each.name: each for each in self._lessons.library.all()}
        manifests, privacy, now = self._around.manifests(), await self._around.privacy(), self._clock.now()
        used = [here[name] for name in service.used_in(lived, here)]
        made: list[Proposal | None] = []
        for held in used:
            if held.source == LEARNED:
                text = await self._lessons.text(held.name)
                made.append(await asyncio.to_thread(proposing.refined, lived, held, text, manifests, privacy, now))
        if not used and not any(service.fits(each.skill, lived.asked) for each in self._lessons.library.ready()):
            made.append(await asyncio.to_thread(proposing.new, lived, manifests, privacy, now, self._lessons.names))
        return tuple(each for each in made if each is not None)

    async def _useless(self) -> tuple[Proposal, ...]:
        """Looked for once a day, on days on which something happens."""
        now = self._clock.now()
        if self._looked == now.date():
            return ()
        self._looked = now.date()
        found = []
        for held in self._learned():
            counted = self._lessons.tally.of(held.name)
            if (made := proposing.retired(held, await self._lessons.text(held.name), counted, now)) is not None:
                found.append(made)
        return tuple(found)

    def _learned(self) -> tuple[Installed, ...]:
        return tuple(each for each in self._lessons.library.ready() if each.source == LEARNED)

    def _counts(self, lived: Experience, before: Experience | None) -> tuple[Service, ...]:
        """What this turn says of each skill; a correction also of the turn before."""
        here, tally = {each.name: each for each in self._lessons.library.all()}, self._lessons.tally
        found: dict[str, Service] = {}
        if before is not None:
            for name in service.used_in(before, here):
                found[name] = service.put_right_later(tally.of(name), before)
        used = service.used_in(lived, here)
        for name, held in here.items():
            counted = found.get(name) or tally.of(name)
            if name in used:
                found[name] = service.with_use(counted, lived)
            elif before is None and lived.deeds and service.fits(held.skill, lived.asked):
                found[name] = service.without_use(counted, lived)
        return tuple(found.values())

    async def _before(self, turn: Turn) -> Experience | None:
        """The owner's turn before it, in the same conversation."""
        for each in await self._archive.turns(turn.space, MOST_BACK, turn.conversation):
            if each.id < turn.id and each.ended_at is not None and each.principal == OWNER:
                return await self._lived(each)
        return None

    async def _lived(self, turn: Turn) -> Experience | None:
        steps = await self._archive.steps(turn.id)
        later = [step.body.event for step in steps if isinstance(step.body, Received) and step.body.resolves is None]
        taken = {each: await self._archive.event(each) for each in later}
        return experience(turn, await self._archive.event(turn.event), steps, taken)
