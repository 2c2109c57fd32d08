"""What asking people stands on: how they are asked, what they allowed ahead of time, what went out unasked."""

from dataclasses import dataclass, field
from datetime import UTC

from daimon.kernel.grants import Standing
from daimon.kernel.manner import Manner
from daimon.kernel.outflow import Outflow


@dataclass(frozen=True, slots=True)
class Desk:
    grants: Standing
    manner: Manner = Manner()
    outflow: Outflow = field(default_factory=lambda: Outflow(UTC, {}))
