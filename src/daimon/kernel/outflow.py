"""What went out today without a question, to whom, and how much of it: for the limits on that.

The journal has the truth, in the verdicts of today's calls. This holds the sum: read at the start, added to with each verdict.
"""

from datetime import datetime, tzinfo

from daimon.abi.errors import JournalDamaged
from daimon.abi.ids import SpaceId
from daimon.abi.judgement import Gate, Portion
from daimon.abi.ports import Archive
from daimon.abi.step import Intended

MOST_TURNS = 1_000


class Outflow:
    def __init__(self, zone: tzinfo, most: dict[str, int]) -> None:
        self.most = most
        self._zone = zone
        self._day = ""
        self._sums: dict[tuple[str, str], int] = {}

    async def load(self, archive: Archive, space: SpaceId, now: datetime) -> None:
        """Reads the turns that began today."""
        for turn in await archive.turns(space, MOST_TURNS):
            if self._date(turn.created_at) == self._date(now):
                try:
                    steps = await archive.steps(turn.id)
                except JournalDamaged:
                    continue
                for step in steps:
                    if isinstance(step.body, Intended) and self._date(step.at) == self._date(now):
                        self.note(step.body.gate, now)

    def note(self, gate: Gate, now: datetime) -> None:
        self._turn_page(now)
        for portion in gate.carries if gate.verdict == "allow" else ():
            key = (portion.destination, portion.kind)
            self._sums[key] = self._sums.get(key, 0) + portion.characters

    def today(self, now: datetime) -> tuple[Portion, ...]:
        self._turn_page(now)
        return tuple(Portion(destination, kind, characters) for (destination, kind), characters in self._sums.items())

    def _turn_page(self, now: datetime) -> None:
        if (day := self._date(now)) != self._day:
            self._day, self._sums = day, {}

    def _date(self, at: datetime) -> str:
        return at.astimezone(self._zone).date().isoformat()
