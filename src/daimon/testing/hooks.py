"""Hooks and what they brought, in memory, as the journal of `testing` keeps them."""

from dataclasses import dataclass, field, replace

from daimon.abi.errors import NotFound
from daimon.abi.hook import Hooked, Posted
from daimon.abi.ids import SpaceId


@dataclass(slots=True)
class MemoryHooks:
    rows: dict[tuple[SpaceId, str], Hooked] = field(default_factory=dict)
    deliveries: list[tuple[SpaceId, Posted]] = field(default_factory=list)
    keys: set[tuple[SpaceId, str, str]] = field(default_factory=set)
    changes: int = 0

    def hooks(self, space: SpaceId) -> tuple[Hooked, ...]:
        return tuple(found for (where, _), found in sorted(self.rows.items()) if where == space)

    def make(self, space: SpaceId, hooked: Hooked) -> Hooked:
        before = self.rows.get((space, hooked.hook.name))
        self.rows[space, hooked.hook.name] = made = hooked if before is None else replace(hooked, since=before.since)
        self.changes += 1
        return made

    def remove(self, space: SpaceId, name: str) -> None:
        if self.rows.pop((space, name), None) is None:
            raise NotFound(f"there is no hook {name!r}")
        for i, (where, each) in enumerate(self.deliveries):
            if (where, each.hook) == (space, name):
                self.deliveries[i] = where, replace(each, data=None, headers={})
        self.changes += 1

    def is_new(self, space: SpaceId, posted: Posted) -> bool:
        return posted.outcome == "refused" or self.keys.isdisjoint(_keys(space, posted))

    def put(self, space: SpaceId, posted: Posted, event: str) -> int:
        if posted.outcome != "refused":
            self.keys |= _keys(space, posted)
        n = len(self.deliveries) + 1
        kept = replace(posted, n=n, event=event, content="")
        self.deliveries.append((space, kept if posted.outcome == "collected" else replace(kept, data=None, headers={})))
        return n

    def posted(self, space: SpaceId, hook: str) -> tuple[Posted, ...]:
        return tuple(each for where, each in self.deliveries if (where, each.hook) == (space, hook))


def _keys(space: SpaceId, posted: Posted) -> set[tuple[SpaceId, str, str]]:
    content = {(space, posted.hook, f"={posted.content}")} if posted.content else set()
    return {(space, posted.hook, posted.key)} | content
