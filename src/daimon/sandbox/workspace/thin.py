"""Which checkpoints may go: all of the last day stay, one an hour of the last week, one a day of ninety days, and what is needed.

Time in which nothing was done counts for two days at most. So neither a long rest nor a clock that jumps by months makes old what was
done just before; it is old when much was done since.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

ALL, HOURLY, DAILY = timedelta(days=1), timedelta(days=7), timedelta(days=90)
REST = timedelta(days=2)
"""As which a longer time between two checkpoints counts."""
KEPT = 20
"""So many of the newest of a workspace stay, however much they take."""


@dataclass(frozen=True, slots=True)
class Mark:
    id: str
    at: datetime
    is_needed: bool = False
    size: int = 0
    """What may be free when it has gone."""


def thinned(marks: Iterable[Mark], now: datetime) -> frozenset[str]:
    """Those that go. Of an hour or a day the last one stays."""
    filled: set[str] = set()
    gone: set[str] = set()
    last, age = now, timedelta()
    for mark in sorted(marks, key=lambda mark: mark.at, reverse=True):
        age += min(max(last - mark.at, timedelta()), REST)
        last = mark.at
        slot = _slot(mark, age)
        if not mark.is_needed and (slot is None or slot in filled):
            gone.add(mark.id)
        elif slot is not None:
            filled.add(slot)
    return frozenset(gone)


def outgrown(workspaces: Iterable[Iterable[Mark]], excess: int) -> frozenset[str]:
    """Those that go for want of room: the oldest of all, until so many bytes may be free. None of the newest of a workspace."""
    old = [mark for marks in workspaces for mark in sorted(marks, key=lambda mark: mark.at)[:-KEPT]]
    gone: set[str] = set()
    for mark in sorted(old, key=lambda mark: mark.at):
        if excess <= 0:
            break
        if not mark.is_needed:
            gone.add(mark.id)
            excess -= mark.size
    return frozenset(gone)


def _slot(mark: Mark, age: timedelta) -> str | None:
    """Of those in one slot one stays. None: it is too old for any."""
    if age <= ALL:
        return mark.id
    if age <= HOURLY:
        return mark.at.strftime("%Y-%m-%dT%H")
    return mark.at.strftime("%Y-%m-%d") if age <= DAILY else None
