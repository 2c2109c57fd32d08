"""How people are asked: for how long, at which hours, and whether there is a moment for second thoughts.

Pure. Hours are those of the owner's own time zone, by the wall clock: quiet hours from 22:00 to 07:00 take eight or ten hours in the nights
in which the clocks are changed.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

HOURS = re.compile(r"(?P<begin>\d{1,2}:\d{2})\s*[-–]\s*(?P<end>\d{1,2}:\d{2})", re.ASCII)
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours in which nobody is disturbed, from `begin` up to `end`; over midnight if it ends before it begins."""

    begin: time
    end: time

    def holds(self, now: datetime, zone: tzinfo) -> bool:
        clock = now.astimezone(zone).time()
        if self.begin < self.end:
            return self.begin <= clock < self.end
        return clock >= self.begin or clock < self.end

    def over_at(self, now: datetime, zone: tzinfo) -> datetime:
        """When these quiet hours end. Only asked while they hold."""
        local = now.astimezone(zone)
        day = local.date() if local.time() < self.end else local.date() + timedelta(days=1)
        first, second = (datetime.combine(day, self.end.replace(fold=fold), zone).astimezone(UTC) for fold in (0, 1))
        over = first if first > now else second  # an hour that comes twice ends twice
        while not self.holds(over - MINUTE, zone):  # an hour that is left out ends where it would have begun
            over -= MINUTE
        return over


@dataclass(frozen=True, slots=True)
class Manner:
    zone: tzinfo = UTC
    timeout: timedelta = timedelta(hours=72)
    """After it a question about permission counts as answered with no."""
    quiet: Quiet | None = None
    undo: timedelta = timedelta()
    """So long an allowed call waits for a `stop` before it runs; nothing: it does not wait."""

    def silent_until(self, now: datetime) -> datetime | None:
        """None: people may be disturbed now."""
        return self.quiet.over_at(now, self.zone) if self.quiet is not None and self.quiet.holds(now, self.zone) else None


def quiet_hours(text: str) -> Quiet | None:
    """`22:00-07:00`; empty: none. Raises ValueError."""
    if not text.strip():
        return None
    found = HOURS.fullmatch(text.strip())
    try:
        begin, end = (_time(found[name]) for name in ("begin", "end")) if found else (None, None)
    except ValueError:
        begin = end = None
    if begin is None or end is None:
        raise ValueError(f"{text!r} are no hours such as 22:00-07:00")
    if begin == end:
        raise ValueError(f"{text!r} begins and ends at the same time; leave it empty for no quiet hours")
    return Quiet(begin, end)


def _time(text: str) -> time:
    hour, minute = text.split(":")
    return time(int(hour), int(minute))
