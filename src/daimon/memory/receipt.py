"""Where a row comes from: the event, step or amendment that it was made of. Every row of every store has one."""

from dataclasses import dataclass
from datetime import datetime

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import Label


@dataclass(frozen=True, slots=True)
class Receipt:
    space: SpaceId
    principal: PrincipalId
    source: str
    """An event, a step (`turn:number`) or an amendment."""
    turn: str
    """The turn that it belongs to; empty: none."""
    label: Label
    at: datetime
