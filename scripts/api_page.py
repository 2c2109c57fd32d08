#!/usr/bin/env python3
"""Writes the table of requests in docs/gateway.md from the OpenAPI document of a gateway, which is made from the entries of the API.

    scripts/api_page.py           bring the page up to date
    scripts/api_page.py --check   only say whether it is; exit code 1 if it is not

The sentences are the summaries of the entries: write a better one there.
"""

import asyncio
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from daimon.boot import running
from daimon.config import Home, Settings
from daimon.gateway.client import Client

PAGE = Path(__file__).parents[1] / "docs" / "gateway.md"
BEGIN, END = "<!-- requests -->\n", "<!-- end of requests -->"
HEAD = "| request | right | what it does | it takes |\n|---|---|---|---|\n"
Document = dict[str, Any]


def main(words: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    fresh = f"{before}{BEGIN}{HEAD}{''.join(_rows(asyncio.run(_document())))}{END}{after}"
    if words == ["--check"]:
        return int(fresh != page)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


async def _document() -> Document:
    """As a real gateway hands it out."""
    with tempfile.TemporaryDirectory(prefix="daimon-") as place:
        home = Home(Path(place) / "home")
        async with running(home, Settings(), port=0):
            return await asyncio.to_thread(Client(home.socket).ask, dict, "GET", "/v1/openapi.json")


def _rows(document: Document) -> Iterator[str]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            place = re.sub(r"{(\w+)}", lambda found: found[1].upper(), path)
            takes = ", ".join((*_asked(operation, document), *_sent(operation, document)))
            does = f"{_status(operation)}{operation['summary']}"
            yield f"| `{method.upper()} {place}` | {operation.get('x-right', '')} | {does} | {takes} |\n"


def _status(operation: Document) -> str:
    found = min(operation["responses"])
    return "" if found == "200" else f"{found}: "


def _asked(operation: Document, document: Document) -> Iterator[str]:
    for each in operation["parameters"]:
        if each["in"] != "path":
            yield _field(
                f"?{each['name']}" if each["in"] == "query" else each["name"], _resolved(each["schema"], document), each["required"]
            )


def _sent(operation: Document, document: Document) -> Iterator[str]:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/octet-stream" in content:
        yield "bytes"
    shape = content.get("application/json", {}).get("schema", {})
    if "oneOf" in shape:
        yield "an [event](#the-event-json)"
    shape = _resolved(shape, document)
    for name, field in shape.get("properties", {}).items():
        yield _field(name, _resolved(field, document), name in shape.get("required", ()))


def _resolved(shape: Document, document: Document) -> Document:
    """With what it refers to; of a list, what it holds."""
    shape = {**shape.get("items", {}), **shape}
    return {**document["components"]["schemas"].get(shape.get("$ref", "").rpartition("/")[2], {}), **shape}


def _field(name: str, shape: Document, is_needed: bool) -> str:
    default, choices = shape.get("default"), ", ".join(shape.get("enum", ()))
    told = "; ".join(filter(None, ("needed" if is_needed else str(default).lower() if default else "", choices and f"of {choices}")))
    return f"`{name}`{f' ({told})' if told else ''}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
