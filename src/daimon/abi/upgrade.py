"""How older stored rows become today's.

`UPGRADES[n]` turns a row of schema n into one of schema n + 1. Old rows are never rewritten on disk: they are upgraded each time
they are read, so that a rollback to the previous release still finds its own. A row from a newer release is refused.
"""

from collections.abc import Callable
from typing import Any

from daimon.abi.errors import JournalDamaged
from daimon.abi.event import SCHEMA

Row = dict[str, Any]
UPGRADES: dict[int, Callable[[str, Row], Row]] = {}


def upgrade(what: str, row: Row, schema: int) -> Row:
    if schema > SCHEMA:
        raise JournalDamaged(f"a stored {what} has schema {schema}, this release reads up to {SCHEMA}; update Daimon and start again")
    for version in range(schema, SCHEMA):
        row = UPGRADES[version](what, row)
    return row
