"""What a bot asks: from the query, a form, a form with files, or JSON, as the Bot API takes all four."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from pydantic import JsonValue

from daimon.testing.provider.wire import Asked


@dataclass(frozen=True, slots=True)
class Upload:
    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Arguments:
    values: Mapping[str, JsonValue]
    files: Mapping[str, Upload] = field(default_factory=dict)

    def text(self, name: str) -> str:
        value = self.values.get(name, "")
        return value if isinstance(value, str) else json.dumps(value)

    def number(self, name: str) -> int:
        try:
            return int(self.text(name) or 0)
        except ValueError:
            return 0

    def json(self, name: str) -> JsonValue:
        """In a form, what is no text is JSON in a text."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        try:
            parsed: JsonValue = json.loads(value)
        except ValueError:
            return None
        return parsed


def read(asked: Asked) -> Arguments:
    kind = asked.headers.get("content-type", "")
    values: dict[str, JsonValue] = dict(asked.query)
    if kind.startswith("application/json"):
        body = json.loads(asked.body or b"{}")
        return Arguments(values | body)
    if kind.startswith("application/x-www-form-urlencoded"):
        return Arguments(values | dict(parse_qsl(asked.body.decode())))
    if kind.startswith("multipart/form-data"):
        return _form(values, asked.body, kind.partition("boundary=")[2].strip('"').encode())
    return Arguments(values)


def _form(values: dict[str, JsonValue], body: bytes, boundary: bytes) -> Arguments:
    files: dict[str, Upload] = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, data = part.removeprefix(b"\r\n").removesuffix(b"\r\n").partition(b"\r\n\r\n")
        lines = head.decode()
        name, file_name = _quoted("name", lines), _quoted("filename", lines)
        if file_name:
            media_type = re.search(r"(?im)^content-type: *([^\r\n]+)", lines)
            files[name] = Upload(file_name, media_type[1] if media_type else "", data)
        else:
            values[name] = data.decode()
    return Arguments(values, files)


def _quoted(name: str, head: str) -> str:
    found = re.search(rf'[; ]{name}="([^"]*)"', head)
    return found[1] if found else ""
