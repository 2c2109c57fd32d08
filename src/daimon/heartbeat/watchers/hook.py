"""Deliveries that a webhook collected since the last look, in the order in which they came."""

from pydantic import JsonValue

from daimon.abi.hook import Hooks, Posted
from daimon.abi.ids import SpaceId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.watch import Look, Watch, WatchHook


class HookWatcher:
    def __init__(self, hooks: Hooks, space: SpaceId) -> None:
        self._hooks = hooks
        self._space = space

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchHook)
        if not isinstance(state, int):
            newest = max((each.n for each in await self._hooks.posted(self._space, watch.hook, 1)), default=0)
            return Look(newest, note="first look: what comes from now on counts")
        found = await self._hooks.collected(self._space, watch.hook, state, watch.most)
        if not found:
            return Look(state, note="nothing came")
        label = Label.of(Origin(Author.STRANGER, f"webhook:{watch.hook}"))
        return Look(found[-1].n, {"hook": watch.hook, "deliveries": [_told(each) for each in found]}, label, f"{len(found)} deliveries")


def _told(posted: Posted) -> JsonValue:
    return {"key": posted.key, "at": posted.at.isoformat(), "data": posted.data}
