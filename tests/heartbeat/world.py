"""A heart with a real journal on disk, a clock by hand, and watchers that answer as they are told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from daimon.abi.automation import Automation, Every, Kept, Tick
from daimon.abi.event import Event
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.money import Limit
from daimon.abi.watch import Look, Watch, WatchPage
from daimon.heartbeat.looking import Looking
from daimon.heartbeat.ticking import Around, Ticking
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import START, ManualClock
from daimon.testing.ids import CountingIds

LABEL = owned("terminal")
SITE = Label.of(Origin(Author.STRANGER, "web:127.0.0.1"))
HOUR = 3_600


@dataclass(slots=True)
class Page:
    """A page that says what it is told to say. A watcher of it compares with what it kept."""

    text: str = "first"
    fails: Exception | None = None
    hangs: bool = False
    looks: int = 0
    looked: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        self.looks += 1
        self.looked.set()
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails is not None:
            raise self.fails
        if state is None:
            return Look(self.text, note="first look")
        return Look(self.text, {"now": self.text} if self.text != state else None, SITE, "changed" if self.text != state else "unchanged")


@dataclass(slots=True)
class Heart:
    journal: SqliteJournal
    clock: ManualClock
    page: Page = field(default_factory=Page)
    woken: list[Event] = field(default_factory=list)
    limits: dict[str, Limit] = field(default_factory=dict)
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    ids: CountingIds = field(default_factory=CountingIds)

    def ticking(self) -> Ticking:
        """As after a start."""

        async def wake(event: Event) -> None:
            self.woken.append(event)
            self.heard.set()

        around = Around(wake, lambda text: text.replace("hunter2", "[secret]"), self.limits)
        return Ticking(self.journal, Looking({"page": self.page}, self.clock), around, self.clock, self.ids)

    async def set(self, automation: Automation) -> Kept:
        return await self.journal.automate(HOME_SPACE, automation, OWNER, LABEL)

    async def outcomes(self, name: str = "brief") -> list[str]:
        """Oldest first."""
        return [f"{tick.outcome}" for tick in reversed(await self.journal.ticks(HOME_SPACE, name, 1_000))]

    async def last(self, name: str = "brief") -> Tick:
        return (await self.journal.ticks(HOME_SPACE, name, 1))[0]


@asynccontextmanager
async def heart(tmp_path: Path) -> AsyncIterator[Heart]:
    clock = ManualClock()
    journal = await SqliteJournal.open(tmp_path / "journal.db", clock, CountingIds())
    try:
        yield Heart(journal, clock)
    finally:
        await journal.close()


def hourly(name: str = "brief", **more: object) -> Automation:
    return Automation(id=name, when=Every(HOUR, START), task="Brief me.", timezone="UTC", **more)  # type: ignore[arg-type]


def watching(name: str = "brief", **more: object) -> Automation:
    return hourly(name, watch=WatchPage("http://127.0.0.1/"), **more)
