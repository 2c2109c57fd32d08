"""A tool as its server tells of it, and the hash of that: what the owner agrees to is exactly this.

What a server has besides tools, resources and prompts, is agreed to in the same way, under names that no tool can have. Those words are
ours, since what they are in particular is not known before somebody looks, and may be another thing each time.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from daimon.mcp.words import kept

if TYPE_CHECKING:
    import mcp_types as types

_SHOWN = 6_000
"""Of each part: a long one does not hide the next."""
_FITS = 100
"""Characters of JSON on one line."""


@dataclass(frozen=True, slots=True)
class Listed:
    name: str
    description: str = ""
    title: str = ""
    parameters: dict[str, JsonValue] = field(default_factory=dict)
    output: dict[str, JsonValue] | None = None
    annotations: dict[str, JsonValue] = field(default_factory=dict)
    is_long: bool = False
    """It may be called as a task, which goes on by itself."""
    hash: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        said: list[JsonValue] = [self.name, self.description, self.title, self.parameters, self.output, self.annotations]
        said += ["long"] if self.is_long else []
        whole = json.dumps(said, sort_keys=True, ensure_ascii=True).encode()
        object.__setattr__(self, "hash", hashlib.sha256(whole).hexdigest())

    @property
    def arguments(self) -> frozenset[str]:
        """Their names."""
        properties = self.parameters.get("properties")
        return frozenset(properties) if isinstance(properties, dict) else frozenset()

    @property
    def text(self) -> str:
        """For a person, line by line, as differences are shown. Cleaned."""
        parts = [self.title, self.description, *(_pretty(name, getattr(self, name)) for name in ("annotations", "parameters", "output"))]
        return "\n".join(kept(part, _SHOWN) for part in parts if part)


BESIDES: dict[str, Listed] = {
    "resources": Listed(
        "its resources",
        "What it lets be read. What there is, and what that says, is told whenever the model looks for it, as a stranger's words; it is "
        "not shown here, and may be another thing each time.",
    ),
    "prompts": Listed(
        "its prompts",
        "Texts to work by. What there is, and what that says, is told whenever the model looks for it, as a stranger's words; it is "
        "not shown here, and may be another thing each time.",
    ),
}
"""By the ability that a server claims. A name with a space in it is no tool's (`server.py`)."""


def listed(tool: "types.Tool") -> Listed:
    annotations = tool.annotations.model_dump(by_alias=True, mode="json", exclude_none=True) if tool.annotations else {}
    is_long = tool.execution is not None and tool.execution.task_support in ("optional", "required")
    return Listed(tool.name, tool.description or "", tool.title or "", tool.input_schema, tool.output_schema, annotations, is_long)


def _pretty(name: str, value: JsonValue) -> str:
    return f"{name}: " + "\n".join(_lines(value)) if value else ""


def _lines(value: JsonValue) -> list[str]:
    """JSON as a person reads it: what is short stays on one line, what is long gets a line for each of its parts."""
    if not isinstance(value, (dict, list)) or not value:
        return [json.dumps(value, ensure_ascii=False)]
    if isinstance(value, dict):
        opens, closes, parts = "{", "}", [_named(name, value[name]) for name in sorted(value)]
    else:
        opens, closes, parts = "[", "]", [_lines(part) for part in value]
    if all(len(part) == 1 for part in parts) and sum(len(part[0]) + 2 for part in parts) <= _FITS:
        return [f"{opens}{', '.join(part[0] for part in parts)}{closes}"]
    commas = [[*part[:-1], f"{part[-1]},"] for part in parts[:-1]] + parts[-1:]
    return [opens, *(f" {line}" for part in commas for line in part), closes]


def _named(name: str, value: JsonValue) -> list[str]:
    first, *rest = _lines(value)
    return [f"{json.dumps(name, ensure_ascii=False)}: {first}", *rest]
