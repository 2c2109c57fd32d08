"""A day in which nothing happens, or one thing: a real journal, kernel, heart and loopback server, and a clock by hand.

Twenty automations of all kinds of schedules look at feeds and pages of a server on loopback and at files on disk. The watchers here are the
least that can do it (a conditional request; the dates of files); others can be given in their place. A model is there, and counts how often
it is asked.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from pydantic import JsonValue
from tests.heartbeat.world import LABEL, SITE
from tests.kernel.rig import Rig, kernel

from daimon.abi.automation import Automation
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.watch import Look, Watch, Watcher, WatchFeed, WatchFiles, WatchPage
from daimon.heartbeat.due import dues, put_off
from daimon.heartbeat.looking import Looking
from daimon.heartbeat.plain import understood
from daimon.heartbeat.ticking import Around, Ticking
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import START, ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.model import ScriptedModel, says

SCHEDULES = (
    "every 15 minutes", "every 30 minutes", "every hour", "every 3 hours", "every weekday at 8", "daily at 7:30 pm",
    "every monday and thursday at 18:00", "every other day at 6", "*/20 * * * *", "last day of the month at 9",
)  # fmt: skip
STEP_S = 60.0


@dataclass(slots=True)
class Site:
    """Pages on loopback that know their etag."""

    version: int = 1
    requests: int = 0
    url: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        self.requests += 1
        etag = f'"{self.version}"'
        body = b"" if f"if-none-match: {etag}" in head.lower() else f"version {self.version}".encode()
        status = "304 Not Modified" if not body else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\netag: {etag}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()


class HttpWatcher:
    """A conditional request; the text, if it is another."""

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchFeed | WatchPage)
        url = watch.urls[0] if isinstance(watch, WatchFeed) else watch.url
        host, _, path = url.removeprefix("http://").partition("/")
        known = state["etag"] if isinstance(state, dict) else ""
        reader, writer = await asyncio.open_connection(*host.split(":"))
        writer.write(f"GET /{path} HTTP/1.1\r\nhost: {host}\r\nif-none-match: {known}\r\n\r\n".encode())
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        writer.close()
        etag = head.partition("etag: ")[2].partition("\r\n")[0]
        is_new = state is not None and etag != known
        return Look({"etag": etag}, {"text": body} if is_new else None, SITE, "changed" if is_new else "unchanged (etag)")


class FileWatcher:
    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchFiles)
        found: dict[str, JsonValue] = {str(file): file.stat().st_mtime_ns for file in map(Path, watch.globs)}
        return Look(found, found if state not in (None, found) else None, SITE)


@dataclass(frozen=True, slots=True)
class Day:
    ticks: int
    outcomes: dict[str, int]
    model_calls: int
    cost: Decimal
    cpu_s: float
    requests: int


@dataclass(slots=True)
class Still:
    rig: Rig
    model: ScriptedModel
    clock: ManualClock
    ticking: Ticking
    site: Site

    async def pass_hours(self, hours: float) -> None:
        for _ in range(round(hours * 3_600 / STEP_S)):
            await self.clock.advance(STEP_S)
            await self.ticking.settle()

    async def day(self, cpu_s: float) -> Day:
        ticks = await self.rig.journal.ticks(HOME_SPACE, "", 100_000)
        outcomes = {name: sum(tick.outcome == name for tick in ticks) for name in ("ran", "unchanged", "skipped", "missed", "failed")}
        spent = await self.rig.journal.spending(HOME_SPACE, "day")
        return Day(len(ticks), outcomes, len(self.model.requests), sum((row.cost for row in spent), Decimal(0)), cpu_s, self.site.requests)


@asynccontextmanager
async def still(place: Path, watchers: Mapping[str, Watcher] | None = None) -> AsyncIterator[Still]:
    clock, site = ManualClock(START.replace(hour=0)), Site()
    journal = await SqliteJournal.open(place / "journal.db", clock, CountingIds())
    server = await asyncio.start_server(site.answer, "127.0.0.1")
    site.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    (place / "watched").write_text("as it is")
    model = ScriptedModel([says("Something is new.")] * 100)
    try:
        async with kernel(model=model, journal=journal, clock=clock, ids=CountingIds()) as rig:
            for automation in automations(site, place, clock):
                await journal.automate(HOME_SPACE, automation, OWNER, LABEL)
            http = HttpWatcher()
            looking = Looking(watchers or {"feed": http, "page": http, "files": FileWatcher()}, clock)
            around = Around(rig.scheduler.wake, lambda text: text, {})
            yield Still(rig, model, clock, Ticking(journal, looking, around, clock, CountingIds()), site)
    finally:
        server.close()
        await server.wait_closed()
        await journal.close()


def automations(site: Site, place: Path, clock: ManualClock) -> list[Automation]:
    """Each schedule twice, each kind of watch several times."""
    watches = (WatchFeed((f"{site.url}/feed",)), WatchPage(f"{site.url}/page"), WatchFiles((str(place / "watched"),)))
    made = [
        Automation(
            id=f"job-{n}", when=understood(SCHEDULES[n % 10], clock.now(), "Europe/Berlin"), task="Tell me what is new.",
            timezone="Europe/Berlin", watch=watches[n % 3], jitter_s=0.0 if n % 2 else 300.0,
        )
        for n in range(20)
    ]  # fmt: skip
    return [replace(each, catch_up=("skip", "once", "all")[n % 3]) for n, each in enumerate(made)]  # type: ignore[arg-type]


async def idle_day(place: Path, hours: float = 24) -> Day:
    async with still(place) as world:
        before = time.process_time()
        await world.pass_hours(hours)
        return await world.day(time.process_time() - before)


def expected(clock: ManualClock, made: list[Automation], hours: float) -> int:
    """How many ticks such a day has, counted by the schedules alone."""
    end = clock.now() + timedelta(hours=hours)
    return sum(sum(put_off(each, due) <= end for due in dues(each, clock.now(), end)) for each in made)
