"""A moment as people type it: `2026-11-15`, `2026-11-15 09:30`, with a zone or in the owner's, `today`, or so long ago: `2h`."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from daimon.abi.errors import BadInput

_AGO = re.compile(r"([1-9]\d{0,4})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d")
FORMS = "2026-11-15, 2026-11-15T09:30 (with +01:00 or Z after it where it is not your own zone), `today`, `yesterday` or `2h` (m, h, d, w)"


def read(text: str, option: str, now: datetime, zone: ZoneInfo, *, is_end: bool = False) -> datetime:
    """A day is its first moment, or with `is_end` its last. Raises BadInput."""
    text = text.strip()
    today = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "yesterday"):
        return _of_day(today - timedelta(days=text == "yesterday"), is_end)
    try:
        if ago := _AGO.fullmatch(text):
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        at = datetime.fromisoformat(text)
        at = at if at.tzinfo else at.replace(tzinfo=zone)
        at.utctimetuple()  # the first and the last day of all have no moment in every zone
        return _of_day(at, is_end) if _DAY.fullmatch(text) else at
    except (ValueError, OverflowError):
        raise BadInput(f"{option} {text[:40]!r} is no time; write it as {FORMS}") from None


def _of_day(first: datetime, is_end: bool) -> datetime:
    return first + timedelta(days=1) - timedelta(microseconds=1) if is_end else first
