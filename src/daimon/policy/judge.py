"""The gate's judge: what a call stands on (`flow`), what follows from it (`rules`), and the reason in words.

A tool that the agent does not hold is not judged: for this agent it does not exist. Nor does one exist for whom the turn serves, where
their rank does not permit it (`ranks.py`).
"""

from pydantic import JsonValue

from daimon.abi.ids import AgentId, PrincipalId
from daimon.abi.judgement import Gate, Situation
from daimon.abi.people import serves_owner
from daimon.abi.tool import CONSEQUENTIAL, Manifest
from daimon.policy.agents import Agents
from daimon.policy.facts import Facts
from daimon.policy.flow import weigh
from daimon.policy.grants import PREFIX
from daimon.policy.ranks import Ranks
from daimon.policy.rules import Rules, Ruling

NOT_HELD, OFF_PLAN, FORBIDDEN, NOT_PERMITTED = "not_held", "off_plan", "forbidden", "not_permitted"


class Judge:
    def __init__(self, rules: Rules, agents: Agents, ranks: Ranks = Ranks()) -> None:  # noqa: B008 - frozen
        self.rules = rules
        self.agents = agents
        self.ranks = ranks

    @property
    def version(self) -> str:
        return self.rules.version

    def change(self, rules: Rules, agents: Agents) -> None:
        """From here on others are in force."""
        self.rules, self.agents = rules, agents

    def holds(self, agent: AgentId, tool: str) -> bool:
        return tool in self.agents.of(agent).tools

    def serves(self, principal: PrincipalId, tool: str) -> bool:
        return self.ranks.serves(principal, tool)

    def judge(self, manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Gate:
        agent, version = self.agents.of(situation.call.agent), self.version
        if manifest.name not in agent.tools:
            return Gate("deny", f"{manifest.name} is not one of your tools (agents.{agent.id}.tools)", NOT_HELD, version)
        if not self.serves(situation.call.principal, manifest.name):
            return Gate("deny", f"{manifest.name} is not for guests (people.guest_tools)", NOT_HELD, version)
        facts = weigh(manifest, arguments, situation)
        ruling = self.rules.decide(agent, manifest, situation, facts)
        if ruling.verdict == "allow":
            return Gate("allow", "", "", version, _by(ruling, facts), facts.provenance, ruling.policies, facts.carries)
        if ruling.verdict == "ask":
            return Gate(
                "ask", self._why_asked(manifest, ruling, facts, situation), "", version, facts.by, facts.provenance, ruling.policies
            )
        code, reason = self._why_not(manifest, ruling, facts)
        return Gate("deny", reason, code, version, facts.by, facts.provenance, ruling.policies)

    def _why_asked(self, manifest: Manifest, ruling: Ruling, facts: Facts, situation: Situation) -> str:
        whom = situation.call.principal
        does = ", ".join(sorted(c.value for c in CONSEQUENTIAL.intersection(manifest.capabilities)))
        first = f"It {does}." if does else ""
        fault = f"A policy failed: {ruling.fault}." if ruling.fault else ""
        shared = "" if serves_owner(whom) else f"It is for {whom}, who may then be told what comes of it."
        return " ".join(part for part in (first, facts.reason or self._said(ruling), shared, fault) if part)

    def _why_not(self, manifest: Manifest, ruling: Ruling, facts: Facts) -> tuple[str, str]:
        if ruling.policies:
            return FORBIDDEN, f"the owner's policy forbids it ({', '.join(ruling.policies)}): {self._said(ruling)}".rstrip(" :")
        if ruling.fault:
            return NOT_PERMITTED, f"a policy failed while it looked at {manifest.name}, so nothing is permitted: {ruling.fault}"
        if facts.basis == "off_plan":
            return OFF_PLAN, facts.reason or f"there is a plan, and this call of {manifest.name} is not in it"
        return NOT_PERMITTED, " ".join(part for part in (f"no policy permits to call {manifest.name}.", facts.reason) if part)

    def _said(self, ruling: Ruling) -> str:
        return next((says for id_ in ruling.policies if (says := self.rules.says(id_))), "")


def _by(ruling: Ruling, facts: Facts) -> str:
    """A grant, if nothing else permitted it."""
    if all(id_.startswith(PREFIX) for id_ in ruling.policies):
        return ruling.policies[0]
    return facts.by or f"policy:{next(id_ for id_ in ruling.policies if not id_.startswith(PREFIX))}"
