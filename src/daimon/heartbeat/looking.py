"""The look before a model is woken: through a watcher, within a time, and less often while it fails.

A look that fails leaves what was kept as it was, so that nothing is lost: the next one that succeeds finds all that changed. After each
failure in a row the pause doubles, from one minute to six hours; ticks in between are recorded as skipped.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from daimon.abi.automation import Kept
from daimon.abi.errors import DaimonError, WatchFailed
from daimon.abi.label import Label
from daimon.abi.ports import Clock
from daimon.abi.watch import Look, Watch, Watcher
from daimon.heartbeat.watchers import reach

TIMEOUT_S = 120.0
FIRST_PAUSE_S = 60.0
LONGEST_PAUSE_S = 6 * 3_600.0
TOLD_AFTER = 3


@dataclass(frozen=True, slots=True)
class Trouble:
    times: int
    why: str
    until: float
    """On the clock that never jumps."""


@dataclass(slots=True)
class Looking:
    watchers: Mapping[str, Watcher]
    clock: Clock
    timeout_s: float = TIMEOUT_S
    troubles: dict[str, Trouble] = field(default_factory=dict)

    async def look(self, kept: Kept) -> Look:
        """Raises WatchFailed, whatever went wrong."""
        automation, watch = kept.automation.id, kept.automation.watch
        assert watch is not None
        try:
            found = await self._within(self._looked(watch, kept.state, kept.label))
        except WatchFailed as failed:
            self._note(automation, str(failed))
            raise
        self.troubles.pop(automation, None)
        return found

    def resting(self, automation: str) -> str:
        """Why it is not looked at now; empty: it is."""
        trouble = self.troubles.get(automation)
        left = 0.0 if trouble is None else trouble.until - self.clock.monotonic()
        if trouble is None or left <= 0:
            return ""
        return f"the look failed {trouble.times} times in a row ({trouble.why}); the next one is in {max(1, round(left / 60))} min"

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(
            f"automation {name}: the look failed {trouble.times} times in a row: {trouble.why}"
            for name, trouble in sorted(self.troubles.items())
            if trouble.times >= TOLD_AFTER
        )

    def forget(self, known: set[str]) -> None:
        """Of automations that are gone."""
        for name in set(self.troubles) - known:
            del self.troubles[name]

    def _note(self, automation: str, why: str) -> None:
        times = 1 + (self.troubles[automation].times if automation in self.troubles else 0)
        pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(times - 1, 20))
        # The first failure costs no tick: a schedule of a minute looks again at its next one.
        self.troubles[automation] = Trouble(times, why, self.clock.monotonic() + (pause if times > 1 else 0.0))

    async def _looked(self, watch: Watch, state: JsonValue, label: Label) -> Look:
        watcher = self.watchers.get(watch.kind)
        if watcher is None:
            known = ", ".join(sorted(self.watchers)) or "nothing"
            raise WatchFailed(f"nothing here can watch a {watch.kind}; what can be watched: {known}")
        try:
            reach.check(watch, label)
            return await watcher.look(watch, state)
        except WatchFailed:
            raise
        except DaimonError as failed:
            raise WatchFailed(str(failed)) from failed
        except Exception as bug:
            raise WatchFailed(f"an error in the watcher itself: {type(bug).__name__}: {bug}") from bug

    async def _within(self, looked: Coroutine[None, None, Look]) -> Look:
        """By our own clock, so that a manual one can play it."""
        looking = asyncio.ensure_future(looked)
        sleeping = asyncio.ensure_future(self.clock.sleep(self.timeout_s))
        try:
            await asyncio.wait({looking, sleeping}, return_when=asyncio.FIRST_COMPLETED)
            if looking.done():
                return looking.result()
            raise WatchFailed(f"it did not answer within {self.timeout_s:g} s")
        finally:
            sleeping.cancel()
            looking.cancel()
            await asyncio.wait({looking, sleeping}, timeout=1.0)
            if looking.done() and not looking.cancelled():
                looking.exception()
