"""When a service may be asked again after it failed.

One for each service, shared by all who use it: what one learns, a `Retry-After` for instance, counts for all. After a failure there is a
pause, longer each time and with some chance in it, so that callers do not come back together. After several in a row the breaker is open:
nobody asks until a longer pause is over, and then one call tries it out for all.
"""

from daimon.abi.ports import Clock, Random

FIRST_S = 0.5
OPENS_AFTER = 4
OPEN_S = 45.0
MOST_S = 600.0
MOST_TOLD_S = 3_600.0
"""A service that asks for more patience than this is tried after it all the same."""
TRIAL_S = 300.0
"""A trial call that nobody reports on is given up after so long."""
TRIAL_LOOK_S = 5.0
"""While one tries it out, the others look again so often: it mostly ends soon, and whoever went away for the whole time would come late."""


class Breaker:
    def __init__(self, clock: Clock, random: Random, first_s: float = FIRST_S) -> None:
        """`first_s`: the first pause; 0 where one who failed is no reason for the others to wait, until the breaker opens."""
        self._clock = clock
        self._random = random
        self._first_s = first_s
        self._failures = 0
        self._free_at = 0.0
        self._is_trial = False
        self.reason = ""
        """Why it failed last."""

    @property
    def is_open(self) -> bool:
        return self._failures >= OPENS_AFTER

    def wait_s(self) -> float:
        """How long to wait before asking; 0 to ask now."""
        left = max(0.0, self._free_at - self._clock.monotonic())
        return min(left, TRIAL_LOOK_S) if self._is_trial else left

    def asking(self) -> None:
        """Somebody asks now. With the breaker open that is the trial, and the others wait for its end."""
        if self.is_open:
            self._is_trial = True
            self._free_at = self._clock.monotonic() + TRIAL_S

    def succeeded(self) -> None:
        self._failures, self._free_at, self._is_trial, self.reason = 0, 0.0, False, ""

    def failed(self, reason: str, retry_after_s: float | None) -> None:
        """Calls that were under way together fail together: what fails during a pause is no further failure in a row."""
        now, self.reason = self._clock.monotonic(), reason
        told = 0.0 if retry_after_s is None else min(retry_after_s, MOST_TOLD_S)
        if self._is_trial or now >= self._free_at:
            self._failures += 1
            self._free_at = now + max(told, self._pause())
        else:
            self._free_at = max(self._free_at, now + told)
        self._is_trial = False

    def gave_up(self) -> None:
        """The call ended without a word on the service: somebody stopped it, or the fault was ours."""
        if self._is_trial:
            self._is_trial, self._free_at = False, self._clock.monotonic()

    def _pause(self) -> float:
        over = self._failures - OPENS_AFTER
        longest = min(MOST_S, OPEN_S * 2.0**over) if over >= 0 else self._first_s * 2.0 ** (self._failures - 1)
        return longest * (1 if over >= 0 else 0.5 + self._random.uniform() / 2)
