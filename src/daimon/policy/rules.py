"""The rules: policies in Cedar, from the package, from the owner's files and from grants, and what they say of a call.

    act permitted            allow
    else ask permitted       ask
    else                     deny

Nothing is permitted that no policy permits, and one forbid outweighs every permit. A policy that fails while it is evaluated denies the
action that it was evaluated for. Texts are handed in and read at the first decision, or at `check`, whichever comes first: the engine takes
some megabytes, and most starts end before a tool is called.

A decision follows from policies, entities and context alone, so it is kept: each call is judged twice, before it is written down and before
it runs. Only where a policy looks at the time of day is it made anew each time.
"""

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from daimon.abi.codec import fingerprint
from daimon.abi.errors import Misconfigured
from daimon.abi.judgement import Grant, Situation
from daimon.abi.tool import Manifest
from daimon.policy.agents import Agent
from daimon.policy.facts import Facts
from daimon.policy.grants import PREFIX, as_sources
from daimon.policy.moments import written
from daimon.policy.source import Source

if TYPE_CHECKING:
    from cedarpy import Entities

    from daimon.policy.cedar import Engine, Statement

MOST_KEPT = 128
"""Sets of grants that are kept ready."""
MOST_ENTITIES = 1_024
MOST_RULINGS = 1_024


@dataclass(frozen=True, slots=True)
class Ruling:
    verdict: Literal["allow", "ask", "deny"]
    policies: tuple[str, ...]
    """Ids of those that decided. For ask: what permits to ask, after what forbids to act."""
    version: str
    fault: str = ""
    """What failed while a policy was evaluated."""


class Rules:
    def __init__(self, schema: str, sources: Sequence[Source]) -> None:
        self._schema = schema
        self._sources = tuple(sources)
        self._engines: OrderedDict[tuple[Grant, ...], Engine] = OrderedDict()
        self._entities: OrderedDict[tuple[object, ...], Entities] = OrderedDict()
        self._rulings: OrderedDict[tuple[object, ...], Ruling] = OrderedDict()
        self.version = fingerprint(list[str], [schema, *(source.text for source in self._sources)])[:12]

    @cached_property
    def statements(self) -> "tuple[Statement, ...]":
        """Raises Misconfigured."""
        from daimon.policy import cedar

        return tuple(statement for source in self._sources for statement in cedar.read(source))

    def check(self) -> None:
        """Raises Misconfigured with the place of each fault; else these rules may be put in force."""
        from daimon.policy import cedar

        cedar.check(self.statements, self._schema)
        if taken := [statement for statement in self.statements if statement.id.startswith(PREFIX)]:
            raise Misconfigured(f"{taken[0].place}: an id may not begin with {PREFIX!r}, which is kept for grants; choose another")

    def says(self, id_: str, grants: Sequence[Grant] = ()) -> str:
        """What a policy means, in its own words; empty if it is not known here."""
        from daimon.policy import cedar

        granted = (statement for source in as_sources(grants) for statement in cedar.read(source))
        return next((statement.says for statement in (*self.statements, *granted) if statement.id == id_), "")

    def decide(self, agent: Agent, manifest: Manifest, situation: Situation, facts: Facts) -> Ruling:
        # Only grants that can speak of this call: an engine with all of them would look at each.
        grants = tuple(grant for grant in situation.grants if grant.agent == agent.id and grant.tool in ("", manifest.name))
        engine, context = self._engine(grants), _context(situation, facts)
        if not engine.is_timeless:
            return self._decided(engine, agent, manifest, context)
        del context["now"]
        key = (grants, *_kind(agent, manifest), json.dumps(context))
        found = self._rulings.get(key)
        if found is None:
            found = self._rulings[key] = self._decided(engine, agent, manifest, _context(situation, facts))
            if len(self._rulings) > MOST_RULINGS:
                self._rulings.popitem(last=False)
        return found

    def _decided(self, engine: "Engine", agent: Agent, manifest: Manifest, about: dict[str, JsonValue]) -> Ruling:
        context, entities = json.dumps(about), self._world(agent, manifest)
        act = engine.answer("act", agent.id, manifest.name, context, entities)
        if act.is_permitted:
            return Ruling("allow", act.policies, self.version)
        ask = engine.answer("ask", agent.id, manifest.name, context, entities)
        if ask.is_permitted:
            return Ruling("ask", (*act.policies, *ask.policies), self.version, act.fault)
        return Ruling("deny", tuple(dict.fromkeys((*act.policies, *ask.policies))), self.version, act.fault or ask.fault)

    def _engine(self, grants: tuple[Grant, ...]) -> "Engine":
        from daimon.policy import cedar

        engine = self._engines.get(grants)
        if engine is None:
            granted = [statement for source in as_sources(grants) for statement in cedar.read(source)]
            engine = self._engines[grants] = cedar.Engine([*self.statements, *granted])
            if len(self._engines) > MOST_KEPT:
                self._engines.popitem(last=False)
        return engine

    def _world(self, agent: Agent, manifest: Manifest) -> "Entities":
        from daimon.policy import cedar

        key = _kind(agent, manifest)
        found = self._entities.get(key)
        if found is None:
            found = self._entities[key] = cedar.entities(_described(agent, manifest))
            if len(self._entities) > MOST_ENTITIES:
                self._entities.popitem(last=False)
        return found


def _kind(agent: Agent, manifest: Manifest) -> tuple[object, ...]:
    """All that the engine gets to know of the two."""
    return agent, manifest.name, manifest.capabilities, manifest.effect


def _described(agent: Agent, manifest: Manifest) -> list[JsonValue]:
    holds: dict[str, JsonValue] = {
        "private": agent.private,
        "outside": agent.outside,
        "acts": agent.acts,
        "may_hold_all": agent.may_hold_all,
    }
    does: dict[str, JsonValue] = {
        "capabilities": [capability.value for capability in manifest.capabilities],
        "consequential": manifest.is_consequential,
        "effect": manifest.effect.value,
    }
    role: JsonValue = {"type": "Role", "id": agent.role}
    return [
        {"uid": role, "attrs": {}, "parents": []},
        {"uid": {"type": "Agent", "id": agent.id}, "attrs": holds, "parents": [role]},
        {"uid": {"type": "Tool", "id": manifest.name}, "attrs": does, "parents": []},
    ]


def _context(situation: Situation, facts: Facts) -> dict[str, JsonValue]:
    call = situation.call
    authors = {origin.author.value for origin in call.label.origins}
    return {
        "basis": facts.basis,
        "on_behalf": call.principal,
        "is_clean": situation.is_clean,
        "authors": [*sorted(authors)],
        "destinations": [*facts.destinations],
        "targets": [*facts.targets],
        "drawn": [*facts.drawn],
        "is_active": facts.is_active,
        "job": situation.job,
        "now": {"__extn": {"fn": "datetime", "arg": written(situation.now)}},
    }
