"""Deliveries that a webhook collected since the last look, in the order in which they came.

What is handed over at once is bounded in characters, too: a service sends some ten thousand for one event, and what is cut off in the
middle would be lost for the model. What does not fit waits for the next look. One that is too large by itself comes alone.
"""

import json

from pydantic import JsonValue

from daimon.abi.errors import WatchFailed
from daimon.abi.hook import Hooks, Posted
from daimon.abi.ids import SpaceId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.watch import Look, Watch, WatchHook

MOST_CHARACTERS = 100_000


class HookWatcher:
    def __init__(self, hooks: Hooks, space: SpaceId) -> None:
        self._hooks = hooks
        self._space = space

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchHook)
        if all(each.hook.name != watch.hook for each in await self._hooks.hooks(self._space)):
            raise WatchFailed(f"there is no webhook {watch.hook!r}; `daimon hooks add {watch.hook} --collect` makes it")
        if not isinstance(state, int):
            newest = max((each.n for each in await self._hooks.posted(self._space, watch.hook, 1)), default=0)
            return Look(newest, note="first look: what comes from now on counts")
        found = await self._hooks.collected(self._space, watch.hook, state, watch.most)
        if not found:
            return Look(state, note="nothing came")
        taken = _fitting([_told(each) for each in found])
        waiting = f"; {len(found) - len(taken)} more wait for the next look" if len(taken) < len(found) else ""
        label = Label.of(Origin(Author.STRANGER, f"webhook:{watch.hook}"))
        change: JsonValue = {"hook": watch.hook, "deliveries": taken}
        return Look(found[len(taken) - 1].n, change, label, f"{len(taken)} {'delivery' if len(taken) == 1 else 'deliveries'}{waiting}")


def _fitting(told: list[JsonValue]) -> list[JsonValue]:
    taken, characters = list[JsonValue](), 0
    for each in told:
        characters += len(json.dumps(each, ensure_ascii=False))
        if taken and characters > MOST_CHARACTERS:
            break
        taken.append(each)
    return taken


def _told(posted: Posted) -> JsonValue:
    return {"key": posted.key, "at": posted.at.isoformat(), "data": posted.data}
