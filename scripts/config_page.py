#!/usr/bin/env python3
"""Writes the table of settings in docs/config.md: names, values and defaults come from the code, the sentences from the page.

    scripts/config_page.py           bring the page up to date
    scripts/config_page.py --check   only say whether it is; exit code 1 if it is not

A setting without a sentence is an error: write one into the page and run this again.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from daimon.config import Settings

PAGE = Path(__file__).parents[1] / "docs" / "config.md"
BEGIN, END = "<!-- settings -->\n", "<!-- end of settings -->"
HEAD = "| setting | values | default | what it does |\n|---|---|---|---|\n"
KINDS = {"array": "list of names", "object": "tables by name", "string": "text"}
MANY = {dict: ".NAME", tuple: "[]"}
LIMITS = {"minimum": "from {}", "exclusiveMinimum": "more than {}", "maximum": "up to {}"}


def main(words: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    table, _, after = rest.partition(END)
    told = dict(re.findall(r"^\| `([\w.\[\]]+)` \|.*\| ([^|]+) \|$", table, re.MULTILINE))
    rows = list(_rows(Settings, "", Settings()))
    if silent := [name for name, _, _ in rows if name not in told]:
        sys.stderr.write(f"{PAGE}: no sentence on {', '.join(silent)}\n")
        return 1
    lines = "".join(f"| `{name}` | {values} | `{default}` | {told[name]} |\n" for name, values, default in rows)
    fresh = f"{before}{BEGIN}{HEAD}{lines}{END}{after}"
    if words == ["--check"]:
        return int(fresh != page)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


def _rows(branch: type[BaseModel], prefix: str, defaults: BaseModel | None) -> Iterator[tuple[str, str, str]]:
    """Name, values and default of each setting. Without defaults: of one of many entries, such as `models.NAME`."""
    shapes = branch.model_json_schema()["properties"]
    for name, field in branch.model_fields.items():
        value = field.get_default() if defaults is None else getattr(defaults, name)
        if isinstance(value, BaseModel):
            yield from _rows(type(value), f"{prefix}{name}.", value)
            continue
        yield prefix + name, _values(shapes[name]), "required" if field.is_required() else _toml(value)
        for inner in _tables(field.annotation):
            yield from _rows(inner, f"{prefix}{name}{MANY.get(get_origin(field.annotation), '')}.", None)


def _tables(annotation: Any) -> Iterator[type[BaseModel]]:
    """The branches inside of a dict, a tuple or a union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _tables(inner)


def _values(shape: dict[str, Any]) -> str:
    if options := shape.get("anyOf", shape.get("oneOf")):
        told = [_values(option) for option in options if option.get("type") != "null"]
        # A Decimal may be written as a number or as text; both say the same here.
        return told[0] if told[0].startswith("number") else " or ".join(told)
    if "$ref" in shape:
        return "table"
    if "enum" in shape:
        return " or ".join(f"`{each}`" for each in shape["enum"])
    if "$ref" in shape.get("items", {}):
        return "list of tables"
    limits = [words.format(f"{shape[key]:,}") for key, words in LIMITS.items() if key in shape]
    return ", ".join([KINDS.get(shape["type"], shape["type"]), *limits])


def _toml(value: object) -> str:
    if value is None:
        return "left out"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
