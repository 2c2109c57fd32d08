"""When, where to and for how long: the settings `[backup]`, as everybody here uses them."""

from dataclasses import dataclass
from pathlib import Path

from daimon import config
from daimon.backup.inventory import BACKUPS, Scope
from daimon.backup.shelf import Keep, tag_of
from daimon.machine.home import Home

UNITS = {"h": 3_600.0, "d": 86_400.0, "w": 7 * 86_400.0}


@dataclass(frozen=True, slots=True)
class Plan:
    every_s: float | None
    """None: never."""
    to: Path
    tag: str
    """Of the home, in the names of what the schedule makes."""
    keep: Keep
    most_bytes: int
    scope: Scope


def plan_of(settings: config.Settings, home: Home) -> Plan:
    asked = settings.backup
    every = None if asked.every == config.OFF else int(asked.every[:-1]) * UNITS[asked.every[-1]]
    to = Path(asked.to).expanduser().absolute() if asked.to else home.path / BACKUPS
    keep = Keep(asked.keep_daily, asked.keep_weekly, asked.keep_monthly)
    return Plan(every, to, tag_of(home.path), keep, asked.most_mb << 20, Scope(asked.workspaces, asked.vault_key))
