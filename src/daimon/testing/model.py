"""A model that says what a script tells it to, and remembers what it was asked."""

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace

from pydantic import JsonValue

from daimon.abi.message import Part, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request
from daimon.abi.step import Usage

Line = Reply | BaseException | Callable[[Request], "Reply | BaseException"]


class ScriptedModel:
    """Each call takes the next line: a reply, an error to raise, or a function of the request. After the last line it says `done`."""

    name = "scripted"

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self._lines = list(lines)
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        self.requests.append(request)
        line: Line = self._lines.pop(0) if self._lines else says("done")
        if callable(line) and not isinstance(line, BaseException | Reply):
            line = line(request)
        if isinstance(line, BaseException):
            raise line
        assert isinstance(line, Reply)
        for part in line.parts:
            if isinstance(part, Text):
                yield Delta(part.text)
        yield line


def says(text: str, tokens: int = 0) -> Reply:
    parts: tuple[Part, ...] = (Text(text),) if text else ()
    return Reply(parts, ScriptedModel.name, usage=Usage(output_tokens=tokens))


def calls(*wanted: tuple[str, dict[str, JsonValue]], tokens: int = 0) -> Reply:
    """A reply that asks for these tools, all at once."""
    parts = tuple(ToolCall(f"call-{i}-{tool}", tool, arguments) for i, (tool, arguments) in enumerate(wanted))
    return replace(says("", tokens), parts=parts, finish="tools")
