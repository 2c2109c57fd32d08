"""Effects from the record: what a fork gets instead of the world."""

from dataclasses import replace

from daimon.abi.ports import Archive
from daimon.abi.step import Happened, Intended
from daimon.abi.turn import Turn
from daimon.kernel.dispatch import refused


class Record:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def outcome(self, turn: Turn, n: int, intended: Intended) -> Happened:
        """The recorded outcome of the same call in the turn that this one was forked from. Its operations are not done again."""
        if turn.forked_from is None:
            return refused(n, intended, "not_recorded", "this turn may only use recorded effects and was not forked from any", "recorded")
        steps = await self._archive.steps(turn.forked_from.turn)
        same = [
            s.n for s in steps if isinstance(s.body, Intended) and (s.body.tool, s.body.arguments) == (intended.tool, intended.arguments)
        ]
        for step in steps:
            if isinstance(step.body, Happened) and step.body.intent in same:
                result = replace(step.body.result, call=intended.call)
                return replace(step.body, intent=n, how="recorded", operations=(), result=result)
        return refused(n, intended, "not_recorded", f"the original run has no outcome for {intended.tool} with these arguments", "recorded")
