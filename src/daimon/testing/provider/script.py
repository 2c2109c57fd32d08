"""What the server answers, line by line, in Python or as a JSON file.

A file is a list of objects with the fields of `Line`; those of `Fault` stand beside them, with its name as `fault`:

    [
      {"text": "Let me look.", "calls": [{"tool": "search", "arguments": {"query": "tea"}}]},
      {"fault": "429", "retry_after": 2},
      {"text": "Found it.", "reasoning": "Short is best."}
    ]
"""

import difflib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from daimon.abi.errors import Misconfigured
from daimon.testing.provider.faults import known
from daimon.testing.provider.line import AFTER, CHUNK, DELAY_S, Call, Fault, Finish, Line, Usage
from daimon.testing.provider.seen import Seen

Script = Iterable[Line] | Callable[[Seen], Line]
"""Lines are taken in order of arrival; a function is asked for each request. Only requests that a provider would answer count."""


def load(path: Path) -> list[Line]:
    try:
        rows = json.loads(path.read_bytes())
    except OSError as error:
        raise Misconfigured(f"the script {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Misconfigured(f"the script {path} is not JSON: {error}") from error
    if not isinstance(rows, list):
        raise Misconfigured(f"the script {path}: found {type(rows).__name__}, expected a list of lines")
    return [_line(path, index, row) for index, row in enumerate(rows)]


def _line(path: Path, index: int, row: JsonValue) -> Line:
    try:
        return _Row.model_validate(row).line()
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(step) for step in first["loc"])
        raise Misconfigured(f"the script {path}, line {index}{f', {key}' if key else ''}: {_complaint(key, first)}") from error


def _complaint(key: str, error: Any) -> str:
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, _Row.model_fields, n=1)
        return f"no such field; did you mean {near[0]}?" if near else f"no such field, expected one of {', '.join(_Row.model_fields)}"
    return f"found {error['input']!r}, expected: {error['msg']}"


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Call(_Wire):
    tool: str
    arguments: dict[str, JsonValue] | str = {}
    id: str = ""


class _Usage(_Wire):
    input_tokens: Annotated[int, Field(ge=0)]
    output_tokens: Annotated[int, Field(ge=0)]
    cached_tokens: Annotated[int, Field(ge=0)] = 0
    written_tokens: Annotated[int, Field(ge=0)] = 0
    reasoning_tokens: Annotated[int, Field(ge=0)] = 0


class _Row(_Wire):
    text: str = ""
    calls: list[_Call] = []
    reasoning: str = ""
    finish: Finish | None = None
    model: str = ""
    usage: _Usage | None = None
    chunk: Annotated[int, Field(ge=1)] = CHUNK
    pause_s: Annotated[float, Field(ge=0)] = 0
    fault: Annotated[str, AfterValidator(known)] | None = None
    after: Annotated[int, Field(ge=0)] = AFTER
    delay_s: Annotated[float, Field(ge=0)] = DELAY_S
    retry_after: int | float | str | None = None
    retry_after_ms: int | None = None

    def line(self) -> Line:
        return Line(
            text=self.text,
            calls=tuple(Call(call.tool, call.arguments, call.id) for call in self.calls),
            reasoning=self.reasoning,
            finish=self.finish,
            model=self.model,
            usage=Usage(**self.usage.model_dump()) if self.usage else None,
            chunk=self.chunk,
            pause_s=self.pause_s,
            fault=Fault(self.fault, self.after, self.delay_s, self.retry_after, self.retry_after_ms) if self.fault else None,
        )
