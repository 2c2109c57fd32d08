"""A call, taken apart by the roles of its arguments."""

import re
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.fields import leaves
from daimon.abi.judgement import Held, Provenance, Seen, Shown, Situation
from daimon.abi.tool import ArgumentRole, Capability, Manifest
from daimon.policy.names import canonical
from daimon.policy.records import Record, plain, records

SHOWN_CHARACTERS = 160
_INSIDE = re.compile(r"\{\{([^{}\s]+)\}\}")

FREE_TEXT = (ArgumentRole.CONTENT, ArgumentRole.TITLE, ArgumentRole.QUERY)
FREE_UNLESS: dict[ArgumentRole, frozenset[Capability]] = {
    ArgumentRole.CONTENT: frozenset(),
    ArgumentRole.TITLE: frozenset(),
    ArgumentRole.QUERY: frozenset(),
    ArgumentRole.TIME: frozenset({Capability.SPENDS, Capability.GRANTS, Capability.DELETES}),
}
"""A plan may leave an argument of this role to the agent, unless the tool can do one of these."""


@dataclass(frozen=True, slots=True)
class Act:
    """What handles stand for has taken their places in `given`; it is never quoted."""

    manifest: Manifest
    given: dict[str, JsonValue]
    situation: Situation
    held: frozenset[str] = frozenset()
    """Arguments that hold what the model has not read."""

    def role(self, name: str) -> ArgumentRole:
        return self.manifest.roles.get(name, ArgumentRole.DESTINATION)

    def texts(self, role: ArgumentRole) -> tuple[str, ...]:
        return tuple(text for name, value in self.given.items() if self.role(name) is role for text in flat(value))

    @property
    def audience(self) -> tuple[str, ...]:
        return self.texts(ArgumentRole.DESTINATION)

    def may_be_own(self, name: str) -> bool:
        """May a plan leave this argument to the agent?"""
        forbidden = FREE_UNLESS.get(self.role(name))
        return forbidden is not None and forbidden.isdisjoint(self.manifest.capabilities)

    def told(self, name: str, shown: Shown, note: str) -> Provenance:
        if name in self.held:
            return Provenance(name, self.role(name), "(held)", shown, "words that are held" if note else "")
        text = ", ".join(flat(self.given[name]))
        value = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
        return Provenance(name, self.role(name), value, shown, note)

    def untrusted(self) -> tuple[Provenance, ...]:
        return tuple(self.told(name, "unknown", "decided after reading what others wrote") for name in self.given)

    @property
    def records(self) -> list[Record]:
        """All that was read in this turn."""
        return records(self.situation)


def taken_apart(manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Act:
    given = {name: _filled(value, situation.held) for name, value in arguments.items() if not _is_empty(value)}
    return Act(manifest, given, situation, frozenset(name for name in given if given[name] != arguments[name]))


def _filled(value: JsonValue, held: dict[str, Held]) -> JsonValue:
    """As the tool will get it: what takes a handle's place is not looked at again."""
    if isinstance(value, str):
        return (
            held[value].text if value in held else _INSIDE.sub(lambda found: held[found[1]].text if found[1] in held else found[0], value)
        )
    if isinstance(value, list):
        return [_filled(inner, held) for inner in value]
    return {name: _filled(inner, held) for name, inner in value.items()} if isinstance(value, dict) else value


def flat(value: JsonValue) -> tuple[str, ...]:
    """Every plain value in it, as text."""
    return tuple(plain(leaf.value) for leaf in leaves(value) if leaf.value is not None)


def _is_empty(value: JsonValue) -> bool:
    return value is None or value in ("", [], {})


def is_private(seen: Seen) -> bool:
    return seen.label.readers is not None


def may_read(seen: Seen, audience: tuple[str, ...]) -> bool:
    return seen.label.readers is None or {canonical(each) for each in audience} <= {canonical(str(each)) for each in seen.label.readers}
