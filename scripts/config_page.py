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
from typing import Any

from pydantic import BaseModel

from daimon.config import Settings

PAGE = Path(__file__).parents[1] / "docs" / "config.md"
BEGIN, END = "<!-- settings -->\n", "<!-- end of settings -->"
HEAD = "| setting | values | default | what it does |\n|---|---|---|---|\n"
LIMITS = {"minimum": "from {}", "exclusiveMinimum": "more than {}", "maximum": "up to {}"}


def main(words: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    table, _, after = rest.partition(END)
    told = dict(re.findall(r"^\| `([\w.]+)` \|.*\| ([^|]+) \|$", table, re.MULTILINE))
    rows = list(_rows(Settings, ""))
    if silent := [name for name, _, _ in rows if name not in told]:
        sys.stderr.write(f"{PAGE}: no sentence on {', '.join(silent)}\n")
        return 1
    lines = "".join(f"| `{name}` | {values} | `{default}` | {told[name]} |\n" for name, values, default in rows)
    fresh = f"{before}{BEGIN}{HEAD}{lines}{END}{after}"
    if words == ["--check"]:
        return int(fresh != page)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


def _rows(branch: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    shapes = branch.model_json_schema()["properties"]
    for name, field in branch.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _rows(field.annotation, f"{name}.")
        else:
            yield prefix + name, _values(shapes[name]), _toml(field.default)


def _values(shape: dict[str, Any]) -> str:
    if options := shape.get("anyOf"):
        # A Decimal may be written as a number or as text; both say the same here.
        return next(_values(option) for option in options if option["type"] != "null")
    if "enum" in shape:
        return " or ".join(f"`{each}`" for each in shape["enum"])
    limits = [words.format(f"{shape[key]:,}") for key, words in LIMITS.items() if key in shape]
    return ", ".join([{"array": "list of names", "string": "text"}.get(shape["type"], shape["type"]), *limits])


def _toml(value: object) -> str:
    if value is None:
        return "left out"
    if isinstance(value, str):
        return f'"{value}"'
    return "[]" if value == () else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
