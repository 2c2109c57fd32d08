"""What a function's signature says about a tool's arguments.

The first parameter is `call`. Every other one is `Annotated[type, ...]` with exactly one description (a plain string), at most one
`ArgumentRole`, and any limits that pydantic knows. A parameter that says less, or that could swallow anything (`*args`, `**kwargs`),
raises Misconfigured. A `datetime` always comes with its offset; `fit.py` sees to that.
"""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model
from pydantic.errors import PydanticUserError

from daimon.abi.errors import Misconfigured
from daimon.abi.tool import ArgumentRole

_CONFIG = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
_PREFIX = "arg_"
"""Of the model's fields, so that an argument may be called `copy` or `schema` without hiding a method of the model."""


@dataclass(frozen=True, slots=True)
class Signature:
    names: tuple[str, ...]
    roles: dict[str, ArgumentRole]
    schema: dict[str, JsonValue]
    model: type[BaseModel]

    def values(self, arguments: JsonValue) -> dict[str, Any]:
        """The arguments as Python values, defaults filled in. Raises ValueError (pydantic's is one), TypeError or RecursionError."""
        model = self.model.model_validate_json(json.dumps(arguments))
        return {name: getattr(model, _PREFIX + name) for name in self.names}


def read(function: Callable[..., Any]) -> Signature:
    arguments = [_argument(parameter) for parameter in _parameters(function)]
    fields: dict[str, Any] = {_PREFIX + a.name: a.field for a in arguments}
    try:
        model = create_model(function.__name__, __config__=_CONFIG, **fields)
        schema = model.model_json_schema()
    except PydanticUserError as broken:
        raise Misconfigured(f"its arguments have no JSON Schema: {broken.message}") from broken
    roles = {a.name: a.role for a in arguments if a.role is not None}
    return Signature(tuple(a.name for a in arguments), roles, _untitled(schema), model)


@dataclass(frozen=True, slots=True)
class _Argument:
    name: str
    annotation: Any
    description: str
    role: ArgumentRole | None
    default: Any

    @property
    def field(self) -> tuple[Any, Any]:
        return self.annotation, Field(self.default, alias=self.name, description=self.description)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        first, *rest = inspect.signature(function, eval_str=True).parameters.values()
    except NameError as broken:
        raise Misconfigured(f"an annotation cannot be resolved: {broken}") from broken
    except ValueError:
        raise Misconfigured("its first argument must be `call`, it has none") from None
    if first.name != "call":
        raise Misconfigured(f"its first argument must be `call`, not {first.name}")
    return rest


def _argument(parameter: inspect.Parameter) -> _Argument:
    if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise Misconfigured(f"{parameter} takes anything; name each argument")
    if get_origin(parameter.annotation) is not Annotated:
        raise Misconfigured(f'{parameter.name} must be Annotated[type, "what it is for"]')
    kind, *notes = get_args(parameter.annotation)
    roles = [note for note in notes if isinstance(note, ArgumentRole)]
    # A role is a string too (StrEnum), hence the exact type.
    descriptions = [note for note in notes if type(note) is str]
    if len(descriptions) != 1 or len(roles) > 1:
        raise Misconfigured(f"{parameter.name} needs one description and at most one role, it has {len(descriptions)} and {len(roles)}")
    limits = [note for note in notes if not isinstance(note, str)]
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    return _Argument(parameter.name, Annotated[kind, *limits] if limits else kind, descriptions[0], roles[0] if roles else None, default)


def _untitled(schema: dict[str, Any]) -> dict[str, JsonValue]:
    """Without pydantic's titles, which repeat the names and cost tokens in every prompt."""
    properties = {name: _without_title(node) for name, node in schema.get("properties", {}).items()}
    return _without_title(schema) | {"properties": properties}


def _without_title(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "title"}
