"""A call to judge, made of what a test says of it."""

from typing import Any

from daimon.abi.event import Address
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, AgentId, Conversation, Key, PrincipalId
from daimon.abi.judgement import Grant, Situation
from daimon.abi.label import Author, Label, Origin, owned
from daimon.abi.tool import Call, Capability, Effect, Manifest
from daimon.law import rules_of
from daimon.policy.agents import Agents, Terms
from daimon.policy.judge import Judge
from daimon.testing.clock import START

MINE = owned("chat")
STRANGE = Label.of(Origin(Author.OWNER, "chat"), Origin(Author.STRANGER, "web:example.org"))
SHIPPED = rules_of({})


def tool(*capabilities: Capability, name: str = "tool", effect: Effect = Effect.PURE) -> Manifest:
    return Manifest(name=name, description="does", parameters={}, effect=effect, capabilities=capabilities)


def situation(
    label: Label = MINE, agent: AgentId = SELF, principal: PrincipalId = OWNER, grants: tuple[Grant, ...] = (), job: str = ""
) -> Situation:
    here = Conversation(HOME_SPACE, "main")
    return Situation(Call(Key("t1:0"), HOME_SPACE, principal, agent, here, Address("local", "main"), START, label), grants=grants, job=job)


def judge(*tools: Manifest, own: str = "", **terms: Any) -> Judge:
    rules = rules_of({"own.cedar": own}) if own else SHIPPED
    rules.check()
    agents = {SELF: Terms(**{"role": "assistant", **terms})}
    return Judge(rules, Agents(agents, tools))
