"""A policy and a limiter that always say the same."""

from daimon.abi.ports import Granted, WaitFor
from daimon.abi.step import Gate
from daimon.abi.tool import Call, Manifest


class FixedPolicy:
    """Every call gets this verdict; what was asked is kept."""

    version = "fixed"

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.asked: list[tuple[Manifest, dict[str, object], Call]] = []

    def judge(self, manifest: Manifest, arguments: dict[str, object], call: Call) -> Gate:
        self.asked.append((manifest, arguments, call))
        return self._gate


class FixedLimiter:
    def __init__(self, answer: Granted | WaitFor) -> None:
        self._answer = answer

    async def acquire(self, key: str, calls: int, per_s: float) -> Granted | WaitFor:
        return self._answer
