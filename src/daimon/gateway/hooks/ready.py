"""Hooks as they are used: kept in memory, read again when one has changed."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from daimon.abi.errors import BadInput
from daimon.abi.hook import NEXT, Hook, Hooked, Hooks, secrets_of
from daimon.abi.ids import OWNER, SpaceId
from daimon.abi.label import Author, Label, Origin
from daimon.gateway.hooks import schema
from daimon.gateway.hooks.rates import Bucket

RECORDS_PER_MINUTE = 10
"""Refusals of one hook that are written down."""
Secrets = Callable[[tuple[str, ...]], tuple[str, ...]]
"""The values of those that are there."""
Ensure = Callable[[str], Awaitable[None]]
"""Makes the secret with this name, if there is none."""
Drop = Callable[[tuple[str, ...]], Awaitable[None]]
"""Takes those away that are there."""


@dataclass(slots=True)
class Ready:
    hooked: Hooked
    hook: Hook
    label: Label
    bucket: Bucket
    records: Bucket
    unrecorded: int = 0
    """Refusals since the last that was written down."""
    check: schema.Check | None = None
    names: tuple[str, ...] = field(default=())
    """Of its secrets."""


class Shelf:
    def __init__(self, hooks: Hooks, space: SpaceId, ensure: Ensure, drop: Drop) -> None:
        self._hooks = hooks
        self._space = space
        self._ensure = ensure
        self._drop = drop
        self._ready: dict[str, Ready] = {}
        self._read_at = -1

    async def find(self, name: str) -> Ready | None:
        if self._read_at != self._hooks.hook_changes:
            await self.refresh()
        return self._ready.get(name)

    async def refresh(self) -> None:
        """A change in between is seen at the next look. What counts (limits) goes on for hooks that stay as they are."""
        at = self._hooks.hook_changes
        found = await self._hooks.hooks(self._space)
        for hooked in found:
            await self._ensure(hooked.hook.secret)
        before = self._ready
        self._ready = {
            hooked.hook.name: old if (old := before.get(hooked.hook.name)) is not None and old.hooked == hooked else _ready(hooked)
            for hooked in found
        }
        self._read_at = at

    async def removed(self, hook: Hook) -> None:
        """Its secret goes with it: who knew it must not come in when a hook of that name is made again."""
        await self.refresh()
        await self._drop(secrets_of(hook, (each.hook for each in self._ready.values())))


def _ready(hooked: Hooked) -> Ready:
    hook = hooked.hook
    names = (hook.secret, hook.secret + NEXT)
    return Ready(hooked, hook, label_of(hooked), Bucket(hook.per_minute), Bucket(RECORDS_PER_MINUTE), check=_check(hook), names=names)


def _check(hook: Hook) -> schema.Check | None:
    try:
        return schema.compiled(hook.schema) if hook.schema else None
    except BadInput as bad:
        why = str(bad)
        return lambda _: why  # made by an older release, or around the check: nothing fits it


def label_of(hooked: Hooked) -> Label:
    """What comes is a stranger's; with a task, it is both."""
    theirs = Label.of(Origin(Author.STRANGER, f"webhook:{hooked.hook.name}"), readers=(OWNER,))
    return theirs.joined(hooked.label) if hooked.hook.task else theirs
