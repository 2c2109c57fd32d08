"""A fingerprint of a home: while it is the same, another backup would hold nothing new.

What agents do is in the journal, so its position stands for it; what the owner does is in files, whose dates and sizes stand for them.
Looking changes nothing.
"""

import hashlib
import os

from daimon.abi.errors import DaimonError
from daimon.backup import copies
from daimon.backup.inventory import MARKS, Inventory, Scope
from daimon.journal.opening import last_position
from daimon.machine.home import Home

NOISE = ("vault.uses", "outputs", "services.json")
"""These change with what is in the journal, or say nothing that matters without it."""


def of(home: Home) -> str:
    running = hashlib.sha256(str(_position(home)).encode())
    for found in Inventory(home.path, Scope(workspaces=False)).walk():
        if found.kind == "file" and found.path != MARKS and found.path.split("/")[0] not in NOISE:
            running.update(f"{found.seen.st_mtime_ns} {found.seen.st_size} ".encode() + os.fsencode(found.path) + b"\0")
    return running.hexdigest()[:32]


def _position(home: Home) -> int:
    if not home.journal.exists():
        return 0
    try:
        with copies.snapshot(home.journal) as held:
            return last_position(held)
    except DaimonError:
        return -1  # whoever makes the backup says what is wrong
