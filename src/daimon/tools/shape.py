"""The part of JSON Schema that tool arguments may use.

A schema is read once into nodes. What cannot be read is not strict and is refused with the reason: an object that admits unknown
properties, a property without a type, a keyword that we would not check (`pattern`, `$ref`, a list of types, a format other than
date-time). So whatever was read is checked in full, and a manifest promises nothing that nobody keeps. How a value is compared with
a node is in `fit.py`.
"""

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, ValidationError

from daimon.abi.errors import Misconfigured


class _Node(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: str = ""
    description: str = ""
    default: JsonValue = None
    examples: tuple[JsonValue, ...] = ()


class Text(_Node):
    type: Literal["string"]
    enum: tuple[str, ...] | None = None
    const: str | None = None
    min_length: int = Field(0, alias="minLength")
    max_length: int | None = Field(None, alias="maxLength")
    format: Literal["date-time"] | None = None


class Number(_Node):
    type: Literal["integer", "number"]
    enum: tuple[int, ...] | None = None
    const: int | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None


class Flag(_Node):
    type: Literal["boolean"]


class Null(_Node):
    type: Literal["null"]


class Array(_Node):
    type: Literal["array"]
    items: "Node"
    min_items: int = Field(0, alias="minItems")
    max_items: int | None = Field(None, alias="maxItems")


class Object(_Node):
    type: Literal["object"]
    additional_properties: Literal[False] = Field(alias="additionalProperties")
    properties: "dict[str, Node]" = Field(default_factory=dict)
    required: tuple[str, ...] = ()


class AnyOf(_Node):
    any_of: "tuple[Node, ...]" = Field(alias="anyOf", min_length=1)


def _kind(schema: object) -> str:
    return str(schema.get("type", "anyOf")) if isinstance(schema, dict) else "anyOf"


Node = Annotated[
    Annotated[Text, Tag("string")]
    | Annotated[Number, Tag("integer")]
    | Annotated[Number, Tag("number")]
    | Annotated[Flag, Tag("boolean")]
    | Annotated[Null, Tag("null")]
    | Annotated[Array, Tag("array")]
    | Annotated[Object, Tag("object")]
    | Annotated[AnyOf, Tag("anyOf")],
    Discriminator(_kind),
]

Object.model_rebuild()
Array.model_rebuild()
AnyOf.model_rebuild()


def read(schema: dict[str, JsonValue]) -> Object:
    """The schema of a tool's arguments, as nodes. Raises Misconfigured if it is not strict."""
    try:
        shape = Object.model_validate_json(json.dumps(schema))
    except (TypeError, ValueError, RecursionError) as broken:
        raise Misconfigured(f"the schema of its arguments is not strict: {_reason(broken)}") from broken
    if strangers := [name for name in shape.required if name not in shape.properties]:
        raise Misconfigured(f"the schema requires {', '.join(strangers)}, but has no such property")
    if silent := [name for name, node in shape.properties.items() if not node.description.strip()]:
        raise Misconfigured(f"{', '.join(silent)}: no description; a model needs a sentence on every argument")
    return shape


def _reason(broken: Exception) -> str:
    if not isinstance(broken, ValidationError):
        return str(broken)
    fault = broken.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in fault['loc']) or 'schema'}: {fault['msg']}"
