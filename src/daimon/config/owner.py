"""`[owner]`: whose agent it is, and what the time is there."""

import os
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator

from daimon.config.branch import Branch


def _zone(name: str) -> str:
    if name and not _is_zone(name):
        raise ValueError(f"{name!r} is not a time zone such as Europe/Berlin")
    return name


class Owner(Branch):
    name: str = ""
    timezone: Annotated[str, AfterValidator(_zone)] = ""
    """An IANA name such as Europe/Berlin; empty means the machine's own."""


def system_zone() -> str:
    """The machine's own zone, as an IANA name."""
    link = os.path.realpath("/etc/localtime")
    name = link.partition("/zoneinfo/")[2]
    return name if _is_zone(name) else "UTC"


def _is_zone(name: str) -> bool:
    """Asked of this one name: to list all zones opens six hundred files, at every start and more than once."""
    try:
        return bool(name) and ZoneInfo(name).key == name
    except (LookupError, ValueError, OSError):  # unknown; no name, or another file; a directory
        return False
