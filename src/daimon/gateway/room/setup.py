"""The first run: how far this home is set up, and a first automation from the gallery. Models, channels and budgets are set by the routes
of the settings, here as there, so that a step can be gone back to and repeated and never wipes anything.

A home is fresh while only the built-in model answers and nobody has said anything yet: then the page begins with the set-up by itself.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.automation import Clerk, Shown
from daimon.abi.errors import BadInput
from daimon.abi.ports import Overview
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room import gallery
from daimon.gateway.room.gallery import Suggestion

_CHECKED = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Standing:
    """What the settings say."""

    use: tuple[str, ...]
    """Models that answer, in order."""
    has_model: bool
    """Another one than the built-in."""
    channels: tuple[str, ...]
    day: str
    month: str
    """US dollars; empty: no limit."""
    owner: str
    timezone: str


@dataclass(frozen=True, slots=True)
class SetupView:
    is_fresh: bool
    standing: Standing
    events: int
    """What was said or happened so far."""
    automations: tuple[str, ...]
    gallery: tuple[Suggestion, ...]


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Choice:
    id: Annotated[str, Field(max_length=60)]
    schedule: Annotated[str, Field(max_length=200)] = ""
    address: Annotated[str, Field(max_length=2_000)] = ""


@dataclass(frozen=True, slots=True)
class SetupRoutes:
    standing: Callable[[], Awaitable[Standing]]
    overview: Overview
    clerk: Clerk

    def all(self) -> tuple[Entry, ...]:
        chosen = "Make an automation of a suggestion of the gallery"
        return (
            Entry("GET", "/v1/setup", self._view, SetupView, "How far this home is set up, and what could come next", Right.READ),
            Entry("POST", "/v1/setup/automations", self._choose, Shown, chosen, Right.ADMIN, body=Choice, is_act=True),
        )

    async def _view(self, call: Call[None, None]) -> SetupView:
        standing, count = await self.standing(), await self.overview.count()
        made = tuple(each.automation.id for each in await self.clerk.all())
        return SetupView(not standing.has_model and not count.events, standing, count.events, made, gallery.GALLERY)

    async def _choose(self, call: Call[None, Choice]) -> Shown:
        """One of that name that is there already stays as it is: a set-up that is run again wipes nothing."""
        draft = gallery.drafted(call.body.id, call.body.schedule, call.body.address)
        if any(each.automation.id == draft.id for each in await self.clerk.all()):
            raise BadInput(f"{draft.id} is there already; it is changed under Automations")
        return await self.clerk.put(draft)
