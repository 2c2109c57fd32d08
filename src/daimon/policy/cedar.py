"""The engine: Cedar, behind types of our own. Only this module names it, and whoever needs it imports this module then, not before.

A policy has the id of its `@id`, or else its file and line; the engine is given these ids, so its answers speak of them. What the engine
cannot decide, because a request or a policy fails in it, is not permitted.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import cedarpy
from pydantic import JsonValue

from daimon.abi.errors import Misconfigured
from daimon.policy.source import Piece, Source, pieces, tangled

Action = Literal["act", "ask"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One policy."""

    id: str
    effect: Literal["permit", "forbid"]
    says: str
    """What it means, in its own words (`@says`)."""
    place: str
    """File and line."""
    text: str
    tree: JsonValue
    """As the engine reads it."""


@dataclass(frozen=True, slots=True)
class Answer:
    is_permitted: bool
    policies: tuple[str, ...]
    """Ids of those that decided: permits if it is permitted; if not, forbids, or none."""
    fault: str = ""
    """What failed in the engine, so that it is not permitted."""


def read(source: Source) -> tuple[Statement, ...]:
    """Raises Misconfigured with the place and the reason of the first fault."""
    return tuple(_statement(source, piece) for piece in pieces(source.text))


def check(statements: Iterable[Statement], schema: str) -> None:
    """Raises Misconfigured with every policy that the schema does not allow, and every id that stands twice."""
    known, faults, seen = cedarpy.Schema.from_str(schema), [], dict[str, str]()
    for statement in statements:
        found = cedarpy.validate_policies(statement.text, known).errors
        faults += [f"{statement.place}: {fault.error.removeprefix('for policy `policy0`, ')}" for fault in found]
        if (first := seen.setdefault(statement.id, statement.place)) != statement.place:
            faults.append(f"{statement.place}: the id {statement.id!r} is taken by {first}; choose another")
    if faults:
        raise Misconfigured("\n".join(faults))


class Engine:
    """A set of policies, ready to decide."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        trees = json.dumps({"staticPolicies": {each.id: each.tree for each in statements}, "templates": {}, "templateLinks": []})
        self._policies = cedarpy.PolicySet.from_json_str(trees)
        self.is_timeless = '"now"' not in trees
        """No policy looks at the time."""

    def answer(self, action: Action, principal: str, resource: str, context: str, entities: cedarpy.Entities) -> Answer:
        request = {
            "principal": {"type": "Agent", "id": principal},
            "action": {"type": "Action", "id": action},
            "resource": {"type": "Tool", "id": resource},
            "context": context,
        }
        try:
            found = cedarpy.is_authorized(request, self._policies, entities)
        except ValueError as bad:
            return Answer(False, (), str(bad))
        if faults := found.diagnostics.errors:
            return Answer(False, (), "; ".join(faults))
        return Answer(found.allowed, tuple(sorted(found.diagnostics.reasons)))


def entities(values: Sequence[JsonValue]) -> cedarpy.Entities:
    return cedarpy.Entities.from_json_str(json.dumps(values))


def _statement(source: Source, piece: Piece) -> Statement:
    place = f"{source.name}:{piece.line}"
    if why := tangled(piece.text):
        raise Misconfigured(f"{place}: this policy cannot be read: {why}")
    try:
        found = json.loads(cedarpy.policies_to_json_str(piece.text))
    except (ValueError, RecursionError) as bad:
        raise Misconfigured(f"{place}: this policy cannot be read: {bad}") from None
    trees = list(found["staticPolicies"].values())
    if found["templates"] or len(trees) != 1:
        raise Misconfigured(f"{place}: templates (?principal, ?resource) are not used here; name the agent or the tool")
    tree = trees[0]
    annotations = tree.get("annotations", {})
    return Statement(annotations.get("id") or place, tree["effect"], annotations.get("says") or "", place, piece.text, tree)
