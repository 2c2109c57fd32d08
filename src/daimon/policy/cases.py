"""Calls that did not happen, to ask the rules about: tests of policies, and `daimon policy explain --tool …`.

A test file is TOML, a list of `[[case]]`:

    [[case]]
    name = "a mail to whom the owner named"
    role = "assistant"
    capabilities = ["sends"]
    basis = "words"
    expect = "allow"

Whatever is left out is as it is most often: the built-in agent, the owner's own words, no destinations, now. `agent` takes role and
tools from the settings; `role` and `holds` make one up. `tool` takes the capabilities from the installed tool; `capabilities` make one up.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from daimon.abi.errors import BadInput
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, AgentId, Conversation, Key, PrincipalId
from daimon.abi.judgement import Situation
from daimon.abi.label import Author, Label, Origin
from daimon.abi.plain import Moment
from daimon.abi.tool import Call, Capability, Effect, Manifest
from daimon.policy.agents import Agent, Agents
from daimon.policy.facts import Basis, Facts
from daimon.policy.rules import Rules, Ruling
from daimon.policy.source import Source

Verdict = Literal["allow", "ask", "deny"]
MADE_UP = "some_tool"


class Case(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    agent: str = SELF
    role: str | None = None
    holds: tuple[Literal["private", "outside", "acts"], ...] | None = None
    may_hold_all: bool | None = None
    tool: str = MADE_UP
    capabilities: tuple[Capability, ...] | None = None
    basis: Basis | None = None
    """Left out: `none`, and `harmless` for a tool without consequences."""
    authors: tuple[Author, ...] = (Author.OWNER,)
    on_behalf: str = OWNER
    destinations: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    is_active: bool = False
    job: str = ""
    now: Moment | None = None


class Expectation(Case):
    expect: Verdict
    policy: str = ""
    """This one must be among those that decide."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    case: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    place: str
    name: str
    expect: Verdict
    ruling: Ruling
    is_met: bool


def read(source: Source) -> tuple[Expectation, ...]:
    """Raises BadInput."""
    try:
        return _File.model_validate(tomllib.loads(source.text)).case
    except tomllib.TOMLDecodeError as bad:
        raise BadInput(f"{source.name} is not valid TOML: {bad}") from None
    except ValidationError as bad:
        first = bad.errors(include_url=False)[0]
        raise BadInput(f"{source.name}: {_wrong(first['loc'], first['type'], first['msg'])}, found {first['input']!r:.80}") from None


def _wrong(place: tuple[int | str, ...], type_: str, told: str) -> str:
    match place:
        case ("case", int(n), *rest):
            where, key, known = f"case {n + 1}: ", ".".join(map(str, rest)), tuple(Expectation.model_fields)
        case _:
            where, key, known = "", ".".join(map(str, place)), ("[[case]]",)
    if type_ == "extra_forbidden":
        return f"{where}unknown key {key!r}; known are {', '.join(known)}"
    return f"{where}{key}: {told}"


@dataclass(frozen=True, slots=True)
class World:
    """What a case is put into."""

    rules: Rules
    agents: Agents
    manifests: Sequence[Manifest]
    now: datetime

    def run(self, source: Source) -> Iterable[Outcome]:
        for n, case in enumerate(read(source), 1):
            try:
                ruling = self.decide(case)
            except BadInput as bad:
                raise BadInput(f"{source.name}: case {n}: {bad}") from None
            is_met = ruling.verdict == case.expect and (not case.policy or case.policy in ruling.policies)
            yield Outcome(f"{source.name}: case {n}", case.name, case.expect, ruling, is_met)

    def decide(self, case: Case) -> Ruling:
        agent, manifest = self._agent(case), self._manifest(case)
        is_weighed = manifest.is_consequential or Capability.PLANS in manifest.capabilities or bool(case.destinations)
        basis = case.basis or ("none" if is_weighed else "harmless")
        facts = Facts(
            basis=basis, destinations=case.destinations, targets=case.targets, drawn=case.drawn, is_active=case.is_active
        )  # fmt: skip
        return self.rules.decide(agent, manifest, self._situation(case), facts)

    def _agent(self, case: Case) -> Agent:
        agent = self.agents.of(AgentId(case.agent))
        if case.role is not None:
            agent = replace(agent, role=case.role)
        if case.may_hold_all is not None:
            agent = replace(agent, may_hold_all=case.may_hold_all)
        if case.holds is None:
            return agent
        return replace(agent, private="private" in case.holds, outside="outside" in case.holds, acts="acts" in case.holds)

    def _manifest(self, case: Case) -> Manifest:
        known = next((manifest for manifest in self.manifests if manifest.name == case.tool), None)
        if case.capabilities is not None:
            made = known or Manifest(name=case.tool, description="", parameters={}, effect=Effect.UNSAFE)
            return replace(made, capabilities=case.capabilities)
        if known is None:
            names = ", ".join(manifest.name for manifest in self.manifests)
            raise BadInput(f"there is no tool {case.tool!r}; say what it does with capabilities, or take one of {names}")
        return known

    def _situation(self, case: Case) -> Situation:
        label = Label.of(*(Origin(author, "case") for author in case.authors))
        agent, here = AgentId(case.agent), Conversation(HOME_SPACE, "main")
        call = Call(Key("case:0"), HOME_SPACE, PrincipalId(case.on_behalf), agent, here, None, case.now or self.now, label)
        return Situation(call, job=case.job)
