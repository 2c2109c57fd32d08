"""A policy, a limiter and a reader of commands that always say the same."""

from collections.abc import Sequence

from pydantic import JsonValue

from daimon.abi.ids import AgentId, PrincipalId
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

    def serves(self, principal: PrincipalId, tool: str) -> bool:
        return True


class FixedLimiter:
    def __init__(self, answer: Granted | WaitFor) -> None:
        self._answer = answer

    async def acquire(self, key: str, calls: int, per_s: float) -> Granted | WaitFor:
        return self._answer


class FixedReader:
    """For the floor: why no command may run; empty: each may; None: none can be read."""

    def __init__(self, answer: str | None = "") -> None:
        self._answer = answer

    def read(self, command: str | Sequence[str], never: Sequence[tuple[str, ...]]) -> str | None:
        return self._answer
