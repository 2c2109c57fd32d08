"""Policies, for the page: what is in force in words, the owner's files, and what would become of a call.

A text is put beside the other files and all are checked together, as at a reload, before it is written; so what is on disk is never worse
than what was there. The floor is not among the files: nothing here reaches it.
"""

import asyncio
import difflib
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pydantic import ValidationError

from daimon import config, law, settings_file
from daimon.abi.errors import BadInput, Misconfigured, NotFound, Outdated
from daimon.abi.tool import Capability, Manifest
from daimon.gateway.room import settings_policies as shown
from daimon.gateway.room.settings_changed import Changed
from daimon.gateway.room.settings_policies import AgentWish, Draft, Supposed, WrittenPolicy
from daimon.law import Law, Texts
from daimon.policy.agents import Agent
from daimon.policy.cases import Case, Outcome, World
from daimon.policy.facts import Basis
from daimon.policy.rules import Rules
from daimon.policy.source import Source
from daimon.steward.estate import Estate

if TYPE_CHECKING:
    from daimon.policy.cedar import Statement

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}\.cedar")
AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
TOOL = re.compile(r'\bTool::"([^"\\]*)"')


@dataclass(frozen=True, slots=True)
class Court:
    """Judging as it runs."""

    law: Law
    manifests: Callable[[], tuple[Manifest, ...]]
    settings: Callable[[], config.Settings]
    """In force."""
    now: Callable[[], datetime]


class HomePolicies:
    def __init__(self, estate: Estate, court: Court) -> None:
        self._estate, self._court = estate, court

    async def view(self) -> shown.PoliciesView:
        return await asyncio.to_thread(self._view)

    def _view(self) -> shown.PoliciesView:
        rules, settings, manifests = self._court.law.rules, self._court.settings(), self._court.manifests()
        files = tuple(shown.PolicyFile(Path(path).name, text[: shown.MOST_TEXT], _version(text)) for path, text in self._texts().items())
        tools = tuple(shown.ToolRow(each.name, tuple(sorted(each.capabilities))) for each in sorted(manifests, key=lambda m: m.name))
        return shown.PoliciesView(
            rules.version, self._estate.version, self._court.law.warnings, tuple(map(_rule, rules.statements)), files,
            str(self._estate.home.policies), tuple(_agent(each, settings) for each in law.agents_of(settings, manifests).all()), tools,
            tuple(Capability), get_args(Basis), settings.floor.never,
        )  # fmt: skip

    def _texts(self) -> Texts:
        return law.texts_in(self._estate.home)

    def _with(self, draft: Draft) -> Rules:
        """All rules, with this text in its place. Raises BadInput, Misconfigured."""
        rules = law.rules_of({**self._texts(), self._path(draft.name): draft.text})
        rules.check()
        return rules

    def _path(self, name: str) -> str:
        if not NAME.fullmatch(name):
            raise BadInput(f"{name[:80]!r} cannot be the name of a policy file; use small letters, digits and '-', and end with .cedar")
        return str(self._estate.home.policies / name)

    async def check(self, draft: Draft) -> shown.CheckedText:
        return await asyncio.to_thread(self._check, draft)

    def _check(self, draft: Draft) -> shown.CheckedText:
        path = self._path(draft.name)
        try:
            rules = self._with(draft)
        except Misconfigured as bad:
            return shown.CheckedText(False, tuple(self._near(str(bad)).splitlines()), ())
        known = [manifest.name for manifest in self._court.manifests()]
        own = [each for each in rules.statements if each.place.rpartition(":")[0] == path]
        return shown.CheckedText(True, (), tuple(map(self._near, strange_tools(own, known))))

    def _near(self, text: str) -> str:
        """Files by their names alone: the directory stands above them."""
        return text.replace(f"{self._estate.home.policies}/", "")

    async def write(self, name: str, wish: WrittenPolicy) -> Changed:
        async with self._estate.turn:
            await asyncio.to_thread(self._write, Draft(name=name, text=wish.text), wish.version)
            return await self._estate.changed()

    def _write(self, draft: Draft, version: str) -> None:
        found = self._check(draft)
        if not found.is_good:
            raise BadInput("\n".join(found.faults))
        self._require(draft.name, version)
        law.write(self._estate.home, draft.name, draft.text)

    def _require(self, name: str, version: str) -> None:
        text = self._texts().get(self._path(name))
        if version != ("" if text is None else _version(text)):
            raise Outdated(f"{name} was changed since you read it, and nothing was written over; look at it again, then change it")

    async def remove(self, name: str, version: str) -> Changed:
        def work() -> None:
            if self._path(name) not in self._texts():
                raise NotFound(f"there is no policy file {name[:80]!r}")
            self._require(name, version)
            law.remove(self._estate.home, name)

        async with self._estate.turn:
            await asyncio.to_thread(work)
            return await self._estate.changed()

    async def suppose(self, call: Supposed) -> shown.Judged:
        return await asyncio.to_thread(self._suppose, call)

    def _suppose(self, call: Supposed) -> shown.Judged:
        try:
            rules = self._court.law.rules if call.draft is None else self._with(call.draft)
        except Misconfigured as bad:
            raise BadInput(self._near(str(bad))) from None
        ruling = self._world(rules).decide(_case(call))
        deciding = tuple(_rule(each) for id_ in ruling.policies for each in rules.statements if each.id == id_)
        return shown.Judged(ruling.verdict, deciding, ruling.fault, ruling.version)

    def _world(self, rules: Rules) -> World:
        manifests = self._court.manifests()
        return World(rules, law.agents_of(self._court.settings(), manifests), manifests, self._court.now())

    async def cases(self) -> tuple[shown.CaseRow, ...]:
        def work() -> tuple[shown.CaseRow, ...]:
            found = outcomes(self._estate.home, self._court.settings(), self._court.manifests(), self._court.now())
            return tuple(map(_case_row, found))

        return await asyncio.to_thread(work)

    async def agent(self, name: str, wish: AgentWish) -> Changed:
        if not AGENT.fullmatch(name):
            raise BadInput(f"{name[:80]!r} cannot be the name of an agent; use letters, digits, '-', '_' and '.'")
        said = {"role": wish.role, "tools": list(wish.tools), "may_hold_all": wish.may_hold_all, "description": wish.description or None}
        return await self._estate.edit(wish.version, settings_file.put_agent(name, said))


