"""Automations as their page shows them: each time that one was due with the run that it became, and how its watcher fares.

    GET /v1/room/automations        all of them, and what an editor can offer
    GET /v1/room/automations/NAME   one, with its next ten times and what became of the last ones
    GET /v1/room/preview            the next times of a schedule as it is typed, or what is not understood of it
    POST /v1/room/licence           a licence as it is written, read as the plan that `/v1/automations` takes

Made, changed and run they are through `/v1/automations`. Whether a watcher is in trouble is read from the ticks: no more is kept of it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi import licence
from daimon.abi.access import Right
from daimon.abi.automation import Clerk, Shown, Tick
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.ids import EventId, TurnId
from daimon.abi.plan import Plan
from daimon.abi.ports import Archive
from daimon.abi.turn import Ending, State
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry

TIMES = 10
MOST_LICENCE = 50_000
LOOKED = ("ran", "unchanged", "failed")
"""Outcomes of ticks at which its watcher looked."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What there is for an automation to name."""

    timezone: str
    """The owner's."""
    models: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    """Those that keep what comes for automations."""
    has_only_built_in: bool = False
    """No model is set up but the small one that comes along, which stays silent here."""


@dataclass(frozen=True, slots=True)
class Run:
    turn: TurnId
    state: State
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class Ticked:
    tick: Tick
    run: Run | None
    """None: it became no event, or no turn has taken that yet."""


@dataclass(frozen=True, slots=True)
class Row:
    shown: Shown
    last: Ticked | None


@dataclass(frozen=True, slots=True)
class All:
    automations: tuple[Row, ...]
    around: Surroundings


@dataclass(frozen=True, slots=True)
class Watching:
    looked_at: datetime | None
    """The last look. None: there was none yet, or none that is still on record."""
    note: str
    """What was said of it."""
    failures: int
    """So many looks failed in a row."""


@dataclass(frozen=True, slots=True)
class One:
    shown: Shown
    times: tuple[datetime, ...]
    """The next ones, on the clock of its zone."""
    ticks: tuple[Ticked, ...]
    """Newest first."""
    watching: Watching | None
    """None: it looks at nothing."""
    licence: str
    """As it is written."""
    around: Surroundings


@dataclass(frozen=True, slots=True)
class Foreseen:
    times: tuple[datetime, ...]
    """On the clock of the zone."""
    fault: str
    """What is not understood, and what would be: whoever is still typing has done nothing wrong."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Typed:
    schedule: str = ""
    timezone: str = ""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Written:
    text: Annotated[str, Field(max_length=MOST_LICENCE)]


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Wanted:
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@dataclass(frozen=True, slots=True)
class AutomationViews:
    clerk: Clerk
    archive: Archive
    around: Callable[[], Awaitable[Surroundings]]

    def all(self) -> tuple[Entry, ...]:
        path = "/v1/room/automations"
        return (
            Entry("GET", path, self._all, All, "All automations with what became of their last time", Right.READ),
            Entry(
                "GET", f"{path}/{{id}}", self._one, One, "One automation with its next times and its record", Right.READ,
                query=Wanted, fails=(404,),
            ),
            Entry("GET", "/v1/room/preview", self._preview, Foreseen, "The next times of a schedule", Right.READ, query=Typed),
            Entry("POST", "/v1/room/licence", self._licence, Plan, "A licence in words as a plan", Right.READ, body=Written),
        )  # fmt: skip

    async def _all(self, call: Call[None, None]) -> All:
        shown = await self.clerk.all()
        rows = [Row(each, None if each.last is None else await ticked(self.archive, each.last)) for each in shown]
        return All(tuple(rows), await self.around())

    async def _one(self, call: Call[Wanted, None]) -> One:
        name = call.path["id"]
        shown = next((each for each in await self.clerk.all() if each.automation.id == name), None)
        if shown is None:
            raise NotFound(f"there is no automation {name[:60]!r}; the page of automations lists them")
        ticks = await self.clerk.ticks(name, call.query.limit)
        times = await self.clerk.preview(name, n=TIMES)
        runs = [await ticked(self.archive, tick) for tick in ticks]
        watching = None if shown.automation.watch is None else _watching(ticks)
        words = "" if shown.automation.licence is None else licence.written(shown.automation.licence)
        return One(shown, times, tuple(runs), watching, words, await self.around())

    async def _preview(self, call: Call[Typed, None]) -> Foreseen:
        try:
            return Foreseen(await self.clerk.preview(call.query.schedule, call.query.timezone, TIMES), "")
        except BadInput as fault:
            return Foreseen((), str(fault))

    async def _licence(self, call: Call[None, Written]) -> Plan:
        return licence.read(call.body.text)


async def run_of(archive: Archive, event: str) -> Run | None:
    """The turn that an event became. What has been forgotten since has none."""
    try:
        turn = await archive.turn_of(EventId(event)) if event else None
    except NotFound:
        return None
    return None if turn is None else Run(turn.id, turn.state, turn.ending)


async def ticked(archive: Archive, tick: Tick) -> Ticked:
    return Ticked(tick, await run_of(archive, tick.event))


def _watching(ticks: tuple[Tick, ...]) -> Watching:
    looks = [tick for tick in ticks if tick.outcome in LOOKED]
    failures = next((n for n, tick in enumerate(looks) if tick.outcome != "failed"), len(looks))
    return Watching(looks[0].at, looks[0].why, failures) if looks else Watching(None, "", 0)
