"""Policies as the page shows and changes them: what is in force in words, the owner's files, the agents, and what would become of a call.

A text is checked before it is written: one that does not parse, or that the schema does not allow, is refused with its line and the reason,
and what was in force stays in force. A file is written against the version that was read; one that was changed meanwhile is not written
over. What comes with Daimon can be read and not changed, and the floor cannot be switched off: nothing here reaches it.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.settings_changed import Changed

_CHECKED = ConfigDict(extra="forbid")
Word = Annotated[str, Field(max_length=200)]
MOST_TEXT = 200_000
MOST_BYTES = 1 << 20
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Words = Annotated[tuple[Word, ...], Field(max_length=50)]


@dataclass(frozen=True, slots=True)
class RuleRow:
    id: str
    effect: Literal["permit", "forbid"]
    says: str
    place: str
    """File and line."""
    text: str
    is_own: bool
    """Of a file of the owner's; else it comes with Daimon."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    name: str
    text: str
    version: str


@dataclass(frozen=True, slots=True)
class AgentRow:
    id: str
    role: str
    description: str
    patterns: tuple[str, ...]
    """Names of tools, with * and ?."""
    tools: int
    """How many it holds."""
    private: bool
    """It can read what is private."""
    outside: bool
    """It can read what strangers wrote."""
    acts: bool
    """It can do what reaches beyond this machine."""
    may_hold_all: bool
    is_held_back: bool
    """All three, and nobody said that it may: then each act is asked."""


@dataclass(frozen=True, slots=True)
class ToolRow:
    name: str
    capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PoliciesView:
    version: str
    """Of all that is in force."""
    settings_version: str
    warnings: tuple[str, ...]
    rules: tuple[RuleRow, ...]
    files: tuple[PolicyFile, ...]
    directory: str
    agents: tuple[AgentRow, ...]
    tools: tuple[ToolRow, ...]
    capabilities: tuple[str, ...]
    bases: tuple[str, ...]
    never: tuple[str, ...]
    """What the owner added to the floor."""


@dataclass(frozen=True, slots=True)
class CheckedText:
    is_good: bool
    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    """Such as a tool that nobody knows."""


@dataclass(frozen=True, slots=True)
class Judged:
    verdict: Literal["allow", "ask", "deny"]
    because: tuple[RuleRow, ...]
    """The rules that decided; none: no rule permits it."""
    fault: str
    version: str


@dataclass(frozen=True, slots=True)
class CaseRow:
    place: str
    name: str
    is_met: bool
    expect: str
    found: str
    policies: tuple[str, ...]


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class WrittenPolicy:
    text: Text
    version: Word = ""
    """Of the file as it was read; empty: it is not there yet."""


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Draft:
    name: Word
    text: Text


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Against:
    version: Word


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Supposed:
    """A call that did not happen. What is left out is as it is most often."""

    agent: Word = "daimon"
    tool: Word = ""
    capabilities: Words | None = None
    basis: Word = ""
    authors: Words = ()
    on_behalf: Word = "owner"
    destinations: Words = ()
    is_active: bool = False
    draft: Draft | None = None
    """Judged as if this were written already."""


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class AgentWish:
    role: Word
    tools: Words = ("*",)
    may_hold_all: bool = False
    description: Word = ""
    version: Word
    """Of the settings."""


class Policies(Protocol):
    async def view(self) -> PoliciesView: ...

    async def check(self, draft: Draft) -> CheckedText: ...

    async def write(self, name: str, wish: WrittenPolicy) -> Changed: ...

    async def remove(self, name: str, version: str) -> Changed: ...

    async def suppose(self, call: Supposed) -> Judged: ...

    async def cases(self) -> tuple[CaseRow, ...]: ...

    async def agent(self, name: str, wish: AgentWish) -> Changed: ...


@dataclass(frozen=True, slots=True)
class PolicyRoutes:
    policies: Policies

    def all(self) -> tuple[Entry, ...]:
        path, admin, read, most = "/v1/settings/policies", Right.ADMIN, Right.READ, MOST_BYTES
        one, rows = f"{path}/files/{{name}}", tuple[CaseRow, ...]
        view, agent = "Rules in force, the owner's files, agents and their roles", "/v1/settings/agents/{name}"
        return (
            Entry("GET", path, self._view, PoliciesView, view, read),
            Entry("POST", f"{path}/check", self._check, CheckedText, "Look whether a text would do", read, body=Draft, most_bytes=most),
            Entry("POST", f"{path}/suppose", self._suppose, Judged, "Would this call be allowed?", read, body=Supposed, most_bytes=most),
            Entry("POST", f"{path}/cases", self._cases, rows, "Run the tests of policies", read),
            Entry(
                "PUT", one, self._write, Changed, "Check a file and put it in force", admin, body=WrittenPolicy, most_bytes=most,
                is_act=True,
            ),
            Entry("DELETE", one, self._remove, Changed, "Take a file away", admin, query=Against, is_act=True),
            Entry("PUT", agent, self._agent, Changed, "The role and the tools of an agent", admin, body=AgentWish, is_act=True),
        )  # fmt: skip

    async def _view(self, call: Call[None, None]) -> PoliciesView:
        return await self.policies.view()

    async def _check(self, call: Call[None, Draft]) -> CheckedText:
        return await self.policies.check(call.body)

    async def _suppose(self, call: Call[None, Supposed]) -> Judged:
        return await self.policies.suppose(call.body)

    async def _cases(self, call: Call[None, None]) -> tuple[CaseRow, ...]:
        return await self.policies.cases()

    async def _write(self, call: Call[None, WrittenPolicy]) -> Changed:
        return await self.policies.write(call.path["name"], call.body)

    async def _remove(self, call: Call[Against, None]) -> Changed:
        return await self.policies.remove(call.path["name"], call.query.version)

    async def _agent(self, call: Call[None, AgentWish]) -> Changed:
        return await self.policies.agent(call.path["name"], call.body)
