"""Runs as stretches of time, kept for a while, so that the next page of a long one need not be read and woven whole again.

Only what is new is read: steps never change, they are only added, except where something was erased; then all that is kept is thrown away.
Few runs are kept, and not for long, since what is cleaned of secrets is cleaned of those that are known at that moment. A long run is woven
in portions, between which others have their turn.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

from daimon.abi.event import Event
from daimon.abi.ids import TurnId
from daimon.abi.ports import Archive, Clock
from daimon.abi.runs import Runs
from daimon.abi.step import Step
from daimon.abi.turn import Turn
from daimon.gateway.room.cutting import Clean
from daimon.kernel.spans import Span
from daimon.kernel.weaving import Weaving, begun_at

MOST_KEPT, KEPT_S, PORTION = 3, 60.0, 200


@dataclass(frozen=True, slots=True)
class Woven:
    turn: Turn
    event: Event
    steps: list[Step]
    spans: tuple[Span, ...]


@dataclass(slots=True)
class _Kept:
    until: float
    erasures: int
    steps: list[Step] = field(default_factory=list)
    weaving: Weaving | None = None
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)


class Loom:
    def __init__(self, archive: Archive, runs: Runs, clock: Clock, clean: Clean) -> None:
        self._archive, self._runs, self._clock, self._clean = archive, runs, clock, clean
        self._kept: OrderedDict[TurnId, _Kept] = OrderedDict()

    async def woven(self, id_: TurnId) -> Woven:
        """Raises NotFound."""
        turn = await self._archive.turn(id_)
        event, kept = await self._archive.event(turn.event), self._of(id_, await self._runs.erasures())
        async with kept.busy:
            new = await self._runs.steps_from(id_, len(kept.steps))
            if kept.weaving is None:
                kept.weaving = Weaving(turn, event, begun_at(turn, event, new), self._clean)
            for first in range(0, len(new), PORTION):
                for step in new[first : first + PORTION]:
                    kept.weaving.take(step)
                kept.steps += new[first : first + PORTION]
                await asyncio.sleep(0)
            return Woven(turn, event, list(kept.steps), kept.weaving.all(turn))

    def _of(self, id_: TurnId, erasures: int) -> _Kept:
        now = self._clock.monotonic()
        for old in [each for each, kept in self._kept.items() if kept.until < now or kept.erasures != erasures]:
            del self._kept[old]
        if id_ not in self._kept:
            self._kept[id_] = _Kept(now + KEPT_S, erasures)
        self._kept.move_to_end(id_)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return self._kept[id_]
