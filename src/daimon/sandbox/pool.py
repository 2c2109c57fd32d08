"""What lives longer than a call, kept: one per key, made when needed, closed when it was not for a while, made anew when it died.

A key whose resource died says so to the next who leases it, once. One that dies again and again is left alone for a while, so that a box
that cannot live does not cost a start with every call.

What is closed is closed to its end, whoever is cancelled meanwhile, and before another is made under its key: the new one would lose what
goes with the old.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from daimon.abi.errors import ToolFailed
from daimon.abi.ports import Clock
from daimon.abi.resources import Lease, Standing

DEATHS, WITHIN_S = 5, 60.0
_LOG = logging.getLogger(__name__)


class Living(Protocol):
    @property
    def is_alive(self) -> bool: ...

    @property
    def about(self) -> str:
        """What it is, for status."""
        ...

    @property
    def losses(self) -> str:
        """What is gone when it is gone, for the model."""
        ...

    @property
    def is_needed(self) -> bool:
        """Does something go on in it that nobody waits for?"""
        ...

    async def close(self) -> None: ...


R = TypeVar("R", bound=Living)


@dataclass(slots=True)
class _Entry(Generic[R]):
    resource: R | None = None
    lost: str = ""
    leases: int = 0
    restarts: int = 0
    used_at: float = 0.0
    deaths: list[float] = field(default_factory=list)
    is_making: bool = False
    """It takes a place already."""
    making: asyncio.Lock = field(default_factory=asyncio.Lock)


class Pool(Generic[R]):
    def __init__(self, make: Callable[[str], Awaitable[R]], clock: Clock, idle_s: float, most: int) -> None:
        self._make, self._clock, self._idle_s, self._most = make, clock, idle_s, most
        self._entries: dict[str, _Entry[R]] = {}
        self._closing: set[asyncio.Future[None]] = set()
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def lease(self, key: str) -> AsyncIterator[Lease[R]]:
        entry = self._entries.setdefault(key, _Entry())
        entry.leases += 1
        try:
            async with entry.making:
                resource = await self._living(key, entry)
                lost, entry.lost = entry.lost, ""
            yield Lease(resource, lost)
        finally:
            entry.leases -= 1
            entry.used_at = self._clock.monotonic()
            self._changed.set()

    async def restart(self, key: str, why: str) -> None:
        entry = self._entries.get(key)
        if entry is not None:
            await self._end_alone(entry, why)

    def standing(self) -> tuple[Standing, ...]:
        return tuple(
            Standing(key, entry.resource is not None and entry.resource.is_alive, entry.leases, entry.restarts, _about(entry))
            for key, entry in self._entries.items()
        )

    async def close(self) -> None:
        """All of them, though one fails; that is raised then."""
        async with AsyncExitStack() as ending:
            for entry in self._entries.values():
                ending.push_async_callback(self._end_alone, entry, "Daimon stopped")
        if self._closing:
            await asyncio.wait(self._closing)

    async def tend(self) -> None:
        """Closes what nobody used for a while. Until cancelled; sleeps while there is nothing."""
        while True:
            self._changed.clear()
            due = [entry.used_at + self._idle_s for entry in self._entries.values() if entry.resource is not None and not entry.leases]
            if not due:
                await self._changed.wait()
                continue
            await self._clock.sleep(max(0.0, min(due) - self._clock.monotonic()))
            for entry in list(self._entries.values()):
                if entry.resource is not None and entry.resource.is_needed:
                    entry.used_at = self._clock.monotonic()
                if self._is_idle(entry):
                    await self._end_idle(entry)

    def _is_idle(self, entry: _Entry[R]) -> bool:
        return not entry.leases and entry.used_at + self._idle_s <= self._clock.monotonic()

    async def _end_idle(self, entry: _Entry[R]) -> None:
        try:
            async with entry.making:
                if self._is_idle(entry):
                    await self._end(entry, f"nobody used it for {self._idle_s / 60:g} minutes")
        except Exception:  # noqa: BLE001 - one that cannot be closed is no reason to look after none
            _LOG.exception("what nobody used could not be closed")

    async def _living(self, key: str, entry: _Entry[R]) -> R:
        if entry.resource is not None and entry.resource.is_alive:
            return entry.resource
        if entry.resource is not None:
            entry.deaths.append(self._clock.monotonic())
            await self._end(entry, "it died")
        self._require_patience(entry)
        entry.is_making = True
        try:
            await self._make_room(entry)
            entry.resource = await self._make(key)
        finally:
            entry.is_making = False
        entry.restarts += bool(entry.lost)
        return entry.resource

    def _require_patience(self, entry: _Entry[R]) -> None:
        entry.deaths = [at for at in entry.deaths if self._clock.monotonic() - at < WITHIN_S]
        if len(entry.deaths) >= DEATHS:
            raise ToolFailed("keeps_dying", f"it died {len(entry.deaths)} times within {WITHIN_S:g} s; wait a minute", retryable=True)

    async def _make_room(self, entry: _Entry[R]) -> None:
        """Closes the one that was unused for longest, where there are too many."""
        alive = [each for each in self._entries.values() if each is not entry and (each.is_making or each.resource is not None)]
        if len(alive) < self._most:
            return
        idle = [each for each in alive if not each.leases and each.resource is not None]
        if not idle:
            raise ToolFailed("too_many", f"{self._most} are in use at once, which is all there may be; try again later", retryable=True)
        await self._end_alone(min(idle, key=lambda each: each.used_at), "others needed its place")

    async def _end_alone(self, entry: _Entry[R], why: str) -> None:
        async with entry.making:
            await self._end(entry, why)

    async def _end(self, entry: _Entry[R], why: str) -> None:
        if entry.resource is None:
            return
        resource, entry.resource = entry.resource, None
        entry.lost = f"{why}: {resource.losses}"
        closing = asyncio.ensure_future(resource.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await asyncio.wait((closing,))
            raise


def _about(entry: _Entry[R]) -> str:
    return "" if entry.resource is None else entry.resource.about
