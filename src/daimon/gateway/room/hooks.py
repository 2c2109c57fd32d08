"""Webhooks as their page shows them: the address to enter at the service, and what came, with the run that it became.

    GET /v1/room/hooks        all of them
    GET /v1/room/hooks/NAME   one, with its newest deliveries

No secret is in here, nor in any other answer: the owner reads it on the machine itself, with `daimon hooks show NAME --secret`.
"""

import json
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field, JsonValue
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.automation import Clerk
from daimon.abi.errors import NotFound
from daimon.abi.hook import Hooked, Hooks, Posted, version_of
from daimon.abi.ids import HOME_SPACE
from daimon.abi.ports import Archive
from daimon.abi.watch import WatchHook
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.automations import Run, run_of

SHOWN = 2_000
"""Characters of what a delivery brought."""


@dataclass(frozen=True, slots=True)
class Base:
    """Where `/hooks/` is reached."""

    url: str
    is_public: bool
    """Else only this machine reaches it: `gateway.public_url` is not set."""


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    is_public: bool


@dataclass(frozen=True, slots=True)
class Row:
    hooked: Hooked
    address: Address
    last: Posted | None
    """Without what it brought."""


@dataclass(frozen=True, slots=True)
class Delivered:
    posted: Posted
    """Without what it brought."""
    text: str
    """What it brought, where that is kept with it, as JSON."""
    is_cut: bool
    run: Run | None


@dataclass(frozen=True, slots=True)
class One:
    hooked: Hooked
    address: Address
    deliveries: tuple[Delivered, ...]
    watched_by: tuple[str, ...]
    """Automations that collect what it keeps."""
    version: str
    """For a change: `if_version` of `PUT /v1/hooks/NAME`."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Wanted:
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@dataclass(frozen=True, slots=True)
class HookViews:
    hooks: Hooks
    clerk: Clerk
    archive: Archive
    base: Base

    def all(self) -> tuple[Entry, ...]:
        path = "/v1/room/hooks"
        return (
            Entry("GET", path, self._all, tuple[Row, ...], "All webhooks with their addresses", Right.READ),
            Entry("GET", f"{path}/{{name}}", self._one, One, "One webhook with what came", Right.READ, query=Wanted, fails=(404,)),
        )

    async def _all(self, call: Call[None, None]) -> tuple[Row, ...]:
        found = await self.hooks.hooks(HOME_SPACE)
        return tuple([Row(each, self._address(each), await self._last(each.hook.name)) for each in found])

    async def _one(self, call: Call[Wanted, None]) -> One:
        name = call.path["name"]
        hooked = next((each for each in await self.hooks.hooks(HOME_SPACE) if each.hook.name == name), None)
        if hooked is None:
            raise NotFound(f"there is no hook {name[:80]!r}; the page of automations lists them")
        posted = await self.hooks.posted(HOME_SPACE, name, call.query.limit)
        came = [await self._delivered(each) for each in posted]
        return One(hooked, self._address(hooked), tuple(came), await self._watchers(name), version_of(hooked.hook))

    async def _last(self, name: str) -> Posted | None:
        newest = await self.hooks.posted(HOME_SPACE, name, 1)
        return _bare(newest[0]) if newest else None

    async def _delivered(self, posted: Posted) -> Delivered:
        text = "" if posted.data is None else _written(posted.data)
        return Delivered(_bare(posted), text[:SHOWN], len(text) > SHOWN, await run_of(self.archive, posted.event))

    async def _watchers(self, name: str) -> tuple[str, ...]:
        watches = {each.automation.id: each.automation.watch for each in await self.clerk.all()}
        return tuple(id_ for id_, watch in watches.items() if isinstance(watch, WatchHook) and watch.hook == name)

    def _address(self, hooked: Hooked) -> Address:
        return Address(f"{self.base.url}/hooks/{hooked.hook.name}", self.base.is_public)


def _bare(posted: Posted) -> Posted:
    return replace(posted, data=None, headers={})


def _written(data: JsonValue) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)
