"""How older stored rows become today's.

`UPGRADES[n]` turns a row of schema n into one of schema n + 1. Old rows are never rewritten on disk: they are upgraded each time
they are read, so that a rollback to the previous release still finds its own. A row from a newer release is refused.
"""

from collections.abc import Callable
from typing import Any

from daimon.abi.errors import JournalDamaged
from daimon.abi.event import SCHEMA

Row = dict[str, Any]


def _labels_of_results(row: Row) -> Row:
    """1 → 2: the labels of single fields of a tool's result are called `labels`, as everywhere else."""
    match row:
        case {"kind": "outcome", "result": result}:
            return {**row, "result": _renamed(result)}
        case {"kind": "reply", "parts": parts}:
            return {**row, "parts": [_renamed(part) if part["kind"] == "tool_result" else part for part in parts]}
        case _:
            return row


def _renamed(result: Row) -> Row:
    return {"labels" if name == "fields" else name: value for name, value in result.items()}


UPGRADES: dict[int, Callable[[Row], Row]] = {1: _labels_of_results}


def check_schema(what: str, schema: int) -> None:
    if schema > SCHEMA:
        raise JournalDamaged(f"a stored {what} has schema {schema}, this release reads up to {SCHEMA}; update Daimon and start again")
    if schema < 1:
        raise JournalDamaged(f"a stored {what} has schema {schema}, which no release ever wrote")


def upgrade(row: Row, schema: int) -> Row:
    for version in range(schema, SCHEMA):
        row = UPGRADES[version](row)
    return row
