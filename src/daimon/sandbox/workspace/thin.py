"""Which checkpoints may go: all of the last day stay, one an hour of the last week, one a day of ninety days, and what is needed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

ALL, HOURLY, DAILY = timedelta(days=1), timedelta(days=7), timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Mark:
    id: str
    at: datetime
    is_needed: bool = False


def thinned(marks: Iterable[Mark], now: datetime) -> frozenset[str]:
    """Those that go. Of an hour or a day the last one stays."""
    filled: set[str] = set()
    gone: set[str] = set()
    for mark in sorted(marks, key=lambda mark: mark.at, reverse=True):
        slot = _slot(mark, now)
        if not mark.is_needed and (slot is None or slot in filled):
            gone.add(mark.id)
        elif slot is not None:
            filled.add(slot)
    return frozenset(gone)


def _slot(mark: Mark, now: datetime) -> str | None:
    """Of those in one slot one stays. None: it is too old for any."""
    age = now - mark.at
    if age <= ALL:
        return mark.id
    if age <= HOURLY:
        return mark.at.strftime("%Y-%m-%dT%H")
    return mark.at.strftime("%Y-%m-%d") if age <= DAILY else None
