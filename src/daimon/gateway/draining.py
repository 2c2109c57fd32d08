"""The end, step by step: each step gets some seconds for what is under way, and no step can hold up the next.

The order is given by whoever lists the steps (see `boot/life.py`): first what brings work in, then the work, then what carries results out.
What has not rested in its time is cut off later, as by a kill, and settled by the next start; so a step may fail or be late, and this is
worth a line in the log and nothing more. Only the journal's end is not waited with: `JournalFailed` leaves at once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from daimon.abi.errors import JournalFailed

GRACE_S = 1.0
"""What a step that watches its own deadline may take beyond it."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    what: str
    seconds: float
    rest: Callable[[float], Awaitable[None]]
    """Takes nothing new on, and returns when what was under way has rested, or after so many seconds."""


def longest_s(steps: tuple[Step, ...]) -> float:
    return sum(step.seconds + GRACE_S for step in steps)


async def drain(steps: tuple[Step, ...]) -> None:
    for step in steps:
        try:
            async with asyncio.timeout(step.seconds + GRACE_S):
                await step.rest(step.seconds)
        except TimeoutError:
            log.warning("%s: not at rest after %g s; the next start settles it", step.what, step.seconds)
        except JournalFailed:
            raise
        except Exception:
            log.exception("%s: could not be brought to rest; the next start settles it", step.what)
