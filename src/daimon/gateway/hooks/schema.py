"""The form of a body, by JSON Schema (2020-12), bounded: the schema is the owner's, the body is whoever's.

Nothing is fetched: `$ref` must point into the schema itself. Patterns are matched by an engine that takes linear time (Rust's, through
pydantic), and no keyword may be looked at more than a certain number of times for one body; what would take longer counts as not fitting.
Keywords whose work cannot be counted are refused when the schema is made. The library is loaded when the first hook needs it.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pydantic import JsonValue
from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from daimon.abi.errors import BadInput
from daimon.abi.plain import fault

MOST_BYTES = 64 * 1024
MOST_STEPS = 50_000
_UNCOUNTED = frozenset({"patternProperties", "unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$dynamicAnchor", "$id"})
Check = Callable[[JsonValue], str]
"""Why a body does not fit; empty if it does."""


class _Exhausted(Exception):
    """The body takes more work than it may."""


def compiled(schema: dict[str, JsonValue]) -> Check:
    """Raises BadInput for a schema that is none, or that is not taken."""
    _require_taken(schema)
    from jsonschema import Draft202012Validator, validators  # type: ignore[import-untyped]
    from jsonschema import SchemaError as NoSchema
    from referencing import Registry

    try:
        Draft202012Validator.check_schema(schema)
    except NoSchema as bad:
        raise BadInput(f"the schema is none: {bad.message[:200]}") from None
    steps = [0]
    rules = {**Draft202012Validator.VALIDATORS, "pattern": _pattern, "uniqueItems": _unique}
    kind = validators.extend(Draft202012Validator, {name: partial(_counted, steps, rule) for name, rule in rules.items()})
    validator = kind(schema, registry=Registry())  # an own registry: the usual one fetches

    def check(data: JsonValue) -> str:
        steps[0] = MOST_STEPS
        try:
            wrong = next(validator.iter_errors(data), None)
        except (_Exhausted, RecursionError):
            return "it takes too much work to compare it with the schema"
        except Exception as failure:  # noqa: BLE001 - the library, on a reference that leads nowhere
            return f"the schema cannot be used: {type(failure).__name__}"
        return "" if wrong is None else f"{_place(wrong.absolute_path)}: {wrong.message[:200]}"

    return check


def _require_taken(schema: dict[str, JsonValue]) -> None:
    if wrong := fault(schema):
        raise BadInput(f"the schema cannot be kept: {wrong}")
    if len(json.dumps(schema)) > MOST_BYTES:
        raise BadInput(f"the schema has more than {MOST_BYTES} bytes")
    todo: list[JsonValue] = [schema]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            if bad := _UNCOUNTED & item.keys():
                raise BadInput(f"the schema uses {min(bad)!r}, which is not taken here")
            if isinstance(at := item.get("$ref"), str) and not at.startswith("#"):
                raise BadInput(f"the schema refers to {at[:80]!r}; nothing is fetched, refer to its own parts (#/$defs/…)")
            if isinstance(pattern := item.get("pattern"), str):
                _matcher(pattern)
            todo += item.values()
        elif isinstance(item, list):
            todo += item


def _counted(steps: list[int], rule: Any, validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    steps[0] -= 1
    if steps[0] < 0:
        raise _Exhausted
    yield from rule(validator, value, instance, schema) or ()


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError as Wrong

    if isinstance(instance, str):
        try:
            _matcher(pattern).validate_python(instance)
        except ValidationError:
            yield Wrong(f"{instance[:40]!r} does not match {pattern[:80]!r}")


def _unique(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError as Wrong

    if wanted and isinstance(instance, list) and len({json.dumps(item, sort_keys=True) for item in instance}) < len(instance):
        yield Wrong("the items are not all different")


def _matcher(pattern: str) -> SchemaValidator:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError:
        raise BadInput(f"the pattern {pattern[:80]!r} is not taken: no look-around, no references back") from None


def _place(path: Any) -> str:
    return "/" + "/".join(str(part)[:40] for part in path)
