"""Manifests for tools of which only a foreign catalogue and a foreign JSON Schema are known.

A manifest is made of what the catalogue says (effect, roles, whether the output is trusted) and of the schema, never of a name. Where the
catalogue says nothing of an argument of a tool with an effect, the argument is a destination: the role with the strictest rules.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Capability, Effect, Manifest, ResultLabel
from daimon.tools.review import MEANT_FOR
from lab.authorship import plain
from lab.harness import Tooling
from lab.naming import Naming, Plain

CAPABILITIES: dict[str, frozenset[Capability]] = {
    "read": frozenset({Capability.READS_PRIVATE}),
    "net": frozenset({Capability.READS_OUTSIDE}),
    "private": frozenset({Capability.WRITES}),
    "egress": frozenset({Capability.SENDS}),
    "money": frozenset({Capability.SPENDS, Capability.SENDS}),
    "destroy": frozenset({Capability.DELETES}),
    "account": frozenset({Capability.GRANTS}),
    "book": frozenset({Capability.SPENDS}),
}
UNKNOWN = CAPABILITIES["egress"]
ROLES: dict[str, ArgumentRole] = {
    "dest": ArgumentRole.DESTINATION,
    "target": ArgumentRole.TARGET,
    "entity": ArgumentRole.TARGET,
    "label": ArgumentRole.TITLE,
    "content": ArgumentRole.CONTENT,
    "amount": ArgumentRole.AMOUNT,
    "time": ArgumentRole.TIME,
    "secret": ArgumentRole.SECRET,
    "perm": ArgumentRole.PERMISSION,
}
WIDENS: dict[ArgumentRole, Capability] = {
    ArgumentRole.DESTINATION: Capability.SENDS,
    ArgumentRole.AMOUNT: Capability.SPENDS,
    ArgumentRole.PERMISSION: Capability.GRANTS,
}
"""What a tool is said to do besides, if an argument of it makes no sense otherwise. The rules get stricter by that, never laxer."""
MOST_BYTES = 4_000_000
"""Of a result. A cut one could not be labelled field by field."""
NO_ROLE_NEEDED = frozenset({"read", "private"})


def manifest(schema: Mapping[str, Any], tooling: Tooling, naming: Naming) -> Manifest:
    name = str(schema["name"])
    parameters: Mapping[str, Any] = schema["parameters"]
    roles = {argument: role for argument in parameters.get("properties", {}) if (role := role_of(tooling, argument)) is not None}
    return Manifest(
        name=naming.tool(name),
        description=str(schema.get("description") or name) if naming.is_plain else "Does something.",
        parameters=_strict(parameters, naming),
        effect=Effect.PURE if tooling.effect in ("read", "net") else Effect.UNSAFE,
        roles={naming.argument(argument): role for argument, role in roles.items()},
        capabilities=tuple(CAPABILITIES.get(tooling.effect, UNKNOWN) | missing(schema, tooling)),
        max_result_bytes=MOST_BYTES,
        result=ResultLabel(Author.SERVICE if tooling.trusted_output else Author.STRANGER, f"tool:{naming.tool(name)}"),
    )


def role_of(tooling: Tooling, argument: str) -> ArgumentRole | None:
    if argument in tooling.roles:
        return ROLES.get(tooling.roles[argument], ArgumentRole.DESTINATION)
    return None if tooling.effect in NO_ROLE_NEEDED else ArgumentRole.DESTINATION


def missing(schema: Mapping[str, Any], tooling: Tooling) -> frozenset[Capability]:
    """What the catalogue does not say of a tool, but its arguments do: the review would refuse an amount of a tool that spends nothing."""
    capabilities = CAPABILITIES.get(tooling.effect, UNKNOWN)
    roles = {role_of(tooling, argument) for argument in schema["parameters"].get("properties", {})}
    return frozenset(WIDENS[role] for role in roles if role in MEANT_FOR and MEANT_FOR[role].isdisjoint(capabilities))


def _strict(parameters: Mapping[str, Any], naming: Naming) -> dict[str, JsonValue]:
    known: Mapping[str, Any] = parameters.get("$defs", {})
    properties: dict[str, JsonValue] = {}
    for name, schema in parameters.get("properties", {}).items():
        node = strict(schema, known)
        node["description"] = str(schema.get("description") or name) if naming.is_plain else "Something."
        properties[naming.argument(name)] = node
    required: list[JsonValue] = [naming.argument(name) for name in parameters.get("required", [])]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


SCALARS: tuple[dict[str, JsonValue], ...] = ({"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"})


def strict(schema: Mapping[str, Any], known: Mapping[str, Any], depth: int = 0) -> dict[str, JsonValue]:
    """The same type within what `tools/shape.py` reads. What that cannot say becomes wider, never narrower."""
    if depth > 8:
        return _anything()
    match schema:
        case {"$ref": str(ref)}:
            return strict(known.get(ref.rsplit("/", 1)[-1], {}), known, depth + 1)
        case {"anyOf": [*options]} | {"oneOf": [*options]}:
            return {"anyOf": [strict(option, known, depth + 1) for option in options]}
        case {"allOf": [only]}:
            return strict(only, known, depth + 1)
        case {"type": "string", "enum": [*values]} if all(isinstance(value, str) for value in values):
            return {"type": "string", "enum": [*values]}
        case {"type": "integer"}:
            return {"type": "integer"}
        case {"type": "string" | "number" | "boolean" | "null" as kind}:
            return {"type": kind}
        case {"type": "array"}:
            return {"type": "array", "items": strict(schema.get("items", {}), known, depth + 1)}
        case _:
            return _anything()


def _anything(depth: int = 2) -> dict[str, JsonValue]:
    inner: dict[str, JsonValue] = _anything(depth - 1) if depth else {"anyOf": [*SCALARS]}
    return {"anyOf": [*SCALARS, {"type": "array", "items": inner}]}


def argument(value: Any) -> JsonValue:
    """A value as a call of Daimon's passes it. An object, whose foreign schema may admit any member, is the list of its values."""
    return _listed(plain(value, Plain()))


def _listed(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return [_listed(inner) for inner in value.values()]
    return [_listed(inner) for inner in value] if isinstance(value, list) else value
