"""Who the agents are: their role, the tools that they hold, and what these add up to.

Three things together are dangerous: to read what is private, to read what strangers wrote, and to act. What of it an agent can do follows
from the manifests of the tools that it holds, never from what it says of itself. An agent that nobody wrote down is a reader.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from daimon.abi.ids import SELF, AgentId
from daimon.abi.tool import CONSEQUENTIAL, Capability, Manifest

ASSISTANT, READER = "assistant", "reader"
REACHING = CONSEQUENTIAL - {Capability.GRANTS}
"""What counts as acting here. What is set up for later (an automation, a webhook) stays in the house, and is judged then."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the owner says of an agent."""

    role: str = READER
    tools: tuple[str, ...] = ("*",)
    """Names, with * and ?."""
    may_hold_all: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    id: AgentId
    role: str
    may_hold_all: bool = False
    description: str = ""
    tools: frozenset[str] = frozenset()
    private: bool = False
    outside: bool = False
    acts: bool = False

    @property
    def is_held_back(self) -> bool:
        """All three, and nobody said that it may."""
        return self.private and self.outside and self.acts and not self.may_hold_all


class Agents:
    def __init__(self, terms: Mapping[AgentId, Terms], manifests: Iterable[Manifest]) -> None:
        self._terms = {SELF: Terms(ASSISTANT), **terms}
        self._manifests = tuple(manifests)
        self._known = {id_: self._made(id_) for id_ in self._terms}

    def of(self, agent: AgentId) -> Agent:
        return self._known.get(agent) or self._made(agent)

    def all(self) -> tuple[Agent, ...]:
        return tuple(self._known.values())

    def _made(self, id_: AgentId) -> Agent:
        terms = self._terms.get(id_, Terms())
        held = [manifest for manifest in self._manifests if any(fnmatchcase(manifest.name, pattern) for pattern in terms.tools)]
        return Agent(
            id_, terms.role, terms.may_hold_all, terms.description, frozenset(manifest.name for manifest in held),
            private=any(Capability.READS_PRIVATE in manifest.capabilities for manifest in held),
            outside=any(Capability.READS_OUTSIDE in manifest.capabilities for manifest in held),
            acts=any(not REACHING.isdisjoint(manifest.capabilities) for manifest in held),
        )  # fmt: skip
