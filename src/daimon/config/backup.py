"""`[backup]`: backups that a running gateway makes by itself."""

from typing import Annotated

from pydantic import Field

from daimon.config.branch import Branch

OFF = "off"


class Backup(Branch):
    """Backups that a running gateway makes by itself."""

    every: Annotated[str, Field(pattern=r"^(off|[1-9][0-9]{0,3}[hdw])$")] = "1d"
    """How often, such as 12h, 1d or 1w, if something happened since the last one; `off`: never."""
    to: str = ""
    """The directory that they go to, better on another disk. Left out: `backups` in the home."""
    keep_daily: Annotated[int, Field(ge=0, le=1_000)] = 7
    """The last one of each of so many days stays."""
    keep_weekly: Annotated[int, Field(ge=0, le=1_000)] = 4
    keep_monthly: Annotated[int, Field(ge=0, le=1_000)] = 3
    most_mb: Annotated[int, Field(ge=1)] = 5_000
    """So many megabytes may all of them take; the oldest go first, the newest never."""
    workspaces: bool = True
    """With what agents work on, as long as that is no more than `most_mb`."""
    vault_key: bool = True
    """With `vault.key`, if that opens the vault; else it must be kept elsewhere."""
