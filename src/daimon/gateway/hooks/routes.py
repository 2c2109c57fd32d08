"""Hooks over the API, for their owner. No answer has a secret in it."""

from dataclasses import dataclass, fields
from datetime import datetime

from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.hook import Hook, Hooked, Hooks, Posted, version_of
from daimon.abi.ids import HOME_SPACE, OWNER, PrincipalId
from daimon.abi.label import Label, owned
from daimon.gateway.asked import CHECKED, Limit
from daimon.gateway.entry import Call, Entry
from daimon.gateway.hooks.check import check
from daimon.gateway.hooks.ready import Shelf

MOST_BYTES = 256 * 1024


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Wish(Hook):
    """A hook as it is asked for."""

    def made(self, name: str) -> Hook:
        if self.name != name:
            raise BadInput(f"the hook is called {self.name[:80]!r} inside, and otherwise in the address")
        return Hook(**{each.name: getattr(self, each.name) for each in fields(Hook)})


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Over:
    if_version: str = ""
    """The version that was read; 0: there must be none yet."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A hook as its owner sees it."""

    hook: Hook
    by: PrincipalId
    label: Label
    since: datetime | None
    version: str


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Newest:
    limit: Limit = 50


@dataclass(frozen=True, slots=True)
class HookRoutes:
    hooks: Hooks
    shelf: Shelf

    def all(self) -> tuple[Entry, ...]:
        path, one, read, admin = "/v1/hooks", "/v1/hooks/{name}", Right.READ, Right.ADMIN
        put = (
            "Make a hook, or change it; its secret is made where there is none, and is never shown here. With `if_version` only if it is"
            " still the `version` that was read (0: if there is none yet), else 409 `outdated`"
        )
        gone, came = "Remove it, with its secret and what it collected", "What came through it, newest first"
        return (
            Entry("GET", path, self._list, tuple[Shown, ...], "The webhooks there are", read),
            Entry("GET", one, self._show, Shown, "One of them", read),
            Entry("PUT", one, self._make, Shown, put, admin, Over, Wish, fails=(409,), most_bytes=MOST_BYTES, is_act=True),
            Entry("DELETE", one, self._remove, Shown, gone, admin, is_act=True),
            Entry("GET", f"{one}/deliveries", self._deliveries, tuple[Posted, ...], came, read, query=Newest),
        )

    async def _list(self, call: Call[None, None]) -> tuple[Shown, ...]:
        return tuple(map(_shown, await self.hooks.hooks(HOME_SPACE)))

    async def _show(self, call: Call[None, None]) -> Shown:
        return _shown(await self._found(call.path["name"]))

    async def _make(self, call: Call[Over, Wish]) -> Shown:
        hook = call.body.made(call.path["name"])
        check(hook)
        made = await self.hooks.hook(HOME_SPACE, hook, OWNER, owned("api"), call.query.if_version)
        await self.shelf.refresh()
        return _shown(made)

    async def _remove(self, call: Call[None, None]) -> Shown:
        found = await self._found(call.path["name"])
        await self.hooks.unhook(HOME_SPACE, found.hook.name, OWNER)
        await self.shelf.removed(found.hook)
        return _shown(found)

    async def _deliveries(self, call: Call[Newest, None]) -> tuple[Posted, ...]:
        found = await self.hooks.posted(HOME_SPACE, call.path["name"], call.query.limit)
        if not found:  # of one that was removed, the record stays
            await self._found(call.path["name"])
        return found

    async def _found(self, name: str) -> Hooked:
        for each in await self.hooks.hooks(HOME_SPACE):
            if each.hook.name == name:
                return each
        raise NotFound(f"there is no hook {name[:80]!r}; `daimon hooks list` shows all")


def _shown(each: Hooked) -> Shown:
    return Shown(each.hook, each.by, each.label, each.since, version_of(each.hook))
