"""Which home is meant. Apart from the settings, so that a command that only asks a running gateway need not load those."""

import os
from pathlib import Path

from daimon.machine.home import Home as Home


def home_at(given: Path | None) -> Home:
    return Home((given or Path(os.environ.get("DAIMON_HOME") or Path.home() / ".daimon")).expanduser().absolute())
