"""Effects from the record: what a fork gets instead of the world."""

from dataclasses import replace

from daimon.abi.ports import Archive
from daimon.abi.step import Happened, Intended, Step
from daimon.abi.tool import HandOver
from daimon.abi.turn import Turn
from daimon.kernel.dispatch import refused


class Record:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def outcome(self, turn: Turn, n: int, intended: Intended) -> Happened:
        """The recorded outcome of the same call in the turn that this one was forked from; the third such call gets the third.

        What it did outside the turn is not done again.
        """
        mine = await self._archive.steps(turn.id)
        before = sum(1 for s in mine if s.n < n and isinstance(s.body, Intended) and _is_same(s.body, intended))
        origin = turn.forked_from
        while origin is not None:
            found = _outcomes(await self._archive.steps(origin.turn), intended)
            if before < len(found):
                kept = tuple(operation for operation in found[before].operations if isinstance(operation, HandOver))
                result = replace(found[before].result, call=intended.call)
                return replace(found[before], intent=n, how="recorded", operations=kept, result=result)
            origin = (await self._archive.turn(origin.turn)).forked_from
        return refused(n, intended, "not_recorded", f"the original run has no outcome for {intended.tool} with these arguments", "recorded")


def _outcomes(steps: tuple[Step, ...], intended: Intended) -> list[Happened]:
    """In the order of the intents."""
    same = [s.n for s in steps if isinstance(s.body, Intended) and _is_same(s.body, intended)]
    by_intent = {s.body.intent: s.body for s in steps if isinstance(s.body, Happened)}
    return [by_intent[n] for n in same if n in by_intent]


def _is_same(a: Intended, b: Intended) -> bool:
    return (a.tool, a.arguments) == (b.tool, b.arguments)
