"""The automations of a journal in memory, and their ticks."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import JsonValue

from daimon.abi.automation import Automation, Kept, Tick
from daimon.abi.errors import NotFound
from daimon.abi.event import Event
from daimon.abi.ids import SpaceId


@dataclass(slots=True)
class MemoryAutomations:
    rows: dict[tuple[SpaceId, str], Kept] = field(default_factory=dict)
    versions: dict[tuple[SpaceId, str], int] = field(default_factory=dict)
    records: dict[tuple[SpaceId, str, datetime], Tick] = field(default_factory=dict)

    def all(self, space: SpaceId, now: datetime) -> tuple[Kept, ...]:
        return tuple(self._seen(space, id_, now) for where, id_ in sorted(self.rows) if where == space)

    def put(self, space: SpaceId, automation: Automation, kept: Kept, now: datetime) -> Kept:
        name = (space, automation.id)
        before, version = self.rows.get(name), self.versions.get(name, 0) + 1
        state = before.state if before is not None and before.automation.watch == automation.watch else None
        self.versions[name] = version
        self.rows[name] = replace(kept, state=state, version=version)
        return self._seen(*name, now)

    def cease(self, space: SpaceId, id_: str) -> None:
        if self.rows.pop((space, id_), None) is None:
            raise NotFound(f"there is no automation {id_!r}")

    def tick(self, space: SpaceId, tick: Tick, event: Event | None, state: JsonValue, version: int | None) -> Event | None:
        """The event to be accepted."""
        kept = self.rows.get((space, tick.automation))
        is_current = kept is not None and version in (None, kept.version)
        if not is_current and version is not None:
            tick, event = replace(tick, outcome="skipped", why="it was changed meanwhile"), None
        if (space, tick.automation, tick.due) in self.records:
            return None
        self.records[space, tick.automation, tick.due] = replace(tick, event="" if event is None else event.id)
        if kept is not None and is_current and state is not None:
            self.rows[space, tick.automation] = replace(kept, state=state)
        return event

    def ticks(self, space: SpaceId, automation: str, limit: int) -> tuple[Tick, ...]:
        mine = [tick for (where, id_, _), tick in self.records.items() if where == space and automation in ("", id_)]
        newest = sorted(mine, key=lambda tick: (tick.due,) if automation else (tick.at, tick.due), reverse=True)
        return tuple(newest[:limit])

    def _seen(self, space: SpaceId, id_: str, now: datetime) -> Kept:
        mine = self.ticks(space, id_, len(self.records))
        reached = next((tick.due for tick in mine if not tick.by_hand and tick.due <= now), None)
        event = next((tick.event for tick in mine if tick.event), "")
        return replace(self.rows[space, id_], last=mine[0] if mine else None, reached=reached, event=event)