def outcomes(home: config.Home, settings: config.Settings, manifests: tuple[Manifest, ...], now: datetime) -> list[Outcome]:
    """The tests of the package against the package's policies, the owner's against all."""
    agents = law.agents_of(settings, manifests)
    found = list(World(law.rules_of({}), agents, manifests, now).run(Source(law.SHIPPED_TESTS, law.shipped_tests())))
    own = law.rules_of(law.texts_in(home))
    own.check()
    for name, text in law.tests_in(home).items():
        found += World(own, agents, manifests, now).run(Source(name, text))
    return found


def strange_tools(statements: "Iterable[Statement]", known: list[str]) -> list[str]:
    """A policy may speak of a tool that will come; one that is misspelt never counts, and a forbid then closes nothing."""
    told = []
    for each in statements:
        for name in dict.fromkeys(TOOL.findall(each.text)):
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                told.append(f"{each.place}: no tool is called {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return told


def _case(call: Supposed) -> Case:
    said = {
        "agent": call.agent, "tool": call.tool or None, "capabilities": call.capabilities, "basis": call.basis or None,
        "authors": call.authors or None, "on_behalf": call.on_behalf, "destinations": call.destinations, "is_active": call.is_active,
    }  # fmt: skip
    try:
        return Case.model_validate({key: value for key, value in said.items() if value is not None})
    except ValidationError as bad:
        first = bad.errors(include_url=False)[0]
        raise BadInput(f"{first['loc'][0]}: {first['msg']}, found {first['input']!r:.80}") from None


def _rule(each: "Statement") -> shown.RuleRow:
    file, _, line = each.place.rpartition(":")
    return shown.RuleRow(each.id, each.effect, each.says, f"{Path(file).name}:{line}", each.text, file != law.SHIPPED)


def _agent(agent: Agent, settings: config.Settings) -> shown.AgentRow:
    patterns = settings.agents.get(agent.id, config.Agent()).tools
    return shown.AgentRow(
        agent.id, agent.role, agent.description, patterns, len(agent.tools), agent.private, agent.outside, agent.acts, agent.may_hold_all,
        agent.is_held_back,
    )  # fmt: skip


def _case_row(each: Outcome) -> shown.CaseRow:
    return shown.CaseRow(each.place, each.name, each.is_met, each.expect, each.ruling.verdict, each.ruling.policies)


def _version(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
