"""A place where it is about noon: a test of days and months there sees none of them end, at whatever hour it runs."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def noon() -> ZoneInfo:
    """Its name can be set as the owner's time zone."""
    west = datetime.now(UTC).hour - 12
    return ZoneInfo(f"Etc/GMT{west:+d}")
