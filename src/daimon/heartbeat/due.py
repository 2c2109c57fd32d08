"""When an automation is due next, whatever its schedule is. Pure."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from daimon.abi.automation import Automation, Cron, Days, Every, Once
from daimon.abi.errors import BadInput
from daimon.heartbeat.cron import parse
from daimon.heartbeat.moments import next_after, resolved

SHORTEST_S = 60
"""Nothing is looked at more often than once a minute."""
MOST_DAYS = 3_660


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(f"there is no time zone {name!r}; give an IANA name such as Europe/Berlin or America/New_York") from None


def next_due(automation: Automation, after: datetime) -> datetime | None:
    """Strictly after. None: never again."""
    match automation.when:
        case Cron(text):
            return next_after(parse(text), after, zone_of(automation.timezone))
        case Every(seconds, start):
            if after < start:
                return start
            return start + timedelta(seconds=seconds * (int((after - start) // timedelta(seconds=seconds)) + 1))
        case Days() as when:
            return _by_days(when, after, zone_of(automation.timezone))
        case Once(at):
            return at if at > after else None


def _by_days(when: Days, after: datetime, zone: ZoneInfo) -> datetime:
    start, at = date.fromisoformat(when.start), time.fromisoformat(when.at)
    turns = max(0, (after.astimezone(zone).date() - start).days // when.days)
    while True:
        due = resolved(datetime.combine(start + timedelta(days=turns * when.days), at), zone)
        if due > after:
            return due
        turns += 1


def dues(automation: Automation, after: datetime, until: datetime) -> Iterator[datetime]:
    """All after the one and up to the other."""
    due = next_due(automation, after)
    while due is not None and due <= until:
        yield due
        due = next_due(automation, due)


def preview(automation: Automation, now: datetime, n: int = 10) -> tuple[datetime, ...]:
    """The next times, on the clock of its zone."""
    found: list[datetime] = []
    due = next_due(automation, now)
    while due is not None and len(found) < n:
        found.append(due.astimezone(zone_of(automation.timezone)))
        due = next_due(automation, due)
    return tuple(found)


def put_off(automation: Automation, due: datetime) -> datetime:
    """When it really runs: jitter is the same whenever it is asked for, so a restart neither doubles nor loses a tick."""
    if automation.jitter_s <= 0:
        return due
    digest = hashlib.sha256(f"{automation.id}@{due.astimezone(UTC).isoformat()}".encode()).digest()
    return due + timedelta(seconds=automation.jitter_s * int.from_bytes(digest[:8]) / 2**64)


def require_valid(automation: Automation) -> None:
    """Raises BadInput with what is wrong with its schedule."""
    zone_of(automation.timezone)
    match automation.when:
        case Cron(text):
            if not parse(text).minutes:
                raise BadInput(f"{text!r} is never due")
        case Every(seconds):
            if seconds < SHORTEST_S:
                raise BadInput(f"every {seconds} seconds is too often; once a minute is the most: try 'every minute'")
        case Days(days, start, at):
            _require_days(days, start, at)
        case Once():
            pass


def _require_days(days: int, start: str, at: str) -> None:
    try:
        date.fromisoformat(start), time.fromisoformat(at)
    except ValueError as wrong:
        raise BadInput(f"every {days} days from {start!r} at {at!r}: {wrong}; write 2026-03-02 and 06:00") from None
    if not 1 <= days <= MOST_DAYS:
        raise BadInput(f"every {days} days is none; between 1 and {MOST_DAYS} are")
