"""What happens by itself: when, what for, with what, and what became of each time.

An automation says when it is due (`When`), what the owner wants then (`task`), and under which licence. A *tick* is one moment at which
it was due; each leaves a record, whatever came of it. A tick that runs is an event `Heartbeat` with the key `ID@DUE`, accepted in the
transaction that records the tick: so it runs once.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from pydantic import Field, JsonValue

from daimon.abi.errors import Outdated
from daimon.abi.event import Address, Event
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.plain import Moment
from daimon.abi.plan import Plan
from daimon.abi.watch import Watch

if TYPE_CHECKING:
    from daimon.abi.ports import Accepted


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields: minute, hour, day of month, month, day of week."""

    text: str
    kind: Literal["cron"] = "cron"


@dataclass(frozen=True, slots=True)
class Every:
    """An interval, counted from `start`, on the clock that never jumps: daylight saving does not move it."""

    seconds: int
    start: Moment
    kind: Literal["every"] = "every"


@dataclass(frozen=True, slots=True)
class Days:
    """Every so many days at a time of the clock, counted from a day: every other day at 6, every second Monday at 9."""

    days: int
    start: str
    """`2026-03-02`"""
    at: str
    """`06:00`"""
    kind: Literal["days"] = "days"


@dataclass(frozen=True, slots=True)
class Once:
    at: Moment
    kind: Literal["once"] = "once"


When = Annotated[Cron | Every | Days | Once, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Automation:
    id: str
    """Also its name: short, in small letters, with hyphens. It is the `job` of its turns."""
    when: When
    task: str
    """What is to be done, in the owner's words."""
    timezone: str
    """An IANA name; for cron and days."""
    said: str = ""
    """The schedule as the owner put it: `every weekday at 8`."""
    watch: Watch | None = None
    """Look there first; wake the model only with a change."""
    to: Address | None = None
    """Where results go. None: to the owner, where they spoke last."""
    model: str = ""
    """A name of `[models]`; empty: as for all."""
    cost: Decimal | None = None
    """US dollars a day; None: as `budget.job`."""
    tokens: int | None = None
    licence: Plan | None = None
    """What each of its turns may do without a question, stated with it."""
    catch_up: Literal["skip", "once", "all"] = "once"
    """What becomes of ticks that were missed while nobody ran."""
    overlap: Literal["skip", "wait"] = "skip"
    """What becomes of a tick while the turn of the last one still goes on."""
    jitter_s: float = 0.0
    """Each tick is put off by up to so much, always by the same for the same tick."""
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """An automation as it stands."""

    automation: Automation
    by: PrincipalId
    label: Label = UNLABELLED
    """Of its task and licence: whose words they are."""
    since: datetime | None = None
    """When it was set, or changed: what was due before does not concern it."""
    state: JsonValue = None
    """What its watcher keeps."""
    last: "Tick | None" = None
    version: int = 1
    reached: datetime | None = None
    """The last moment of its schedule that is on record; a run by hand is none."""
    event: str = ""
    """The last event that it became."""


Outcome = Literal["ran", "unchanged", "skipped", "missed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    automation: str
    due: datetime
    at: datetime
    outcome: Outcome
    """`unchanged`: its watcher found nothing new. `missed`: nobody ran then, and it is not caught up. `failed`: the look failed."""
    why: str = ""
    event: str = ""
    """The event that it became."""
    by_hand: bool = False
    """Somebody wanted it then; its schedule did not."""


@dataclass(frozen=True, slots=True)
class Automate:
    """Makes an automation, or puts another in the place of the one with its id. As an operation of a step it takes effect with it."""

    automation: Automation
    kind: Literal["automate"] = "automate"


@dataclass(frozen=True, slots=True)
class Cease:
    """Takes one away. Its ticks stay on record."""

    automation: str
    kind: Literal["cease"] = "cease"


def require_version(id_: str, stands: int, if_version: int | None) -> None:
    """Raises Outdated. `stands`: the version that there is; 0: none."""
    if if_version in (None, stands):
        return
    if not stands:
        raise Outdated(f"the automation {id_[:80]!r} is gone; it was taken away since you read version {if_version}")
    read = f"changed since you read version {if_version}; it is version {stands} now" if if_version else f"there already, version {stands}"
    raise Outdated(f"the automation {id_[:80]!r} is {read}: read it again and put your change into that")


class Automations(Protocol):
    """Kept in the journal."""

    async def automations(self, space: SpaceId) -> tuple[Kept, ...]: ...

    async def automate(self, space: SpaceId, automation: Automation, by: PrincipalId, label: Label, if_version: int | None = None) -> Kept:
        """The state of its watcher begins anew if the watch is another one. With `if_version` (0: there must be none yet) it raises
        Outdated where another one stands, and changes nothing."""
        ...

    async def cease(self, space: SpaceId, automation: str, by: PrincipalId) -> None:
        """Raises NotFound."""
        ...

    async def tick(
        self, space: SpaceId, tick: Tick, event: Event | None = None, state: JsonValue = None, version: int | None = None
    ) -> "Accepted | None":
        """Records it, keeps what the watcher keeps (None: as it was), and accepts the event, in one transaction. A tick that is on record
        stays as it is, and None is returned. If the automation is another version by now, or gone, the tick is recorded as skipped: what
        was seen for the old one neither counts nor is lost, for the next look sees it again."""
        ...

    async def ticks(self, space: SpaceId, automation: str = "", limit: int = 50) -> tuple[Tick, ...]:
        """Newest first."""
        ...


# -- for whom they are --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An automation as somebody asks for it: the schedule in words."""

    id: str
    schedule: str
    """`every weekday at 8`, `in 2 hours`, or a cron line."""
    task: str
    timezone: str = ""
    """Empty: the owner's."""
    watch: Watch | None = None
    to: Address | None = None
    model: str = ""
    cost: Decimal | None = None
    tokens: int | None = None
    licence: Plan | None = None
    catch_up: Literal["skip", "once", "all"] = "once"
    overlap: Literal["skip", "wait"] = "skip"
    jitter_s: float = 0.0
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """An automation as its owner sees it."""

    automation: Automation
    schedule: str
    """In words that are understood as a schedule."""
    next: datetime | None
    """None: never again."""
    last: Tick | None
    by: PrincipalId
    since: datetime | None
    version: int
    warnings: tuple[str, ...] = ()
    """When it was just set: what is missing for it to come to anything."""


class Clerk(Protocol):
    """The owner's ways to what happens by itself."""

    async def all(self) -> tuple[Shown, ...]: ...

    async def put(self, draft: Draft, if_version: int | None = None) -> Shown:
        """Raises BadInput, and Outdated if it is no longer the version that was read; 0: there must be none yet."""
        ...

    async def cease(self, id_: str) -> None:
        """Raises NotFound, like all that name one."""
        ...

    async def pause(self, id_: str, is_paused: bool) -> Shown: ...

    async def run(self, id_: str) -> Tick:
        """Now; says what became of it."""
        ...

    async def ticks(self, id_: str = "", limit: int = 50) -> tuple[Tick, ...]: ...

    async def preview(self, schedule: str, timezone: str = "", n: int = 10) -> tuple[datetime, ...]:
        """The next times of an automation, or of a schedule in words, on the clock of its zone."""
        ...
