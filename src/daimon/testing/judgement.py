"""A policy and a limiter that always say the same."""

from pydantic import JsonValue

from daimon.abi.ids import AgentId
from daimon.abi.judgement import Gate, Situation
from daimon.abi.ports import Granted, WaitFor
from daimon.abi.tool import Manifest


class FixedPolicy:
    """Every call gets this verdict; what was asked is kept."""

    version = "fixed"

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.asked: list[tuple[Manifest, dict[str, JsonValue], Situation]] = []

    def judge(self, manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Gate:
        self.asked.append((manifest, arguments, situation))
        return self._gate

    def holds(self, agent: AgentId, tool: str) -> bool:
        return True


class FixedLimiter:
    def __init__(self, answer: Granted | WaitFor) -> None:
        self._answer = answer

    async def acquire(self, key: str, calls: int, per_s: float) -> Granted | WaitFor:
        return self._answer
