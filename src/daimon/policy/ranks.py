"""What a rank permits at all, before any rule is asked.

A guest is given the tools that the owner named for guests and no others: for a guest the rest does not exist, and nobody is asked about it.
Whoever is trusted is given what the agent holds; the rules then ask the owner, since the turn does not serve them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from daimon.abi.ids import PrincipalId
from daimon.abi.people import Rank


def _trusted(principal: PrincipalId) -> Rank:
    return Rank.TRUSTED


@dataclass(frozen=True, slots=True)
class Ranks:
    of: Callable[[PrincipalId], Rank] = _trusted
    guest_tools: frozenset[str] = frozenset()

    def serves(self, principal: PrincipalId, tool: str) -> bool:
        return self.of(principal) is not Rank.GUEST or tool in self.guest_tools
