"""Copies of a home: made of one that may be running, put back into one that nobody runs. Both block."""

from datetime import datetime
from pathlib import Path

from daimon.backup import making
from daimon.backup import restore as restoring
from daimon.backup.inventory import Scope
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home


def backup(home: Home, to: Path, scope: Scope) -> making.Made:
    return making.make(home, to, SystemClock(), scope)


def restore(file: Path, home: Home, *, may_replace: bool = False) -> restoring.Restored:
    return restoring.restore(file, home, SystemClock(), may_replace=may_replace)


def now() -> datetime:
    return SystemClock().now()
