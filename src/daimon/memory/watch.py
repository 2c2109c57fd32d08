"""Notes which rows of a table were touched over one connection, by temporary triggers, so that nobody has to be told by whoever writes.

What is noted is a hint to look again: the transaction may still be rolled back. Triggers live as long as the connection does.
"""

from collections.abc import Callable, Sequence
from typing import Any

import apsw


def watch(connection: apsw.Connection, table: str, key: Sequence[str], touched: Callable[..., None]) -> None:
    """`touched` gets the key of each row that is added, changed or deleted, in the thread that does it."""

    def note(*values: Any) -> None:
        touched(*values)

    name = f"{table}_touched"
    connection.create_scalar_function(name, note, len(key))
    for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
        values = ", ".join(f"{row}.{column}" for column in key)
        connection.execute(
            f"CREATE TEMP TRIGGER IF NOT EXISTS {name}_{event} AFTER {event} ON main.{table} BEGIN SELECT {name}({values}); END"
        )
