"""What a transaction may know of the world."""

from dataclasses import dataclass
from datetime import datetime
from itertools import count

from daimon.abi.ports import Ids


@dataclass(frozen=True, slots=True)
class Now:
    boot: str
    """This process; leases and tries of another one are void."""
    at: datetime
    monotonic: float
    ids: Ids
    positions: "count[int]"
    """The counter behind `pos`."""
