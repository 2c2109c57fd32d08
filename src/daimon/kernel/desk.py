"""What asking people stands on: how they are asked, and what they allowed ahead of time."""

from dataclasses import dataclass

from daimon.kernel.grants import Standing
from daimon.kernel.manner import Manner


@dataclass(frozen=True, slots=True)
class Desk:
    grants: Standing
    manner: Manner = Manner()
