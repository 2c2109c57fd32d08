"""Which ticks are due now, which of them run, and which were missed. Pure.

Everything follows from two moments: up to which the schedule is on record, and now. So a restart, a machine that slept and a clock that
was set forward are one case (time in which nobody ran), and a clock that was set back is none: nothing is due again.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from daimon.abi.automation import Kept
from daimon.heartbeat.due import dues, next_due, put_off

GRACE = timedelta(minutes=2)
"""Later than this a tick was missed."""
MOST = 100
"""So many are caught up, or recorded one by one; what lies before is one record."""
MOST_STEPS = 20_000
"""A schedule is followed so far at most; after years without anybody it begins anew near the end."""


@dataclass(frozen=True, slots=True)
class Plan:
    missed: tuple[datetime, ...] = ()
    runs: tuple[datetime, ...] = ()
    left_out: str = ""
    """Says of the first missed one what else it stands for."""

    @property
    def is_empty(self) -> bool:
        return not self.missed and not self.runs


def reached(kept: Kept) -> datetime | None:
    known = [at for at in (kept.reached, kept.since) if at is not None]
    return max(known, default=None)


def plan(kept: Kept, now: datetime) -> Plan:
    start, automation = reached(kept), kept.automation
    if start is None:
        return Plan()
    pending, before = _pending(kept, start, now)
    if not pending:
        return Plan()
    is_on_time = now - put_off(automation, pending[-1]) <= GRACE
    left_out = f"and {before}{'+' if before >= MOST_STEPS else ''} before it since {start.isoformat(timespec='seconds')}" if before else ""
    # One look sees all that happened meanwhile, so with a watch there is nothing to catch up one by one.
    if automation.catch_up == "all" and automation.watch is None:
        return Plan(pending[:1] if before else (), pending[1:] if before else pending, left_out)
    if automation.catch_up == "skip" and not is_on_time:
        return Plan(pending, (), left_out)
    return Plan(pending[:-1], pending[-1:], left_out)


def wakes_at(kept: Kept) -> datetime | None:
    """When something is to be done next."""
    start = reached(kept)
    due = None if start is None else next_due(kept.automation, start)
    return None if due is None else put_off(kept.automation, due)


def _pending(kept: Kept, start: datetime, now: datetime) -> tuple[tuple[datetime, ...], int]:
    """The last ones whose moment came, and how many lie before them."""
    found: deque[datetime] = deque(maxlen=MOST + 1)
    count = 0
    for due in _come(kept, start, now):
        found.append(due)
        count += 1
        if count == MOST_STEPS:
            found.clear()
            found.extend(_come(kept, max(due, now - timedelta(days=1)), now))
            break
    return tuple(found), max(0, count - len(found)) if count < MOST_STEPS else MOST_STEPS


def _come(kept: Kept, start: datetime, now: datetime) -> Iterator[datetime]:
    """In their order: one that is put off for longer than its interval holds the next ones back, or it would never be recorded."""
    return takewhile(lambda due: put_off(kept.automation, due) <= now, dues(kept.automation, start, now))
