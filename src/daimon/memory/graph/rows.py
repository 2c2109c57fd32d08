"""Nodes and edges as rows. What other stores call when something is related, taken back or deleted."""

from collections.abc import Collection
from datetime import datetime

import apsw

from daimon.abi.memory import Relate, Unrelate
from daimon.memory.receipt import Receipt


def relate(connection: apsw.Connection, receipt: Receipt, operation: Relate) -> None:
    return


def unrelate(connection: apsw.Connection, receipt: Receipt, operation: Unrelate) -> None:
    return


def delete_from(connection: apsw.Connection, sources: Collection[str], turn: str = "") -> None:
    return


def delete_source(connection: apsw.Connection, source: str) -> None:
    return


def rewind(connection: apsw.Connection, receipt: Receipt, to: datetime) -> None:
    return
