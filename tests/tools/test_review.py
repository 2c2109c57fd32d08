"""Which manifests are believed."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import JsonValue

from daimon.abi.errors import Misconfigured
from daimon.abi.label import Author
from daimon.abi.tool import ArgumentRole, Capability, Effect, Manifest, Rate, ResultLabel
from daimon.tools.review import review

STRICT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"to": {"type": "string", "description": "Who."}, "body": {"type": "string", "description": "What."}},
    "required": ["to"],
    "additionalProperties": False,
}
GOOD = Manifest(
    name="mail",
    description="Sends a mail.",
    parameters=STRICT,
    effect=Effect.UNSAFE,
    roles={"to": ArgumentRole.DESTINATION, "body": ArgumentRole.CONTENT},
    capabilities=(Capability.SENDS,),
    result=ResultLabel(Author.SERVICE, "mail:{to}"),
)


def test_a_truthful_manifest_is_believed() -> None:
    assert set(review(GOOD).properties) == {"to", "body"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"roles": {"cc": ArgumentRole.DESTINATION}}, "a role for cc, but there is no such argument"),
        ({"roles": {}}, "it sends, but no argument has a role"),
        ({"capabilities": ()}, "to is a destination, but the tool declares none of reads_outside, sends, spends"),
        ({"roles": {"to": ArgumentRole.AMOUNT}}, "to is a amount, but the tool declares none of spends"),
        ({"roles": {"to": ArgumentRole.PERMISSION}}, "to is a permission, but the tool declares none of grants"),
        ({"description": "  "}, "no description"),
        ({"timeout_s": 0}, "timeout_s is 0, expected more than 0"),
        ({"timeout_s": float("nan")}, "timeout_s is nan, expected more than 0"),
        ({"max_result_bytes": -1}, "max_result_bytes is -1"),
        ({"rate": Rate(0, 1.0)}, "rate.calls is 0"),
        ({"result": ResultLabel(source="web:{host}")}, "names host, but there is no such argument"),
        ({"result": ResultLabel(source="web:{to")}, "the result's source"),
        ({"result": ResultLabel(fields={"items": Author.OWNER})}, "items: not a JSON pointer"),
        (
            {
                "capabilities": (
                    Capability.SENDS,
                    Capability.READS_OUTSIDE,
                ),
                "result": ResultLabel(Author.OWNER),
            },
            "it reads from outside, so its result cannot be the owner's own words",
        ),
        ({"name": "Mail"}, "a tool cannot be called 'Mail'"),
        ({"name": "m" * 65}, "a tool cannot be called"),
        ({"name": "mail\n"}, "a tool cannot be called"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason):
        review(replace(GOOD, **change))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({}, "type"),
        ({"type": "array", "items": {"type": "string"}}, "type: Input should be 'object'"),
        (STRICT | {"additionalProperties": True}, "additionalProperties: Input should be False"),
        ({key: value for key, value in STRICT.items() if key != "additionalProperties"}, "additionalProperties: Field required"),
        (STRICT | {"required": ["to", "cc"]}, "requires cc, but has no such property"),
        (STRICT | {"properties": {"to": {"type": "string"}}}, "to: no description"),
        (STRICT | {"properties": {"to": {"description": "Who."}}}, "anyOf: Field required"),
        (STRICT | {"properties": {"to": {"type": ["string", "null"], "description": "Who."}}}, "properties.to"),
        (STRICT | {"properties": {"to": {"type": "string", "format": "email", "description": "Who."}}}, "format"),
        (STRICT | {"properties": {"to": {"$ref": "#/$defs/X", "description": "Who."}}}, "properties.to"),
        (STRICT | {"properties": {"to": {"type": "object", "description": "Who."}}}, "additionalProperties: Field required"),
        (STRICT | {"properties": "none"}, "properties"),
        (STRICT | {"properties": {"to": 5}}, "properties.to"),
    ],
)
def test_a_schema_that_is_not_strict_is_refused(parameters: dict[str, JsonValue], reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason):
        review(replace(GOOD, parameters=parameters))


def test_a_schema_without_a_bottom_is_refused() -> None:
    deep: dict[str, JsonValue] = {"type": "string"}
    for _ in range(5000):
        deep = {"type": "array", "items": deep}
    with pytest.raises(Misconfigured, match="not strict"):
        review(replace(GOOD, parameters=STRICT | {"properties": {"to": deep}}))
