"""Automations over HTTP: the port `Clerk`, one entry for each of its operations. A name that is not there is 404."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.automation import Clerk, Draft, Shown, Tick
from daimon.abi.errors import BadInput, NotFound
from daimon.gateway.asked import CHECKED, Limit, Needed
from daimon.gateway.entry import Call, Entry

MOST_BYTES = 1 << 20
Times = tuple[datetime, ...]


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Wish(Draft):
    """A draft whose name is in the address."""

    id: str = ""

    def drafted(self, name: str) -> Draft:
        if self.id not in ("", name):
            raise BadInput(f"the automation is called {self.id[:80]!r} inside, and otherwise in the address")
        return Draft(**{each.name: getattr(self, each.name) for each in fields(Draft)} | {"id": name})


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Over:
    if_version: Annotated[int, Field(ge=0)] | None = None
    """The version that was read; 0: there must be none yet."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Newest:
    limit: Limit = 50


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Ahead:
    n: Limit = 10


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Scheduled:
    schedule: Needed
    """In words."""
    timezone: str = ""
    n: Limit = 10


@dataclass(frozen=True, slots=True)
class AutomationRoutes:
    clerk: Clerk

    def all(self) -> tuple[Entry, ...]:
        return (*self._looks(), *self._changes())

    def _looks(self) -> tuple[Entry, ...]:
        path, read, ticks = "/v1/automations", Right.READ, tuple[Tick, ...]
        every = "What happens by itself: each with `schedule` in words, `next`, the `last` tick and its `version`"
        one = f"{path}/{{name}}"
        return (
            Entry("GET", path, self._all, tuple[Shown, ...], every, read),
            Entry("GET", one, self._one, Shown, "One of them", read),
            Entry("GET", f"{one}/ticks", self._ticks, ticks, "Its ticks, newest first", read, query=Newest),
            Entry("GET", f"{one}/preview", self._preview, Times, "Its next times", read, query=Ahead),
            Entry("GET", "/v1/ticks", self._all_ticks, ticks, "The ticks of all, newest first", read, query=Newest),
            Entry("GET", "/v1/preview", self._foreseen, Times, "The next times of a schedule in words", read, query=Scheduled),
        )

    def _changes(self) -> tuple[Entry, ...]:
        one, admin = "/v1/automations/{name}", Right.ADMIN
        put = (
            "Make an automation, or put this one in its place; `schedule` in words. With `if_version` only if it is still the version"
            " that was read (0: if there is none yet), else 409 `outdated`"
        )
        return (
            Entry("PUT", one, self._put, Shown, put, admin, Over, Wish, fails=(409,), most_bytes=MOST_BYTES, is_act=True),
            Entry("DELETE", one, self._cease, dict[str, str], "Take it away; its ticks stay on record", admin, is_act=True),
            Entry("POST", f"{one}/pause", self._pause, Shown, "Its ticks are skipped, and recorded as such", admin, is_act=True),
            Entry("POST", f"{one}/resume", self._resume, Shown, "Its ticks run again from now on", admin, is_act=True),
            Entry("POST", f"{one}/run", self._run, Tick, "Run it now; the tick", admin, is_act=True),
        )

    async def _all(self, call: Call[None, None]) -> tuple[Shown, ...]:
        return await self.clerk.all()

    async def _put(self, call: Call[Over, Wish]) -> Shown:
        return await self.clerk.put(call.body.drafted(call.path["name"]), call.query.if_version)

    async def _one(self, call: Call[None, None]) -> Shown:
        return await self._found(call.path["name"])

    async def _cease(self, call: Call[None, None]) -> dict[str, str]:
        await self.clerk.cease(call.path["name"])
        return {"removed": call.path["name"]}

    async def _pause(self, call: Call[None, None]) -> Shown:
        return await self.clerk.pause(call.path["name"], True)

    async def _resume(self, call: Call[None, None]) -> Shown:
        return await self.clerk.pause(call.path["name"], False)

    async def _run(self, call: Call[None, None]) -> Tick:
        return await self.clerk.run(call.path["name"])

    async def _ticks(self, call: Call[Newest, None]) -> tuple[Tick, ...]:
        return await self.clerk.ticks(call.path["name"], call.query.limit)

    async def _all_ticks(self, call: Call[Newest, None]) -> tuple[Tick, ...]:
        return await self.clerk.ticks("", call.query.limit)

    async def _preview(self, call: Call[Ahead, None]) -> Times:
        return await self.clerk.preview((await self._found(call.path["name"])).automation.id, "", call.query.n)

    async def _foreseen(self, call: Call[Scheduled, None]) -> Times:
        return await self.clerk.preview(call.query.schedule, call.query.timezone, call.query.n)

    async def _found(self, name: str) -> Shown:
        found = next((each for each in await self.clerk.all() if each.automation.id == name), None)
        if found is None:
            raise NotFound(f"there is no automation {name[:60]!r}; GET /v1/automations lists them")
        return found
