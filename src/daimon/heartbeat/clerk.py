"""The owner's ways to automations, on the journal: with a heart that beats, or in a home that nobody runs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from daimon.abi.automation import Automation, Days, Draft, Every, Kept, Shown, Tick
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import owned
from daimon.abi.ports import Clock
from daimon.heartbeat import due
from daimon.heartbeat.drafting import drafted
from daimon.heartbeat.missed import reached
from daimon.heartbeat.plain import understood
from daimon.heartbeat.prospects import Setup, doubts
from daimon.heartbeat.spoken import said_of
from daimon.heartbeat.ticking import Records, Ticking

SOURCE = "automations"
MOST_PREVIEWED = 1_000


@dataclass(frozen=True, slots=True)
class LocalClerk:
    records: Records
    ticking: Ticking
    clock: Clock
    timezone: str
    """The owner's."""
    setup: Callable[[], Awaitable[Setup]]

    async def all(self) -> tuple[Shown, ...]:
        return tuple(shown(kept, self.clock.now()) for kept in await self.records.automations(HOME_SPACE))

    async def put(self, draft: Draft, if_version: int | None = None) -> Shown:
        automation = await self._in_step(drafted(draft, self.clock.now(), self.timezone))
        warnings = doubts(automation, await self.setup())
        return replace(await self._keep(automation, if_version), warnings=warnings)

    async def cease(self, id_: str) -> None:
        await self.records.cease(HOME_SPACE, id_, OWNER)
        self.ticking.poke()

    async def pause(self, id_: str, is_paused: bool) -> Shown:
        kept = await self._one(id_)
        if kept.automation.is_paused == is_paused:
            return shown(kept, self.clock.now())
        changed = await self.records.automate(HOME_SPACE, replace(kept.automation, is_paused=is_paused), kept.by, kept.label)
        self.ticking.poke()
        return shown(changed, self.clock.now())

    async def run(self, id_: str) -> Tick:
        kept = await self._one(id_)
        watch = kept.automation.watch
        if watch is not None and not self.ticking.can_watch(watch.kind):
            raise BadInput(f"{id_} looks at a {watch.kind} first, which nobody here can; start Daimon with `daimon up`")
        return await self.ticking.run(kept)

    async def ticks(self, id_: str = "", limit: int = 50) -> tuple[Tick, ...]:
        return await self.records.ticks(HOME_SPACE, id_, limit)

    async def preview(self, schedule: str, timezone: str = "", n: int = 10) -> tuple[datetime, ...]:
        if not 1 <= n <= MOST_PREVIEWED:
            raise BadInput(f"{n} times cannot be shown; between 1 and {MOST_PREVIEWED} can")
        known = next((kept for kept in await self.records.automations(HOME_SPACE) if kept.automation.id == schedule), None)
        if known is not None:
            return due.preview(known.automation, self.clock.now(), n)
        zone = timezone or self.timezone
        when = understood(schedule, self.clock.now(), zone)
        return due.preview(Automation(id="preview", when=when, task="", timezone=zone), self.clock.now(), n)

    async def _keep(self, automation: Automation, if_version: int | None) -> Shown:
        kept = await self.records.automate(HOME_SPACE, automation, OWNER, owned(SOURCE), if_version)
        self.ticking.poke()
        return shown(kept, self.clock.now())

    async def _in_step(self, automation: Automation) -> Automation:
        """An interval that is kept in the same words goes on counting from where it began: changing the task moves no time."""
        all_ = await self.records.automations(HOME_SPACE)
        before = next((kept.automation for kept in all_ if kept.automation.id == automation.id), automation)
        is_same = isinstance(before.when, Every | Days) and (before.said, before.timezone) == (automation.said, automation.timezone)
        return replace(automation, when=before.when) if is_same else automation

    async def _one(self, id_: str) -> Kept:
        found = next((kept for kept in await self.records.automations(HOME_SPACE) if kept.automation.id == id_), None)
        if found is None:
            raise NotFound(f"there is no automation {id_[:60]!r}; `daimon automations` lists them")
        return found


def shown(kept: Kept, now: datetime) -> Shown:
    automation, start = kept.automation, reached(kept)
    following = None if start is None else due.next_due(automation, max(start, now))
    return Shown(automation, said_of(automation), following, kept.last, kept.by, kept.since, kept.version)
