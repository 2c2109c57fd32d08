"""A wall clock that jumps when the driver turns the dial: seconds ahead of the real one.

Durations are not touched, as when somebody sets the clock.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from daimon.machine.clock import SystemClock
from lab.dial import Dial


def shift(path: Path) -> None:
    dial = Dial(path)
    SystemClock.now = lambda self: datetime.now(UTC) + timedelta(seconds=dial.get()[0])  # type: ignore[method-assign]
